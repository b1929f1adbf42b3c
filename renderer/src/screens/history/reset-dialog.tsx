import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { send } from '../../api/client.ts';
import { keys } from '../../api/query-client.ts';
import { toastCommit } from '../../api/undo.ts';
import { useChange } from '../../api/use-change.ts';
import { Dialog } from '../../components/dialog.tsx';
import { Select } from '../../components/fields.tsx';
import { Skeleton } from '../../components/skeleton.tsx';
import { DeletedAccounts } from './deleted-accounts.tsx';
import { DifferenceList, totalText } from './difference-list.tsx';

const SEEDS = [
  { id: 'demo', text: 'Demo', note: 'The shop with its web form, a pipeline and a few lambdas' },
  { id: 'empty', text: 'Empty', note: 'The root organization and the default providers' },
  { id: 'configured', text: 'Configured', note: 'The seed in the settings of this platform' },
];

export function ResetDialog({ onClose }: { onClose(): void }) {
  const [seed, setSeed] = useState('demo');
  const trial = useQuery({
    queryKey: [keys.history, 'reset', seed],
    queryFn: () => send('POST', '/inspect/reset', { seed, dryRun: true }),
  });
  const resetting = useChange(() => send('POST', '/inspect/reset', { seed }), {
    onDone: ({ commit }) => {
      toastCommit('The world was reset.', commit);
      onClose();
    },
  });
  const { data } = trial;
  const count = data ? data.total.create + data.total.update + data.total.delete : 0;
  return (
    <Dialog
      title="Reset to a seed"
      isAlert
      onClose={onClose}
      width="medium"
      action="Reset the world"
      onAction={resetting.mutate}
      look="destroy"
      isReady={count > 0}
      making={{ isPending: resetting.isPending, error: resetting.error ?? trial.error }}
    >
      <Select label="Seed" options={SEEDS} value={seed} onChange={setSeed} className="max-w-xs" />
      <p className="mt-3 text-muted">
        This replaces all resources with the contents of the seed. Other resources and their containers are deleted. You
        can undo the reset in the history. The root user, leads, results, keys, snapshots and the history are kept.
      </p>
      {!data && !trial.error && <Skeleton rows={4} label="Loading the preview" />}
      {data && (
        <>
          <p className="mt-3 font-medium">
            {count === 0 ? 'No changes: the world is already in this state.' : `${totalText(data, 'to-come')}.`}
          </p>
          <DeletedAccounts difference={data} direction="to-come" />
          {count > 0 && (
            <div className="-mx-4 mt-2 max-h-64 overflow-auto border-y border-line">
              <DifferenceList difference={data} direction="to-come" />
            </div>
          )}
        </>
      )}
    </Dialog>
  );
}
