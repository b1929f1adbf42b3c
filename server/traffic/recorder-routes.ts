import type { Router } from 'express';
import { recordedRows, type ShownBegun } from '../contract/recorded.ts';
import { type Gate, serve, targetOf } from '../http/serve.ts';
import { PlatformError } from '../model/errors.ts';
import type { Uuid } from '../model/ids.ts';
import type { BegunInvocation, LambdaInvoker } from '../model/invocation.ts';
import type { Query, ReadQuery } from '../model/query-language.ts';
import { exchangeQuery, invocationQuery } from '../model/recorded-queries.ts';
import { scopeOf } from '../model/scope.ts';
import { hiding } from './hiding.ts';
import { lambdaUse } from './lambda-use.ts';
import { factsOfExchange, shownExchange, shownWholeExchange } from './recorded-exchange.ts';
import { factsOfInvocation, shownRecorded, shownSummary } from './recorded-invocation.ts';
import type { Recorder } from './recorder.ts';
import { replay } from './replay.ts';
import { shownInvocation } from './shown-invocation.ts';

/** So many are looked through for one answer; the reader goes on at `next`. */
const maxLooked = 5_000;

/** A recorded invocation. Throws 404. */
export function getInvocation({ invocations }: Recorder, id: string) {
  const found = invocations.find(id.toLowerCase());
  if (found) return found;
  throw new PlatformError(404, `invocation '${id.slice(0, 64)}' is not among the newest ${invocations.maxItems}`);
}

export interface RecorderRoutesOptions {
  recorder: Recorder;
  invoker: LambdaInvoker;
  /** Texts that nobody may read in what was recorded, as they stand now: values of masked variables. */
  secrets(): readonly string[];
  /** Epoch milliseconds. */
  nowMs(): number;
  /** What the CRM told the sender of a form that it refused, if this invocation sent one. */
  refusalOf(executionId: Uuid): string | undefined;
}

/** What was recorded, newest first; a page may hold fewer than asked for, even none, and go on. */
export function recorderRoutes(
  { recorder, invoker, secrets, nowMs, refusalOf }: RecorderRoutesOptions,
  gate: Gate,
): Router {
  const { view } = gate;
  const { invocations, exchanges } = recorder;
  const statusOf = (executionId: Uuid) => recorder.statusOf(executionId);
  const failuresOf = (executionId: Uuid | undefined) => recorder.failuresOf(executionId);
  const requestOf = (executionId: Uuid) => ({
    status: statusOf(executionId),
    target: () => exchanges.find(executionId)?.item.target ?? '',
  });
  const lambdaOf = (id: string) => targetOf(gate, getInvocation(recorder, id).item.lambdaId, ['lambdas']);

  return serve(
    recordedRows,
    gate,
    {
      listInvocations({ query: { q = '', lambda, scope, ...page } }) {
        const hide = hiding(secrets());
        const query = readQuery(invocationQuery(q, nowMs()));
        const isInScope = scopeOf(view, scope);
        const isOf = ({ lambdaId }: { lambdaId: Uuid }) =>
          (lambda === undefined || lambdaId === lambda.toLowerCase()) && isInScope(lambdaId);
        const { items, next } = invocations.page({
          ...page,
          maxLooked,
          fromMs: query.fromMs,
          isWanted: ({ item }) =>
            isOf(item) &&
            query.matches(hide.facts(factsOfInvocation(item, requestOf(item.executionId), recorder.whole))),
        });
        return {
          invocations: items.map(({ seq, item }) => hide.value(shownSummary(item, seq, statusOf(item.executionId)))),
          running: recorder.running.filter(isOf).map(shownBegun),
          total: invocations.size,
          newest: invocations.newest,
          run: recorder.run,
          ...(next !== undefined && { next }),
        };
      },
      listLambdaUse: () => hiding(secrets()).value({ lambdas: lambdaUse(invocations, recorder.whole, refusalOf) }),
      readInvocation({ path }) {
        const { item, seq } = getInvocation(recorder, path.execution_id);
        const exchange = exchanges.find(item.executionId);
        return hiding(secrets()).value({
          seq,
          ...shownRecorded(recorder.whole(item)),
          ...(exchange && {
            request: shownWholeExchange(recorder.wholeExchange(exchange.item), exchange.seq, item.outboundFailures),
          }),
        });
      },
      async replayInvocation({ caller, path, body: { event }, req }) {
        const { item } = getInvocation(recorder, path.execution_id);
        const creds = req.headers.authorization ?? '';
        const invocation = await replay({ recorder, invoker }, recorder.whole(item), { caller, creds }, event);
        return hiding(secrets()).value({ ...shownInvocation(invocation), replayOf: item.executionId });
      },
      listTraffic({ query: { q = '', endpoint, plane, scope, ...page } }) {
        const hide = hiding(secrets());
        const query = readQuery(exchangeQuery(q, nowMs()));
        const isInScope = scopeOf(view, scope);
        const { items, next } = exchanges.page({
          ...page,
          maxLooked,
          fromMs: query.fromMs,
          isWanted: ({ item }) =>
            (endpoint === undefined || item.endpointId === endpoint.toLowerCase()) &&
            (plane === undefined || item.plane === plane) &&
            isInScope(item.endpointId) &&
            query.matches(hide.facts(factsOfExchange(item, failuresOf(item.executionId), recorder.wholeExchange))),
        });
        return {
          requests: items.map(({ seq, item }) => hide.value(shownExchange(item, seq, failuresOf(item.executionId)))),
          total: exchanges.size,
          newest: exchanges.newest,
          run: recorder.run,
          ...(next !== undefined && { next }),
        };
      },
      readRequest({ path: { request_seq: seq } }) {
        const found = /^\d{1,15}$/.test(seq) ? exchanges.at(Number(seq)) : undefined;
        if (!found)
          throw new PlatformError(404, `request '${seq.slice(0, 64)}' is not among the newest ${exchanges.maxItems}`);
        const { item } = found;
        const shown = shownWholeExchange(recorder.wholeExchange(item), found.seq, failuresOf(item.executionId));
        return hiding(secrets()).value(shown);
      },
    },
    { execution_id: lambdaOf },
  );
}

function shownBegun({ acceptedAtMs, ...begun }: BegunInvocation): ShownBegun {
  return { ...begun, acceptedAt: new Date(acceptedAtMs).toISOString() };
}

function readQuery<Facts>(query: Query<Facts>): ReadQuery<Facts> {
  if (query.ok) return query;
  const { message, at } = query.fault;
  throw new PlatformError(400, `q cannot be read at character ${at + 1}: ${message}`);
}
