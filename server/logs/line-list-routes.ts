import type { Router } from 'express';
import { lineListRows, type RecordedLine } from '../contract/recorded-parts.ts';
import { eyesOf } from '../http/eyes.ts';
import { type Gate, serve } from '../http/serve.ts';
import type { LogLine } from '../model/invocation.ts';
import { type LineFacts, lineQuery } from '../model/recorded-part-queries.ts';
import { scopeOf } from '../model/scope.ts';
import type { Placed } from '../store/records/record-ring.ts';
import { hiding } from '../traffic/hiding.ts';
import type { Recorder } from '../traffic/recorder.ts';
import { readQuery } from '../traffic/recorder-routes.ts';
import { timeOf } from '../traffic/shown-invocation.ts';
import { traceOfInvocation } from '../traffic/shown-recorded.ts';
import type { KeptLines } from './kept-lines.ts';

/** So many are looked through for one answer; the reader goes on at `next`. */
const MAX_LOOKED = 20_000;

export interface LineListOptions {
  lines: KeptLines;
  recorder: Recorder;
  /** Texts that nobody may read, as they stand now: values of masked variables. */
  secrets(): readonly string[];
  /** Epoch milliseconds. */
  nowMs(): number;
}

/** What all lambdas printed, as one list. */
export function lineListRoutes({ lines, recorder, secrets, nowMs }: LineListOptions, gate: Gate): Router {
  const { view } = gate;
  const traceOf = (executionId: string | undefined) => {
    const call = executionId === undefined ? undefined : recorder.invocations.find(executionId)?.item;
    return call && traceOfInvocation(call);
  };
  return serve(lineListRows, gate, {
    listLogLines({ caller, query: { q = '', lambda, scope, ...page } }) {
      const hide = hiding(secrets());
      const query = readQuery(lineQuery(q, nowMs()));
      const isInScope = scopeOf(view, scope);
      const eyes = eyesOf(gate, caller);
      const seen = view
        .all('lambdas')
        .filter(({ id }) => (lambda === undefined || id === lambda.toLowerCase()) && isInScope(id) && eyes.sees(id));
      const lambdas = new Map(seen.map((one) => [lines.ring.groupOf(one.id), one]));
      const lambdaOf = ({ seq }: Placed<LogLine>) => lambdas.get(lines.ring.groupAt(seq) ?? 0);
      const factsOf = (placed: Placed<LogLine>): LineFacts => {
        const { atMs, stream, text, executionId } = placed.item;
        const { name = '', id = '' } = lambdaOf(placed) ?? {};
        return { atMs, stream, text, lambdaName: name, lambdaId: id, executionId, trace: () => traceOf(executionId) };
      };
      const { items, next } = lines.ring.page({
        ...page,
        maxLooked: MAX_LOOKED,
        fromMs: query.fromMs,
        isWanted: (placed) => lambdaOf(placed) !== undefined && query.matches(hide.facts(factsOf(placed))),
      });
      const shown = items.map((placed): RecordedLine => {
        const { atMs, stream, text, executionId } = placed.item;
        const { name = '', id = '' } = lambdaOf(placed) ?? {};
        const line = { seq: placed.seq, at: timeOf(atMs), stream, text, lambdaId: id, lambdaName: name };
        return { ...line, ...(executionId !== undefined && { executionId }) };
      });
      return {
        lines: hide.value(shown),
        newest: lines.ring.newest,
        run: recorder.run,
        ...(next !== undefined && { next }),
      };
    },
  });
}
