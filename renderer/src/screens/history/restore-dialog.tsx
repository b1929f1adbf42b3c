import { useChange } from '../../api/change.ts';
import { send } from '../../api/client.ts';
import { counted } from '../../parts/amounts.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Pending } from '../../parts/pending.tsx';
import { DifferenceList, totalText } from './difference-list.tsx';
import { tellOfCommit } from './undo-toast.ts';
import { type Since, useDifference } from './use-commits.ts';

export interface RestoreDialogProps {
  /** The moment or the snapshot that the world shall be again. */
  to: Since;
  onClose(): void;
  onRestored?(): void;
}

/** Says what would change if the world became what it was, and does it. */
export function RestoreDialog({ to, onClose, onRestored }: RestoreDialogProps) {
  const name = nameOf(to);
  const found = useDifference(to);
  const restoring = useChange(
    () =>
      'seq' in to
        ? send('POST', '/inspect/restore', { at: to.seq })
        : send('POST', `/inspect/snapshots/${encodeURIComponent(to.snapshot)}/restore`, {}),
    {
      onDone: ({ commit }) => {
        tellOfCommit(`The world is as it was ${name}.`, commit?.seq);
        onClose();
        onRestored?.();
      },
    },
  );
  const { data } = found;
  const count = data ? data.total.create + data.total.update + data.total.delete : 0;
  return (
    <Dialog
      title={`Go back: the world ${name}`}
      isAlert
      onClose={onClose}
      width="medium"
      action={count > 0 ? `Restore ${counted(count, 'resource')}` : 'Restore'}
      onAction={restoring.mutate}
      isReady={count > 0}
      making={restoring}
    >
      {!data && <Pending query={found} />}
      {data && count === 0 && <p>The world is as it was then: there is nothing to restore.</p>}
      {data && count > 0 && (
        <>
          <p>
            <span className="font-medium">{totalText(data, 'back')}.</span> It is done by one new commit, which can be
            taken back like any other. Leads, results, keys and tokens are no part of it and stay.
          </p>
          <div className="-mx-4 mt-3 max-h-72 overflow-auto border-y border-line">
            <DifferenceList difference={data} direction="back" since={to} />
          </div>
        </>
      )}
    </Dialog>
  );
}

/** The moment in words, behind `the world ...`. */
export function nameOf(since: Since): string {
  if ('snapshot' in since) return `of snapshot ${since.snapshot}`;
  return since.seq === 0 ? 'at its beginning' : `after commit ${since.seq}`;
}
