import { send } from '../../api/client.ts';
import { toastCommit } from '../../api/undo.ts';
import { useChange } from '../../api/use-change.ts';
import { counted } from '../../components/amounts.ts';
import { Dialog } from '../../components/dialog.tsx';
import { Pending } from '../../components/pending.tsx';
import { DeletedAccounts } from './deleted-accounts.tsx';
import { DifferenceList, totalText } from './difference-list.tsx';
import type { Difference } from './history-answers.ts';
import { type Since, useDifference } from './use-commits.ts';

export interface RestoreDialogProps {
  /** The commit or the snapshot to restore. */
  to: Since;
  onClose(): void;
  onRestored?(): void;
}

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
        toastCommit(`The world was restored to its state ${name}.`, commit?.seq);
        onClose();
        onRestored?.();
      },
    },
  );
  const { data } = found;
  const count = data ? data.total.create + data.total.update + data.total.delete : 0;
  return (
    <Dialog
      title={`Restore the world ${name}`}
      isAlert
      onClose={onClose}
      width="medium"
      action={data ? restoreWords(data) : 'Restore'}
      look={data && data.total.create > 0 ? 'destroy' : 'primary'}
      onAction={restoring.mutate}
      isReady={count > 0}
      making={restoring}
    >
      {!data && <Pending query={found} />}
      {data && count === 0 && <p>No changes: the world is already in this state.</p>}
      {data && count > 0 && (
        <>
          <p>
            <span className="font-medium">{totalText(data, 'back')}.</span> The restore is one new commit, which you can
            undo. Leads, results, keys and tokens are kept.
          </p>
          <DeletedAccounts difference={data} direction="back" />
          <div className="-mx-4 mt-3 max-h-72 overflow-auto border-y border-line">
            <DifferenceList difference={data} direction="back" since={to} />
          </div>
        </>
      )}
    </Dialog>
  );
}

/** Returns what the button of a restore does: what exists only since the moment is deleted. */
function restoreWords({ total }: Pick<Difference, 'total'>): string {
  const restored = total.update + total.delete;
  if (total.create === 0) return restored === 0 ? 'Restore' : `Restore ${counted(restored, 'resource')}`;
  const deleted = `Delete ${counted(total.create, 'resource')}`;
  return restored === 0 ? deleted : `${deleted}, restore ${restored.toLocaleString('en')}`;
}

/** The moment in words, behind `the world ...`. */
export function nameOf(since: Since): string {
  if ('snapshot' in since) return `of snapshot ${since.snapshot}`;
  return since.seq === 0 ? 'at its beginning' : `after commit ${since.seq}`;
}
