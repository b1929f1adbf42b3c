import type { Router } from 'express';
import { recordedRoutes, type StartedView } from '../../api/routes/recorded.ts';
import { exchangeQuery, invocationQuery } from '../../api/routes/recorded-queries.ts';
import { type Handlers, mountRoutes, type RouteGuard, targetOf } from '../../api/server/mount-routes.ts';
import { type Visibility, visibilityFor } from '../../api/server/visibility.ts';
import type { Caller } from '../../model/caller.ts';
import { PlatformError } from '../../model/errors.ts';
import type { LambdaInvoker, StartedInvocation } from '../../model/invocation.ts';
import { exactTimeOf } from '../../model/iso-time.ts';
import type { Query, ReadQuery } from '../../model/query-language.ts';
import type { Uuid, WorldView } from '../../model/record.ts';
import { scopeOf } from '../../model/rules/scope.ts';
import type { HistoryService } from '../../services/history/history-service.ts';
import type { Placed } from '../../storage/records/record-log.ts';
import type { ActivityLog } from './activity-log.ts';
import { hiding } from './hiding.ts';
import type { KeptLines } from './kept-lines.ts';
import { lambdaUse } from './lambda-use.ts';
import { factsOfExchange, type RecordedExchange, toExchangeView, toWholeExchangeView } from './recorded-exchange.ts';
import {
  factsOfInvocation,
  type RecordedInvocation,
  toInvocationView,
  toRecordedView,
  toSummaryView,
} from './recorded-invocation.ts';
import type { Recorder } from './recorder.ts';
import { replay } from './replay.ts';

/** So many requests to the management API are read to count one's own. */
const MAX_OWN_READ = 500;

const maxLooked = 5_000;

/** A recorded invocation. Throws 404. */
export function getInvocation({ invocations }: Pick<Recorder, 'invocations'>, id: string) {
  const found = invocations.find(id.toLowerCase());
  if (found) return found;
  throw notAmong({ invocations }, id);
}

function notAmong({ invocations }: Pick<Recorder, 'invocations'>, id: string): PlatformError {
  const which = `the newest ${invocations.maxItems}, or you do not have permission to view its lambda`;
  return new PlatformError(404, `invocation '${id.slice(0, 64)}' is not among ${which}`);
}

export interface RecordedData {
  recorder: Recorder;
  lines: KeptLines;
  activity: ActivityLog;
  historyService: HistoryService;
  invoker: LambdaInvoker;
  /** Texts to hide in recorded data: the current values of masked variables. */
  secrets(): readonly string[];
  nowMs(): number;
  /** The mock CRM's error message if this invocation sent a rejected form. */
  refusalOf(executionId: Uuid): string | undefined;
}

/** Rows of the lists, and what they can be searched for. */
export function recordedFacts(recorder: Recorder) {
  const { exchanges, bodies } = recorder;
  const rowOf = ({ item, seq }: Placed<RecordedInvocation>) =>
    toSummaryView(item, seq, recorder.statusOf(item.executionId));
  const pathOf = (executionId: Uuid) => () => exchanges.find(executionId)?.item.target ?? '';
  const requestRowOf = ({ item, seq }: Placed<RecordedExchange>) =>
    toExchangeView(item, seq, recorder.failuresOf(item.executionId));
  return {
    rowOf,
    requestRowOf,
    factsOf: (placed: Placed<RecordedInvocation>) =>
      factsOfInvocation(bodies, placed.item, rowOf(placed), pathOf(placed.item.executionId)),
    requestFactsOf: (placed: Placed<RecordedExchange>) => factsOfExchange(bodies, placed.item, requestRowOf(placed)),
  };
}

/** Requests to endpoints that one may view, and one's own to the management API. */
export const isSeenBy =
  (caller: Caller, { sees }: Visibility) =>
  (item: RecordedExchange): boolean =>
    item.endpointId === undefined && item.userId === caller.userId ? true : sees(item.endpointId);

type RouterData = Pick<RecordedData, 'recorder' | 'invoker' | 'secrets' | 'nowMs' | 'refusalOf'>;
type RecordedHandlers = Handlers<typeof recordedRoutes>;

/** Records, newest first. A page can contain fewer than requested, even none, although more pages follow. */
export function recorderRouter(data: RouterData, guard: RouteGuard): Router {
  const handlers = { ...invocationHandlers(data, guard), ...requestHandlers(data, guard) };
  return mountRoutes(recordedRoutes, guard, handlers, { execution_id: invocationFinder(data.recorder, guard.view) });
}

function invocationHandlers(
  { recorder, invoker, secrets, nowMs, refusalOf }: RouterData,
  guard: RouteGuard,
): Pick<RecordedHandlers, 'listInvocations' | 'listLambdaUse' | 'readInvocation' | 'replayInvocation'> {
  const { view } = guard;
  const { invocations, exchanges, bodies } = recorder;
  const { rowOf, factsOf } = recordedFacts(recorder);
  /** An invocation that the caller may view. Throws 404 for all others, as if they did not exist. */
  const getSeen = (caller: Caller, id: string) => {
    const found = getInvocation(recorder, id);
    if (visibilityFor(guard, caller).sees(found.item.lambdaId)) return found;
    throw notAmong(recorder, id);
  };
  /** Number of records that the caller may view. */
  const totalFor = ({ seesAll, sees }: Visibility): number => {
    if (seesAll) return invocations.size;
    const groups = new Set(view.all('lambdas').flatMap(({ id }) => (sees(id) ? invocations.groupOf(id) : [])));
    let seen = 0;
    for (const { group } of invocations.marks()) if (groups.has(group)) seen += 1;
    return seen;
  };

  return {
    listInvocations({ caller, query: { q = '', lambda, scope, ...page } }) {
      const hide = hiding(secrets());
      const query = readQuery(invocationQuery(q, nowMs()));
      const isInScope = scopeOf(view, scope);
      const visibility = visibilityFor(guard, caller);
      const isOf = ({ lambdaId }: { lambdaId: Uuid }) =>
        visibility.sees(lambdaId) && (lambda === undefined || lambdaId === lambda.toLowerCase()) && isInScope(lambdaId);
      const { items, next } = invocations.page({
        ...page,
        maxLooked,
        fromMs: query.fromMs,
        toMs: query.toMs,
        isWanted: (placed) => isOf(placed.item) && query.matches(hide.facts(factsOf(placed))),
      });
      return {
        invocations: items.map((placed) => hide.value(rowOf(placed))),
        running: recorder.running.filter(isOf).map(toStartedView),
        total: totalFor(visibility),
        newest: invocations.newest,
        run: recorder.run,
        ...(next !== undefined && { next }),
      };
    },
    listLambdaUse({ caller }) {
      const { sees } = visibilityFor(guard, caller);
      const lambdas = lambdaUse(recorder, refusalOf).filter(({ lambdaId }) => sees(lambdaId));
      return hiding(secrets()).value({ lambdas });
    },
    readInvocation({ caller, path }) {
      const { item, seq } = getSeen(caller, path.execution_id);
      const exchange = exchanges.find(item.executionId);
      return hiding(secrets()).value({
        seq,
        ...toRecordedView(bodies, item),
        ...(exchange && {
          request: toWholeExchangeView(bodies, exchange.item, exchange.seq, item.outboundFailures),
        }),
      });
    },
    async replayInvocation({ caller, path, body, req }) {
      const { item } = getInvocation(recorder, path.execution_id);
      const creds = req.headers.authorization ?? '';
      const invocation = await replay({ recorder, invoker }, item, { caller, creds }, body);
      return hiding(secrets()).value({ ...toInvocationView(invocation), replayOf: item.executionId });
    },
  };
}

function requestHandlers(
  { recorder, secrets, nowMs }: RouterData,
  guard: RouteGuard,
): Pick<RecordedHandlers, 'listTraffic' | 'readRequest'> {
  const { view } = guard;
  const { exchanges, bodies } = recorder;
  const { requestRowOf, requestFactsOf } = recordedFacts(recorder);
  /**
   * Number of requests that the caller may view; of their own ones to the management API, only the newest are counted, because they have no
   * index.
   */
  const trafficFor = (caller: Caller, visibility: Visibility): number => {
    if (visibility.seesAll) return exchanges.size;
    const groups = new Set(
      view.all('apiendpoints').flatMap(({ id }) => (visibility.sees(id) ? exchanges.groupOf(id) : [])),
    );
    const ofNone = exchanges.groupOf('');
    const isSeen = isSeenBy(caller, visibility);
    let [seen, read] = [0, 0];
    for (const { seq, group } of exchanges.marks()) {
      if (groups.has(group)) seen += 1;
      else if (group === ofNone && read < MAX_OWN_READ) {
        read += 1;
        const found = exchanges.at(seq);
        if (found && isSeen(found.item)) seen += 1;
      }
    }
    return seen;
  };

  return {
    listTraffic({ caller, query: { q = '', endpoint, plane, scope, ...page } }) {
      const hide = hiding(secrets());
      const query = readQuery(exchangeQuery(q, nowMs()));
      const visibility = visibilityFor(guard, caller);
      const isSeen = isSeenBy(caller, visibility);
      const isInScope = scopeOf(view, scope);
      const { items, next } = exchanges.page({
        ...page,
        maxLooked,
        fromMs: query.fromMs,
        toMs: query.toMs,
        isWanted: ({ item, seq }) =>
          (endpoint === undefined || item.endpointId === endpoint.toLowerCase()) &&
          (plane === undefined || item.plane === plane) &&
          isSeen(item) &&
          isInScope(item.endpointId) &&
          query.matches(hide.facts(requestFactsOf({ item, seq }))),
      });
      return {
        requests: items.map((placed) => hide.value(requestRowOf(placed))),
        total: trafficFor(caller, visibility),
        newest: exchanges.newest,
        run: recorder.run,
        ...(next !== undefined && { next }),
      };
    },
    readRequest({ caller, path: { request_seq: seq } }) {
      const found = /^\d{1,15}$/.test(seq) ? exchanges.at(Number(seq)) : undefined;
      if (!found || !isSeenBy(caller, visibilityFor(guard, caller))(found.item))
        throw new PlatformError(404, `request '${seq.slice(0, 64)}' is not among the newest ${exchanges.maxItems}`);
      const { item } = found;
      const shown = toWholeExchangeView(bodies, item, found.seq, recorder.failuresOf(item.executionId));
      return hiding(secrets()).value(shown);
    },
  };
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

function toStartedView({ executionId, lambdaId, lambdaName, trigger, acceptedAtMs }: StartedInvocation): StartedView {
  return { executionId, lambdaId, lambdaName, trigger, acceptedAt: exactTimeOf(acceptedAtMs) };
}

/** @throws PlatformError 400 for a query that cannot be read */
export function readQuery<Facts>(query: Query<Facts>): ReadQuery<Facts> {
  if (query.ok) return query;
  const { message, at } = query.fault;
  throw new PlatformError(400, `q cannot be read at character ${at + 1}: ${message}`);
}
