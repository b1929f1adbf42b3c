import { isFailedCall } from '../../../../server/model/failed-call.ts';
import { Duration } from '../../parts/amount.tsx';
import { JsonView } from '../../parts/json-view.tsx';
import { Badge, State } from '../../parts/state.tsx';
import { PlaceLink } from '../../shell/place-link.tsx';
import { faultPlaceOf } from './fault-place.ts';
import { RunLog } from './run-log.tsx';
import type { RunResult } from './runs.ts';

/**
 * What came of a run: how it went, its result, its calls, its log.
 *
 * @param isMarked is what it ran still the code, so that the editor marks where it failed?
 */
export function Outcome({ result, isMarked }: { result: RunResult; isMarked: boolean }) {
  const place = faultPlaceOf(result);
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
      {place && (
        <p className="text-muted">
          {`In line ${place.line}, column ${place.column} of the code. `}
          {isMarked ? 'The line is marked in the code.' : 'The code has changed since.'}
        </p>
      )}
      {outcome.result !== undefined && (
        <section aria-label="Result" className="rounded-md border border-line">
          <JsonView value={outcome.result} what="result" />
        </section>
      )}
      {outbound.length > 0 && (
        <section aria-label="Outbound calls" className="flex flex-col gap-1.5">
          <h4 className="eyebrow">Outbound calls</h4>
          {outbound.map((call, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the calls of an ended run do not change
            <OutboundLine key={index} call={call} executionId={executionId} />
          ))}
        </section>
      )}
      {logs.length > 0 && <RunLog key={executionId} lines={logs} />}
    </div>
  );
}

function OutboundLine({ call, executionId }: { call: RunResult['outbound'][number]; executionId: string }) {
  const { method, url, durationMs, status, error, caughtBy, rules } = call;
  return (
    <div>
      <p className="flex flex-wrap items-center gap-2">
        <State is={isFailedCall(call) ? 'error' : 'ok'}>{status ?? 'no answer'}</State>
        <Badge>{method}</Badge>
        <Duration ms={durationMs} />
        {caughtBy === 'crm' && (
          <PlaceLink to={{ screen: 'leads', search: { q: `execution:${executionId}` } }}>See the lead</PlaceLink>
        )}
      </p>
      <p className="mono break-all text-muted">{url}</p>
      {error && <p className="break-words text-error">{error}</p>}
      {rules && (
        <p className="text-muted">
          <PlaceLink to={{ screen: 'leads', search: { tab: 'rules' } }}>Outbound rule</PlaceLink>:{' '}
          {rules.map(({ text }) => text).join(', then ')}
        </p>
      )}
    </div>
  );
}
