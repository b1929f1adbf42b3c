import { CircleX } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { type FailureRun, useFailures } from '../../api/use-failures.ts';
import { Time } from '../../components/amount.tsx';
import { PlaceLink } from '../../shell/place-link.tsx';
import { useValue } from '../../value-store.ts';
import { FailureStory } from '../invocations/failure-story.tsx';
import { countWords } from '../invocations/failure-words.ts';
import { runningRepairs } from '../invocations/use-repair.ts';

const MAX_SHOWN = 3;

/**
 * The current failures, their causes and the repair, until everything that can be replayed has been. Nothing is shown
 * while all goes well.
 */
export function Failing() {
  const failing = useFailures();
  const repairs = [...useValue(runningRepairs).values()].map(({ run }) => run);
  const [isInside, setInside] = useState(false);
  const failures = useStableRuns(
    [...failing, ...repairs.filter((run) => !failing.some(({ first }) => first === run.first))],
    isInside,
  );
  if (failures.length === 0) return null;
  return (
    <section aria-labelledby="failing" onPointerEnter={() => setInside(true)} onPointerLeave={() => setInside(false)}>
      <h2 id="failing" className="eyebrow mb-2">
        Failing
      </h2>
      <ul className="flex flex-col gap-2">
        {failures.slice(0, MAX_SHOWN).map((run) => (
          <li key={run.first} className="rounded-md border border-error/40 bg-error-soft px-3.5 py-2.5">
            <div className="flex gap-1.5">
              <CircleX aria-hidden size={14} className="mt-0.5 shrink-0 text-error" />
              <p className="min-w-0 break-words">
                <PlaceLink
                  to={{ screen: 'invocations', search: { sel: run.newest } }}
                  className="font-semibold hover:underline"
                >
                  {run.lambdaName}
                </PlaceLink>
                : {run.text}{' '}
                <span className="text-muted">
                  ({countWords(run)}, {run.count > 1 && 'first '}
                  <Time at={run.since} />)
                </span>
              </p>
            </div>
            <FailureStory run={run} />
          </li>
        ))}
      </ul>
      {failures.length > MAX_SHOWN && (
        <p className="mt-1">
          <PlaceLink to={{ screen: 'invocations', search: { q: 'status:failed' } }}>
            {failures.length - MAX_SHOWN === 1 ? 'One more failure' : `${failures.length - MAX_SHOWN} more failures`}
          </PlaceLink>
        </p>
      )}
    </section>
  );
}

/** While the pointer is inside, cards keep their places, and new ones are added at the end: so a click never hits another card. */
function useStableRuns(runs: readonly FailureRun[], isInside: boolean): readonly FailureRun[] {
  const shownRuns = useRef<readonly FailureRun[]>(runs);
  const isNow = (run: FailureRun) => runs.find(({ first }) => first === run.first);
  const still = shownRuns.current.map((run) => isNow(run) ?? { ...run, isOver: true, lost: 0 });
  const added = runs.filter(({ first }) => !shownRuns.current.some((run) => run.first === first));
  const result = isInside && runs.length > 0 ? [...still, ...added] : runs;
  useEffect(() => {
    shownRuns.current = result;
  });
  return result;
}
