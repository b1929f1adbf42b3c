import { RotateCcw, Undo2 } from 'lucide-react';
import type { FailureRun, Suspect } from '../../api/failures.ts';
import { Time } from '../../parts/amount.tsx';
import { Button } from '../../parts/button.tsx';
import { FailureNote } from '../../parts/empty-state.tsx';
import { PlaceLink } from '../../shell/place-link.tsx';
import { capital, lostWords, replayWords } from './failure-words.ts';
import { useMending } from './use-mending.ts';

/** What probably caused a run of failures, and the way back: the change undone, and what was lost done again, in one step. */
export function FailureStory({ run }: { run: FailureRun }) {
  const [likeliest] = run.suspects;
  const others = run.suspects.slice(run.rule ? 0 : 1);
  const { rule } = run;
  const { mending, progress, stop } = useMending(run);
  const isUndoing = mending.isPending && mending.variables !== undefined;
  const isUnderWay = progress !== undefined;
  const decided = rule && { undone: 'rule' as const, text: 'Switch it off' };
  const changed = likeliest && { undone: likeliest.seq, text: 'Undo it' };
  const cause = run.isOver ? undefined : (decided ?? changed);
  return (
    <div className="mt-1 flex flex-col gap-1.5">
      {rule && !run.isOver && (
        <p>
          The outbound rule <PlaceLink to={{ screen: 'leads', search: { tab: 'rules' } }}>{rule.text}</PlaceLink>{' '}
          decided so.
        </p>
      )}
      {likeliest && !rule && !run.isOver && (
        <p>
          Since <Change suspect={likeliest} />.
        </p>
      )}
      {!likeliest && !rule && run.historyFrom !== undefined && (
        <p className="text-muted">
          What was changed before it is not known any more: the history begins <Time at={run.historyFrom} />.
        </p>
      )}
      {run.lost > 0 && (
        <p className="flex flex-wrap items-center gap-1.5">
          {cause && (
            <Button
              look="primary"
              icon={Undo2}
              isPending={isUndoing}
              isDisabled={isUnderWay}
              onPress={() => mending.mutate(cause.undone)}
            >
              {cause.text}, and {replayWords(run)}
            </Button>
          )}
          <Button
            icon={RotateCcw}
            isPending={isUnderWay && !isUndoing}
            isDisabled={isUnderWay}
            onPress={() => mending.mutate(undefined)}
          >
            {capital(replayWords(run))}
          </Button>
        </p>
      )}
      {progress && progress.left > 0 && (
        <p role="status" className="flex items-center gap-2">
          {progress.replayed.toLocaleString('en')} of {(progress.replayed + progress.left).toLocaleString('en')}{' '}
          replayed
          <Button onPress={stop}>Stop</Button>
        </p>
      )}
      {run.lost === 0 && <p className="text-muted">{lostWords(run)}</p>}
      {others.length + run.happenings.length > 0 && !run.isOver && (
        <details>
          <summary className="cursor-pointer text-muted">What else was changed before it</summary>
          <ul className="list-disc pl-5">
            {others.map((suspect) => (
              <li key={`${suspect.seq} ${suspect.resource.id}`}>
                <Change suspect={suspect} />
              </li>
            ))}
            {run.happenings.map(({ at, text }) => (
              <li key={`${at} ${text}`}>
                {capital(text)} <Time at={at} />
              </li>
            ))}
          </ul>
        </details>
      )}
      <FailureNote error={mending.error} />
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
