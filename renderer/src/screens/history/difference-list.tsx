import { useState } from 'react';
import { Badge } from '../../parts/state.tsx';
import { ChangeDialog } from './change-dialog.tsx';
import type { Difference, ResourceDifference } from './history-answers.ts';
import type { Since } from './use-commits.ts';

/** In which direction a difference is told: what came since a moment, or what going back to it would do. */
export type Direction = 'since' | 'back' | 'to-come';

const WORDS: Record<Direction, Record<ResourceDifference['action'], string>> = {
  since: { create: 'added', update: 'changed', delete: 'removed' },
  back: { create: 'goes', update: 'changes back', delete: 'comes back' },
  'to-come': { create: 'is added', update: 'changes', delete: 'goes' },
};
const TONES: Record<string, 'ok' | 'running' | 'error'> = {
  added: 'ok',
  'is added': 'ok',
  'comes back': 'ok',
  changed: 'running',
  changes: 'running',
  'changes back': 'running',
  removed: 'error',
  goes: 'error',
};

/** Totals in words: `3 added, 1 changed`. */
export function totalText({ total }: Pick<Difference, 'total'>, direction: Direction): string {
  const parts = (['create', 'update', 'delete'] as const).flatMap((action) =>
    total[action] > 0 ? `${total[action].toLocaleString('en')} ${plural(WORDS[direction][action], total[action])}` : [],
  );
  return parts.join(', ') || 'no difference';
}

function plural(words: string, count: number): string {
  if (count === 1) return words;
  return words
    .replace(/^goes/, 'go')
    .replace(/^comes/, 'come')
    .replace(/^changes/, 'change')
    .replace(/^is /, 'are ');
}

export interface DifferenceListProps {
  difference: Difference;
  direction: Direction;
  /** What it is a difference to: given, each resource opens its patch. */
  since?: Since | undefined;
}

/** Resources that differ, with what happened to each. */
export function DifferenceList({ difference, direction, since }: DifferenceListProps) {
  const [open, setOpen] = useState<ResourceDifference | undefined>(undefined);
  const { resources, total } = difference;
  const unnamed = total.create + total.update + total.delete - resources.length;
  return (
    <>
      <ul aria-label="Resources that differ">
        {resources.map((one) => {
          const word = WORDS[direction][one.action];
          const path = <span className="min-w-0 truncate">{one.path}</span>;
          return (
            <li key={one.id} className="flex min-h-8 items-center gap-2 border-b border-line/55 px-4">
              <span className="w-24 shrink-0">
                <Badge tone={TONES[word] ?? 'plain'}>{word}</Badge>
              </span>
              {since ? (
                <button
                  type="button"
                  className="flex min-h-6 min-w-0 items-center text-left text-accent underline decoration-accent/35 underline-offset-2"
                  onClick={() => setOpen(one)}
                >
                  {path}
                </button>
              ) : (
                path
              )}
              <span className="ml-auto shrink-0 truncate text-[12px] text-muted">{one.type}</span>
            </li>
          );
        })}
      </ul>
      {unnamed > 0 && <p className="px-4 py-2 text-muted">and {unnamed.toLocaleString('en')} more</p>}
      {open && since && <ChangeDialog change={open} since={since} onClose={() => setOpen(undefined)} />}
    </>
  );
}
