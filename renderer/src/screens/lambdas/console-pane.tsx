import { useState } from 'react';
import { Time } from '../../components/amount.tsx';
import { Key } from '../../components/button.tsx';
import { DiffEditor } from '../../components/code-editor.tsx';
import { FailureNote } from '../../components/empty-state.tsx';
import { Select } from '../../components/fields.tsx';
import { State } from '../../components/state.tsx';
import { useValue } from '../../value-store.ts';
import { Outcome } from './outcome.tsx';
import { comparable, type Run, runs } from './runs.ts';

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
