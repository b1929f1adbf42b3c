import { CircleX } from 'lucide-react';
import { useFailures } from '../../api/failures.ts';
import { Time } from '../../parts/amount.tsx';
import { PlaceLink } from '../../shell/place-link.tsx';
import { useValue } from '../../value-store.ts';
import { FailureStory } from '../invocations/failure-story.tsx';
import { underWay } from '../invocations/use-mending.ts';

/** So many are told of in full; a screen of its own lists all. */
const MAX_SHOWN = 3;

/** What fails now, why, and the way back, until all that can be replayed has been; nothing while all goes well. */
export function Failing() {
  const failing = useFailures();
  const mended = [...useValue(underWay).values()].map(({ run }) => run);
  const failures = [...failing, ...mended.filter((run) => !failing.some(({ lambdaId }) => lambdaId === run.lambdaId))];
  if (failures.length === 0) return null;
  return (
    <section aria-labelledby="failing">
      <h2 id="failing" className="eyebrow mb-2">
        Failing
      </h2>
      <ul className="flex flex-col gap-2">
        {failures.slice(0, MAX_SHOWN).map((run) => (
          <li key={run.lambdaId} className="rounded-md border border-error/40 bg-error-soft px-3.5 py-2.5">
            <p className="break-words">
              <CircleX aria-hidden size={14} className="mr-1.5 inline align-[-2px] text-error" />
              <PlaceLink
                to={{ screen: 'invocations', search: { sel: run.newest } }}
                className="font-semibold hover:underline"
              >
                {run.lambdaName}
              </PlaceLink>
              : {run.text}{' '}
              <span className="text-muted">
                ({run.count === 1 ? 'once' : `${run.count.toLocaleString('en')} times`}, first <Time at={run.since} />)
              </span>
            </p>
            <FailureStory run={run} />
          </li>
        ))}
      </ul>
      {failures.length > MAX_SHOWN && (
        <p className="mt-1">
          <PlaceLink to={{ screen: 'invocations', search: { q: 'status:error' } }}>
            {failures.length - MAX_SHOWN === 1
              ? 'One more lambda fails'
              : `${failures.length - MAX_SHOWN} more lambdas fail`}
          </PlaceLink>
        </p>
      )}
    </section>
  );
}
