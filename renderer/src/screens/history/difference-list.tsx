import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { load, loadAs } from '../../api/client.ts';
import { keys } from '../../api/query-client.ts';
import { Dialog } from '../../components/dialog.tsx';
import { Pending } from '../../components/pending.tsx';
import { Badge } from '../../components/state.tsx';
import { PlaceLink } from '../../shell/place-link.tsx';
import type { Difference, ResourceDifference } from './history-answers.ts';
import { PatchList } from './patch-list.tsx';
import { RecordDifference } from './record-difference.tsx';
import { differenceAddress, type Since } from './use-commits.ts';

/** Direction of a difference: changes since a commit, or changes that a restore would make. */
export type Direction = 'since' | 'back' | 'to-come';

const ACTION_LABELS: Record<Direction, Record<ResourceDifference['action'], string>> = {
  since: { create: 'added', update: 'changed', delete: 'removed' },
  back: { create: 'deleted', update: 'reverted', delete: 'restored' },
  'to-come': { create: 'added', update: 'changed', delete: 'deleted' },
};
const TONES: Record<string, 'ok' | 'running' | 'error'> = {
  added: 'ok',
  restored: 'ok',
  changed: 'running',
  reverted: 'running',
  removed: 'error',
  deleted: 'error',
};

/** Totals in words: `3 added, 1 changed`. */
export function totalText({ total }: Pick<Difference, 'total'>, direction: Direction): string {
  const parts = (['create', 'update', 'delete'] as const).flatMap((action) =>
    total[action] > 0
      ? `${total[action].toLocaleString('en')} ${direction === 'back' ? 'will be ' : ''}${ACTION_LABELS[direction][action]}`
      : [],
  );
  return parts.join(', ') || 'no difference';
}

export interface DifferenceListProps {
  difference: Difference;
  direction: Direction;
  /** The moment to compare with; if set, each resource opens its patch. */
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
        {resources.map((resource) => {
          const label = ACTION_LABELS[direction][resource.action];
          const path = <span className="min-w-0 truncate">{resource.path}</span>;
          return (
            <li key={resource.id} className="flex min-h-8 items-center gap-2 border-b border-line/55 px-4">
              <span className="w-24 shrink-0">
                <Badge tone={TONES[label] ?? 'plain'}>{label}</Badge>
              </span>
              {since ? (
                <button
                  type="button"
                  className="flex min-h-6 min-w-0 items-center text-left text-accent underline decoration-accent/35 underline-offset-2"
                  onClick={() => setOpen(resource)}
                >
                  {path}
                </button>
              ) : (
                path
              )}
              <span className="ml-auto shrink-0 truncate text-small text-muted">{resource.type}</span>
            </li>
          );
        })}
      </ul>
      {unnamed > 0 && <p className="px-4 py-2 text-muted">and {unnamed.toLocaleString('en')} more</p>}
      {open && since && <ChangeDialog change={open} since={since} onClose={() => setOpen(undefined)} />}
    </>
  );
}

interface ChangeDialogProps {
  change: ResourceDifference;
  since: Since;
  onClose(): void;
}

/** Changes of one resource since a moment: the patch, and both records side by side if both are known. */
function ChangeDialog({ change, since, onClose }: ChangeDialogProps) {
  const { id, path, action } = change;
  const found = useQuery({
    queryKey: [keys.history, 'change', since, id],
    queryFn: async ({ signal }) => {
      const recordAt = (at: number | undefined) =>
        load('/inspect/world', { resource: id, ...(at !== undefined && { at }) }, signal);
      const [difference, before, after] = await Promise.all([
        loadAs<Difference>(...differenceAddress(since, { resource: id }), signal),
        action !== 'create' && 'seq' in since ? recordAt(since.seq) : undefined,
        action !== 'delete' ? recordAt(undefined) : undefined,
      ]);
      return { ops: difference.ops ?? [], before, after };
    },
  });
  const { data } = found;
  return (
    <Dialog
      title={`Patch of ${path}`}
      onClose={onClose}
      width="large"
      closing="Close"
      foot={
        action !== 'delete' && (
          <PlaceLink
            to={{ screen: 'resources', id, search: { tab: 'history' } }}
            className="link order-first mr-auto self-center"
          >
            Open the resource
          </PlaceLink>
        )
      }
    >
      {!data && <Pending query={found} />}
      {data && (
        <>
          <h3 className="eyebrow">From then to now, as JSON Patch</h3>
          <div className="max-h-60 overflow-auto rounded-md border border-line">
            <PatchList ops={data.ops} />
          </div>
          {data.before && data.after && (
            <>
              <h3 className="eyebrow mt-3">Then and now</h3>
              <div className="overflow-hidden rounded-md border border-line">
                <RecordDifference label="Then and now" before={data.before} after={data.after} />
              </div>
            </>
          )}
        </>
      )}
    </Dialog>
  );
}
