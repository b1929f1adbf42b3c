import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useChange } from '../../api/change.ts';
import { send } from '../../api/client.ts';
import { keys } from '../../api/query-client.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Select } from '../../parts/fields.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import { DifferenceList, totalText } from './difference-list.tsx';
import { tellOfCommit } from './undo-toast.ts';

const SEEDS = [
  { id: 'demo', text: 'Demo', note: 'The shop with its web form, a pipeline and a few lambdas' },
  { id: 'empty', text: 'Empty', note: 'The root organization and the default providers' },
  { id: 'configured', text: 'As set up', note: 'The seed that the configuration of this instance names' },
];

/** Lets the world begin anew, after saying what that changes. */
export function ResetDialog({ onClose }: { onClose(): void }) {
  const [seed, setSeed] = useState('demo');
  const trial = useQuery({
    queryKey: [keys.history, 'reset', seed],
    queryFn: () => send('POST', '/inspect/reset', { seed, dryRun: true }),
  });
  const resetting = useChange(() => send('POST', '/inspect/reset', { seed }), {
    onDone: ({ commit }) => {
      tellOfCommit('The world begins anew.', commit);
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
        The world becomes what a first start makes of the seed. What the seed does not hold goes, with its containers.
        It is one commit and can be undone. The root user with his password stays; so do leads, results, keys, snapshots
        and the history.
      </p>
      {!data && !trial.error && <Skeleton rows={4} label="Finding out what would change" />}
      {data && (
        <>
          <p className="mt-3 font-medium">
            {count === 0 ? 'The world is so already.' : `${totalText(data, 'to-come')}.`}
          </p>
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
