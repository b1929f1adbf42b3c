import { Duration } from '../../components/amount.tsx';
import { JsonView } from '../../components/json-view.tsx';
import { Badge, State } from '../../components/state.tsx';
import { PlaceLink } from '../../shell/place-link.tsx';
import { OutboundCallView } from '../invocations/outbound-call-view.tsx';
import { faultPlaceOf } from './fault-place.ts';
import { FaultSource } from './fault-source.tsx';
import { RunLog } from './run-log.tsx';
import type { RunResult } from './runs.ts';

/**
 * The outcome of a run: its status, its result, its calls, its log.
 * @param isMarked is what it ran still the code, so that the editor marks where it failed?
 */
export function Outcome({ result, isMarked }: { result: RunResult; isMarked: boolean }) {
  const faultLocation = faultPlaceOf(result);
  const { outcome, logs, outbound, executionId } = result;
  return (
    <div className="flex flex-col gap-2 p-3">
      <p className="flex flex-wrap items-center gap-2">
        <State is={outcome.ok ? 'ok' : 'error'}>{outcome.ok ? 'ok' : outcome.failure}</State>
        <Duration ms={result.durationMs} />
        <Badge>{result.cold ? 'cold' : 'warm'}</Badge>
        <PlaceLink to={{ screen: 'invocations', search: { sel: executionId } }}>Detail</PlaceLink>
      </p>
      {outcome.message && <p className="mono break-words text-error">{outcome.message}</p>}
      {faultLocation && (
        <p className="text-muted">
          {`In line ${faultLocation.line}, column ${faultLocation.column} of the code. `}
          {isMarked ? 'The line is marked in the code.' : 'The code has changed since.'}
        </p>
      )}
      {isMarked && <FaultSource result={result} />}
      {outcome.result !== undefined && (
        <section aria-label="Result" className="rounded-md border border-line">
          <JsonView value={outcome.result} subject="result" />
        </section>
      )}
      {outbound.length > 0 && (
        <section aria-label="Outbound calls" className="flex flex-col gap-1.5">
          <h3 className="eyebrow">Outbound calls</h3>
          {outbound.map((call, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the calls of an ended run do not change
            <div key={index}>
              <OutboundCallView call={call} executionId={executionId} />
            </div>
          ))}
        </section>
      )}
      {logs.length > 0 && <RunLog key={executionId} lines={logs} />}
    </div>
  );
}
