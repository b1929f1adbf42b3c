import { Duration } from '../../parts/amount.tsx';
import { JsonView } from '../../parts/json-view.tsx';
import { Badge, State } from '../../parts/state.tsx';
import { PlaceLink } from '../../shell/place-link.tsx';

/** The record that `POST /inspect/lambdas/{id}/invoke` answers. */
export interface RunResult {
  executionId: string;
  durationMs: number;
  cold: boolean;
  outcome: { ok: boolean; failure?: string; message?: string; result?: unknown };
  logs: readonly { at: string; stream: string; text: string }[];
  outbound: readonly {
    method: string;
    url: string;
    durationMs: number;
    status?: number;
    error?: string;
    caughtBy?: string;
  }[];
}

/** What came of a run: how it went, its calls, its log, its result. */
export function Outcome({ result }: { result: RunResult }) {
  const { outcome, logs, outbound } = result;
  return (
    <div className="flex flex-col gap-2 p-3">
      <p className="flex items-center gap-2">
        <State is={outcome.ok ? 'ok' : 'error'}>{outcome.ok ? 'ok' : outcome.failure}</State>
        <Duration ms={result.durationMs} />
        <Badge>{result.cold ? 'cold' : 'warm'}</Badge>
        <PlaceLink to={{ screen: 'invocations', search: { sel: result.executionId } }}>Detail</PlaceLink>
      </p>
      {outcome.message && <p className="mono break-words text-error">{outcome.message}</p>}
      {outbound.map(({ method, url, durationMs, status, error, caughtBy }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the calls of an ended run do not change
        <p key={index} className="mono break-all text-muted">
          {method} {url} <span className={error ? 'text-error' : 'text-text'}>{status ?? error}</span>{' '}
          <Duration ms={durationMs} />
          {caughtBy && <> caught by the {caughtBy.toUpperCase()} stand-in</>}
        </p>
      ))}
      {logs.length > 0 && (
        <ol className="rounded-md border border-line bg-raised px-2 py-1">
          {logs.map(({ stream, text }, index) => (
            <li
              // biome-ignore lint/suspicious/noArrayIndexKey: the lines of an ended run do not change
              key={index}
              className={`mono break-words whitespace-pre-wrap ${stream === 'stderr' ? 'text-error' : ''}`}
            >
              {text}
            </li>
          ))}
        </ol>
      )}
      {outcome.result !== undefined && (
        <div className="rounded-md border border-line">
          <JsonView value={outcome.result} what="result" />
        </div>
      )}
    </div>
  );
}
