import type { InvocationView, OutboundCall } from '../../../../server/api/routes/logs.ts';
import { jsonIn } from '../../../../server/model/json.ts';
import { sessionState } from '../../api/session-state.ts';
import { ValueStore } from '../../value-store.ts';

/** The part of a run's record that is used here. */
export type RunResult = Pick<
  InvocationView,
  'executionId' | 'lambdaId' | 'durationMs' | 'cold' | 'outcome' | 'logs'
> & {
  outbound: readonly Omit<OutboundCall, 'startedAt'>[];
};

export interface Run {
  /** 1, 2, 3 ... */
  number: number;
  atMs: number;
  event: string;
  /** The lambda's `code` then, as it was stored. */
  code: unknown;
  result: RunResult;
}

const MAX_RUNS = 12;

/** The last runs of each lambda, newest first, for as long as the window is open. */
export const runs = new ValueStore<ReadonlyMap<string, readonly Run[]>>(new Map());
sessionState.whenUserLeaves(() => runs.set(new Map()));

export function addRun(lambdaId: string, run: Omit<Run, 'number'>): void {
  const before = runs.value.get(lambdaId) ?? [];
  const number = (before[0]?.number ?? 0) + 1;
  runs.set(new Map(runs.value).set(lambdaId, [{ ...run, number }, ...before].slice(0, MAX_RUNS)));
}

/** A run as text that another one can be compared with: what differs in every run is left out. */
export function comparable({ event, result: { outcome, logs, outbound } }: Run): string {
  const calls = outbound.map(({ durationMs: _, ...call }) => ({
    ...call,
    startedAt: undefined,
    rules: call.rules?.map(({ text }) => text),
  }));
  const lines = logs.map(({ stream, text }) => (stream === 'stderr' ? `stderr: ${text}` : text));
  return JSON.stringify({ outcome, outbound: calls, logs: lines, event: jsonIn(event) ?? event }, null, 2);
}
