import { useState } from 'react';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import type { Conflict } from './three-way-merge.ts';

export interface ConflictDialogProps {
  name: string;
  conflicts: readonly Conflict[];
  onClose(): void;
  /** Receives the kept side of each conflict, by pointer. */
  onSettle(chosen: Record<string, 'mine' | 'theirs'>): void;
}

const MAX_SHOWN_CHARS = 2000;

/** Two users changed the same properties: shows the original and both versions, and asks which to keep. */
export function ConflictDialog({ name, conflicts, onClose, onSettle }: ConflictDialogProps) {
  const [chosen, setChosen] = useState<Readonly<Record<string, 'mine' | 'theirs'>>>({});
  const isSettled = conflicts.every(({ pointer }) => chosen[pointer] !== undefined);
  const all = (side: 'mine' | 'theirs') =>
    setChosen(Object.fromEntries(conflicts.map(({ pointer }) => [pointer, side])));
  return (
    <Dialog
      title={`Conflicting changes to ${name}`}
      onClose={onClose}
      width="large"
      closing=""
      foot={
        <>
          <Button onPress={() => all('theirs')}>Use all theirs</Button>
          <Button onPress={() => all('mine')}>Use all mine</Button>
        </>
      }
      action="Continue to review"
      onAction={() => onSettle({ ...chosen })}
      isReady={isSettled}
    >
      <p className="mb-3 text-muted">
        Someone else changed these properties while you were editing. Choose a version for each; changes that only one
        of you made are kept. Nothing is sent before you apply it.
      </p>
      <div className="flex flex-col gap-4">
        {conflicts.map((conflict) => (
          <fieldset key={conflict.pointer} aria-label={conflict.pointer} className="min-w-0">
            <legend className="mono mb-1 break-all">{conflict.pointer}</legend>
            <div className="grid grid-cols-3 gap-2">
              <div className="flex min-w-0 flex-col rounded-md border border-line p-2">
                <span className="mb-1 flex min-h-6 items-center text-muted">Base: as it was</span>
                <Value value={conflict.base} isThere={'base' in conflict} />
              </div>
              {(['theirs', 'mine'] as const).map((side) => (
                <label
                  key={side}
                  className={`flex min-w-0 cursor-default flex-col rounded-md border p-2 ${chosen[conflict.pointer] === side ? 'border-accent bg-accent-soft' : 'border-line'}`}
                >
                  <span className="mb-1 flex min-h-6 items-center gap-1.5 font-medium">
                    <input
                      type="radio"
                      name={conflict.pointer}
                      className="size-4 accent-(--accent)"
                      checked={chosen[conflict.pointer] === side}
                      onChange={() => setChosen((before) => ({ ...before, [conflict.pointer]: side }))}
                    />
                    {side === 'mine' ? 'Mine' : 'Theirs'}
                  </span>
                  <Value value={conflict[side]} isThere={side in conflict} />
                </label>
              ))}
            </div>
          </fieldset>
        ))}
      </div>
    </Dialog>
  );
}

function Value({ value, isThere }: { value: unknown; isThere: boolean }) {
  if (!isThere) return <span className="text-faint">not there</span>;
  const text = typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? '');
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls has to be reachable with the keyboard
    <pre tabIndex={0} className="max-h-48 overflow-auto whitespace-pre-wrap break-words">
      {text.length > MAX_SHOWN_CHARS ? `${text.slice(0, MAX_SHOWN_CHARS)} …` : text}
    </pre>
  );
}
