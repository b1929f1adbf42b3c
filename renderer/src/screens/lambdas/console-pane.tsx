import { useState } from 'react';
import { Duration, Time } from '../../components/amount.tsx';
import { Key } from '../../components/button.tsx';
import { DiffEditor } from '../../components/code-editor.tsx';
import { FailureNote } from '../../components/empty-state.tsx';
import { Select } from '../../components/fields.tsx';
import { JsonView } from '../../components/json-view.tsx';
import { Badge, State } from '../../components/state.tsx';
import { PlaceLink } from '../../shell/place-link.tsx';
import { useValue } from '../../value-store.ts';
import { OutboundCallView } from '../invocations/outbound-call-view.tsx';
import { faultPlaceOf } from './fault-place.ts';
import { FaultSource } from './fault-source.tsx';
import { RunLog } from './run-log.tsx';
import { comparable, type Run, type RunResult, runs } from './runs.ts';

const NONE: readonly Run[] = [];

/** The results of the last runs: one of them, or two side by side. */
export function ConsolePane({
  lambdaId,
  code,
  error,
  waitsFor,
}: {
  lambdaId: string;
  /** The lambda's `code` as it is stored. */
  code: unknown;
  error: unknown;
  /** While the lambda runs: what for. */
  waitsFor: string | undefined;
}) {
  const knownRuns = useValue(runs).get(lambdaId) ?? NONE;
  const [chosen, setChosen] = useState<number>();
  const [compared, setCompared] = useState<number>();
  const newest = knownRuns[0]?.number;
  // Scrolls to a new run.
  const [seenNumber, setSeenNumber] = useState(newest);
  if (seenNumber !== newest) {
    setSeenNumber(newest);
    setChosen(undefined);
  }
  const shownRun = knownRuns.find(({ number }) => number === chosen) ?? knownRuns[0];
  const otherRuns = knownRuns.filter(({ number }) => number !== shownRun?.number);
  const other = otherRuns.find(({ number }) => number === compared);
  return (
    <section aria-label="Console" className="flex min-h-0 flex-col">
      <div className="flex min-h-9 flex-wrap items-center gap-2 border-b border-line px-3 py-1">
        <h3 className="eyebrow">Console</h3>
        {knownRuns.length > 1 && (
          <span className="ml-auto flex items-center gap-2">
            <Select
              label="Run"
              isLabelHidden
              options={knownRuns.map(optionOf)}
              value={String(shownRun?.number)}
              onChange={(number) => setChosen(Number(number))}
            />
            <Select
              label="Compare with"
              isLabelHidden
              options={[{ id: 'none', text: 'Compare with ...' }, ...otherRuns.map(optionOf)]}
              value={other ? String(other.number) : 'none'}
              onChange={(number) => setCompared(number === 'none' ? undefined : Number(number))}
            />
          </span>
        )}
      </div>
      <div className="min-h-0 flex-1 overflow-auto">
        {waitsFor !== undefined && (
          <p className="border-b border-line px-3 py-2">
            <State is="running">{waitsFor}</State>
          </p>
        )}
        <FailureNote error={error} className="m-3" />
        {shownRun && other ? (
          <DiffEditor
            label={`What differs between run ${other.number} and run ${shownRun.number}`}
            before={comparable(other)}
            after={comparable(shownRun)}
            language="json"
          />
        ) : shownRun ? (
          <>
            <p className="px-3 pt-2 text-small text-muted">
              Run {shownRun.number}, <Time at={shownRun.atMs} />
            </p>
            <Outcome result={shownRun.result} isMarked={shownRun === knownRuns[0] && shownRun.code === code} />
          </>
        ) : (
          error === null &&
          waitsFor === undefined && (
            <p className="p-3 text-muted">
              Press Run or <Key>Ctrl/Cmd Enter</Key>. The result, outbound calls and log appear here.
            </p>
          )
        )}
      </div>
    </section>
  );
}

function optionOf({ number, result }: Run) {
  return {
    id: String(number),
    text: `Run ${number}: ${result.outcome.ok ? 'ok' : (result.outcome.failure ?? 'error')}`,
  };
}

/**
 * The outcome of a run: its status, its result, its calls, its log.
 * @param isMarked is what it ran still the code, so that the editor marks where it failed?
 */
function Outcome({ result, isMarked }: { result: RunResult; isMarked: boolean }) {
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
