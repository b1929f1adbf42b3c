import { useMutation } from '@tanstack/react-query';
import { RotateCcw, Undo2 } from 'lucide-react';
import { send } from '../../api/client.ts';
import { failureOf } from '../../api/failure.ts';
import type { FailureRun, Suspect } from '../../api/failures.ts';
import { queryClient } from '../../api/query-client.ts';
import { Time } from '../../parts/amount.tsx';
import { Button } from '../../parts/button.tsx';
import { FailureNote } from '../../parts/empty-state.tsx';
import { toast } from '../../parts/toasts.tsx';
import { PlaceLink } from '../../shell/place-link.tsx';
import { capital, lostWords, outcomeWords, type Replayed, sendAgainWords } from './failure-words.ts';

/** What probably caused a run of failures, and the way back: the change undone, and what was lost done again, in one step. */
export function FailureStory({ run }: { run: FailureRun }) {
  const [likeliest, ...others] = run.suspects;
  const mending = useMutation({
    mutationFn: (revert: number | undefined) =>
      send<Replayed>('POST', `/inspect/failures/${run.newest}/replay`, revert === undefined ? {} : { revert }),
    onSuccess: (replayed) =>
      toast({ tone: replayed.good === replayed.replayed ? 'ok' : 'error', text: outcomeWords(run, replayed) }),
    onSettled: () => void queryClient.invalidateQueries(),
  });
  const isUndoing = mending.isPending && mending.variables !== undefined;
  return (
    <div className="mt-1 flex flex-col gap-1.5">
      {likeliest && !run.isOver && (
        <p>
          Since <Change suspect={likeliest} />.
        </p>
      )}
      {run.lost > 0 && (
        <p className="flex flex-wrap items-center gap-1.5">
          {likeliest && !run.isOver && (
            <Button
              look="primary"
              icon={Undo2}
              isPending={isUndoing}
              isDisabled={mending.isPending}
              onPress={() => mending.mutate(likeliest.seq)}
            >
              Undo it, and {sendAgainWords(run)}
            </Button>
          )}
          <Button
            icon={RotateCcw}
            isPending={mending.isPending && !isUndoing}
            isDisabled={mending.isPending}
            onPress={() => mending.mutate(undefined)}
          >
            {capital(sendAgainWords(run))}
          </Button>
        </p>
      )}
      {run.lost === 0 && <p className="text-muted">{lostWords(run)}</p>}
      {others.length > 0 && !run.isOver && (
        <details>
          <summary className="cursor-pointer text-muted">What else was changed before it</summary>
          <ul className="list-disc pl-5">
            {others.map((suspect) => (
              <li key={`${suspect.seq} ${suspect.resource.id}`}>
                <Change suspect={suspect} />
              </li>
            ))}
          </ul>
        </details>
      )}
      {mending.error && <FailureNote failure={failureOf(mending.error)} />}
    </div>
  );
}

/** Who changed what, when, and in which commit. */
function Change({ suspect: { seq, at, by, deeds, resource } }: { suspect: Suspect }) {
  return (
    <>
      {by} {deeds.join(', ')} on{' '}
      <PlaceLink to={{ screen: 'resources', id: resource.id, search: { tab: 'history' } }}>{resource.name}</PlaceLink>{' '}
      <Time at={at} /> in <PlaceLink to={{ screen: 'history', search: { sel: String(seq) } }}>commit {seq}</PlaceLink>
    </>
  );
}
