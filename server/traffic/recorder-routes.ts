import type { Router } from 'express';
import { recordedRows, type ShownBegun } from '../contract/recorded.ts';
import { type Eyes, eyesOf } from '../http/eyes.ts';
import { type Gate, serve, targetOf } from '../http/serve.ts';
import type { Caller } from '../model/caller.ts';
import { PlatformError } from '../model/errors.ts';
import type { Uuid } from '../model/ids.ts';
import type { BegunInvocation, LambdaInvoker } from '../model/invocation.ts';
import type { Query, ReadQuery } from '../model/query-language.ts';
import { exchangeQuery, invocationQuery } from '../model/recorded-queries.ts';
import { scopeOf } from '../model/scope.ts';
import type { WorldView } from '../model/world-view.ts';
import { hiding } from './hiding.ts';
import { lambdaUse } from './lambda-use.ts';
import { factsOfExchange, type RecordedExchange, shownExchange, shownWholeExchange } from './recorded-exchange.ts';
import type { Recorder } from './recorder.ts';
import { replay } from './replay.ts';
import { shownInvocation } from './shown-invocation.ts';
import { factsOfInvocation, shownRecorded, shownSummary } from './shown-recorded.ts';

/** So many requests to the management API are read to count one's own. */
const MAX_OWN_READ = 500;

/** So many are looked through for one answer; the reader goes on at `next`. */
const maxLooked = 5_000;
/** So many are counted for who may see some of them. */
const maxCounted = 20_000;

/** A recorded invocation. Throws 404. */
export function getInvocation({ invocations }: Pick<Recorder, 'invocations'>, id: string) {
  const found = invocations.find(id.toLowerCase());
  if (found) return found;
  throw notAmong({ invocations }, id);
}

function notAmong({ invocations }: Pick<Recorder, 'invocations'>, id: string): PlatformError {
  const which = `the newest ${invocations.maxItems}, or its lambda is not yours to view`;
  return new PlatformError(404, `invocation '${id.slice(0, 64)}' is not among ${which}`);
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
  /** An invocation that the caller may see. Throws 404 for every other, as if it were not there. */
  const getSeen = (caller: Caller, id: string) => {
    const found = getInvocation(recorder, id);
    if (eyesOf(gate, caller).sees(found.item.lambdaId)) return found;
    throw notAmong(recorder, id);
  };
  /** Requests to endpoints that one may view, and one's own to the management API. */
  const isSeenBy =
    (caller: Caller, { sees }: Eyes) =>
    (item: RecordedExchange) =>
      item.endpointId === undefined && item.userId === caller.userId ? true : sees(item.endpointId);
  /** How many there are that one may see. */
  const totalFor = ({ seesAll, sees }: Eyes): number => {
    if (seesAll) return invocations.size;
    const groups = new Set(view.all('lambdas').flatMap(({ id }) => (sees(id) ? invocations.groupOf(id) : [])));
    return [...invocations.marks(maxCounted)].filter(({ group }) => groups.has(group)).length;
  };
  /** The same of requests; of one's own to the management API, which have no column of their own, those among the newest. */
  const trafficFor = (caller: Caller, eyes: Eyes): number => {
    if (eyes.seesAll) return exchanges.size;
    const groups = new Set(view.all('apiendpoints').flatMap(({ id }) => (eyes.sees(id) ? exchanges.groupOf(id) : [])));
    const ofNone = exchanges.groupOf('');
    const isSeen = isSeenBy(caller, eyes);
    let [seen, read] = [0, 0];
    for (const { seq, group } of exchanges.marks(maxCounted)) {
      if (groups.has(group)) seen += 1;
      else if (group === ofNone && read < MAX_OWN_READ) {
        read += 1;
        const found = exchanges.at(seq);
        if (found && isSeen(found.item)) seen += 1;
      }
    }
    return seen;
  };

  return serve(
    recordedRows,
    gate,
    {
      listInvocations({ caller, query: { q = '', lambda, scope, ...page } }) {
        const hide = hiding(secrets());
        const query = readQuery(invocationQuery(q, nowMs()));
        const isInScope = scopeOf(view, scope);
        const eyes = eyesOf(gate, caller);
        const isOf = ({ lambdaId }: { lambdaId: Uuid }) =>
          eyes.sees(lambdaId) && (lambda === undefined || lambdaId === lambda.toLowerCase()) && isInScope(lambdaId);
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
          total: totalFor(eyes),
          newest: invocations.newest,
          run: recorder.run,
          ...(next !== undefined && { next }),
        };
      },
      listLambdaUse({ caller }) {
        const { sees } = eyesOf(gate, caller);
        const lambdas = lambdaUse(invocations, recorder.whole, refusalOf).filter(({ lambdaId }) => sees(lambdaId));
        return hiding(secrets()).value({ lambdas });
      },
      readInvocation({ caller, path }) {
        const { item, seq } = getSeen(caller, path.execution_id);
        const exchange = exchanges.find(item.executionId);
        return hiding(secrets()).value({
          seq,
          ...shownRecorded(recorder.whole(item)),
          ...(exchange && {
            request: shownWholeExchange(recorder.wholeExchange(exchange.item), exchange.seq, item.outboundFailures),
          }),
        });
      },
      async replayInvocation({ caller, path, body, req }) {
        const { item } = getInvocation(recorder, path.execution_id);
        const creds = req.headers.authorization ?? '';
        const invocation = await replay({ recorder, invoker }, recorder.whole(item), { caller, creds }, body);
        return hiding(secrets()).value({ ...shownInvocation(invocation), replayOf: item.executionId });
      },
      listTraffic({ caller, query: { q = '', endpoint, plane, scope, ...page } }) {
        const hide = hiding(secrets());
        const query = readQuery(exchangeQuery(q, nowMs()));
        const eyes = eyesOf(gate, caller);
        const isSeen = isSeenBy(caller, eyes);
        const isInScope = scopeOf(view, scope);
        const { items, next } = exchanges.page({
          ...page,
          maxLooked,
          fromMs: query.fromMs,
          isWanted: ({ item }) =>
            (endpoint === undefined || item.endpointId === endpoint.toLowerCase()) &&
            (plane === undefined || item.plane === plane) &&
            isSeen(item) &&
            isInScope(item.endpointId) &&
            query.matches(hide.facts(factsOfExchange(item, failuresOf(item.executionId), recorder.wholeExchange))),
        });
        return {
          requests: items.map(({ seq, item }) => hide.value(shownExchange(item, seq, failuresOf(item.executionId)))),
          total: trafficFor(caller, eyes),
          newest: exchanges.newest,
          run: recorder.run,
          ...(next !== undefined && { next }),
        };
      },
      readRequest({ caller, path: { request_seq: seq } }) {
        const found = /^\d{1,15}$/.test(seq) ? exchanges.at(Number(seq)) : undefined;
        if (!found || !isSeenBy(caller, eyesOf(gate, caller))(found.item))
          throw new PlatformError(404, `request '${seq.slice(0, 64)}' is not among the newest ${exchanges.maxItems}`);
        const { item } = found;
        const shown = shownWholeExchange(recorder.wholeExchange(item), found.seq, failuresOf(item.executionId));
        return hiding(secrets()).value(shown);
      },
    },
    { execution_id: invocationFinder(recorder, view) },
  );
}

/** An invocation, which what is asked of its lambda is asked of: only then it has to be there. */
export function invocationFinder(recorder: Pick<Recorder, 'invocations'>, view: WorldView) {
  return (id: string) => {
    const { item } = getInvocation(recorder, id);
    return {
      get resource() {
        return targetOf({ view }, item.lambdaId, ['lambdas']);
      },
    };
  };
}

function shownBegun({ acceptedAtMs, ...begun }: BegunInvocation): ShownBegun {
  return { ...begun, acceptedAt: new Date(acceptedAtMs).toISOString() };
}

/** @throws PlatformError 400 for a query that cannot be read */
export function readQuery<Facts>(query: Query<Facts>): ReadQuery<Facts> {
  if (query.ok) return query;
  const { message, at } = query.fault;
  throw new PlatformError(400, `q cannot be read at character ${at + 1}: ${message}`);
}
