import type { Router } from 'express';
import { type LambdaUse, recordedRoutes, type StartedView } from '../../api/routes/recorded.ts';
import { exchangeQuery, invocationQuery } from '../../api/routes/recorded-queries.ts';
import { type Handlers, mountRoutes, type RouteGuard, targetOf } from '../../api/server/mount-routes.ts';
import { type Visibility, visibilityFor } from '../../api/server/visibility.ts';
import type { Caller } from '../../model/caller.ts';
import { PlatformError } from '../../model/errors.ts';
import type { LambdaInvoker, StartedInvocation } from '../../model/invocation.ts';
import { exactTimeOf } from '../../model/iso-time.ts';
import type { OutboundRule } from '../../model/outbound-rule.ts';
import type { Query, ReadQuery } from '../../model/query-language.ts';
import type { StoredResource, Uuid, WorldView } from '../../model/record.ts';
import { scopeOf } from '../../model/rules/hierarchy.ts';
import { masked } from '../../model/rules/mask.ts';
import type { HistoryService } from '../../services/history/history-service.ts';
import type { PageQuery, Placed, RecordLog } from '../../storage/records/record-log.ts';
import type { ActivityLog } from './activity-log.ts';
import { failureText } from './failure-runs.ts';
import type { KeptLines } from './kept-lines.ts';
import { factsOfExchange, type RecordedExchange, toExchangeView, toWholeExchangeView } from './recorded-exchange.ts';
import {
  factsOfInvocation,
  isFailedMark,
  type RecordedInvocation,
  toInvocationView,
  toRecordedView,
  toSummaryView,
} from './recorded-invocation.ts';
import type { Recorder } from './recorder.ts';
import { replay } from './replay.ts';

/** Maximum number of requests to the management API, which have no index, that are read to count the caller's own. */
const MAX_OWN_READ = 500;

/** Maximum number of records of a list that are checked for one page. */
export const MAX_LOOKED = 5_000;

/** A recorded invocation. Throws 404, also for those of lambdas that the caller may not view. */
export function getInvocation(
  { invocations }: Pick<Recorder, 'invocations'>,
  id: string,
  sees: (lambdaId: Uuid) => boolean = () => true,
) {
  const found = invocations.find(id.toLowerCase());
  if (found && sees(found.item.lambdaId)) return found;
  const excluded = `the newest ${invocations.maxItems}, or you do not have permission to view its lambda`;
  throw new PlatformError('not_found', `invocation '${id.slice(0, 64)}' is not among ${excluded}`);
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
  /** The current outbound rules. */
  rules(): readonly OutboundRule[];
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
  (caller: Caller, sees: Visibility['sees']) =>
  (item: RecordedExchange): boolean =>
    item.endpointId === undefined && item.userId === caller.userId ? true : sees(item.endpointId);

/** Removes secrets, also as JSON and forms write them, from the shown and the searched text. */
function hiding(secrets: readonly string[]) {
  const written = secrets.flatMap((secret) => [
    secret,
    JSON.stringify(secret).slice(1, -1),
    encodeURIComponent(secret),
    new URLSearchParams([['', secret]]).toString().slice(1),
  ]);
  const isNone = written.length === 0;
  const value = <T>(item: T): T => (isNone ? item : masked(item, written));
  return {
    value,
    /** Texts that are worked out when they are asked for stay so. */
    facts<T extends object>(facts: T): T {
      if (isNone) return facts;
      const hidden = Object.entries(facts).map(([name, fact]) => [
        name,
        typeof fact === 'function' ? () => value(fact()) : value(fact),
      ]);
      return Object.fromEntries(hidden) as T; // each fact is of its own type still
    },
  };
}

/** Returns what one caller may see, with secrets hidden, of the resources in `scope`, or only of the one with `onlyId`. */
export function readingFor(
  { secrets }: Pick<RecordedData, 'secrets'>,
  guard: RouteGuard,
  caller: Caller,
  { scope, onlyId }: { scope?: Uuid | undefined; onlyId?: Uuid | undefined } = {},
) {
  const { seesAll, sees } = visibilityFor(guard, caller);
  const isInScope = scopeOf(guard.view, scope);
  const isAsked = (id: Uuid | undefined) => (onlyId === undefined || id === onlyId.toLowerCase()) && isInScope(id);
  const isWanted = (id: Uuid | undefined) => isAsked(id) && sees(id);
  return { hide: hiding(secrets()), seesAll, sees, isAsked, isWanted };
}

/** A page of a list, with the places that lead on. */
export function pageOf<T>(
  { run }: Pick<Recorder, 'run'>,
  log: RecordLog<T>,
  page: Omit<PageQuery<T>, 'maxLooked'> & { maxLooked?: number },
) {
  return { ...log.page({ maxLooked: MAX_LOOKED, ...page }), newest: log.newest, run };
}

/** Number of records that a caller may view: by their resources, and of those that have none the newest that are the caller's own. */
function countOf<T>(
  log: RecordLog<T>,
  owners: readonly StoredResource[],
  { seesAll, sees }: Visibility,
  isOwn: (item: T) => boolean = () => false,
): number {
  if (seesAll) return log.size;
  const groups = new Set(owners.flatMap(({ id }) => (sees(id) ? log.groupOf(id) : [])));
  const ofNone = log.groupOf('');
  let [count, read] = [0, 0];
  for (const { seq, group } of log.marks()) {
    if (groups.has(group)) count += 1;
    else if (group === ofNone && read++ < MAX_OWN_READ) {
      const found = log.at(seq);
      if (found && isOwn(found.item)) count += 1;
    }
  }
  return count;
}

interface LambdaCount {
  calls: number;
  failed: number;
  lastSeq: number;
  lastFailedSeq: number | undefined;
}

/** Recent results of each lambda, counted from the index so that few records are read. */
function lambdaUse(
  { invocations, bodies }: Pick<Recorder, 'invocations' | 'bodies'>,
  refusalOf: (executionId: string) => string | undefined,
): LambdaUse[] {
  const counts = new Map<number, LambdaCount>();
  for (const { seq, group, mark } of invocations.marks()) {
    const isFailed = isFailedMark(mark);
    const count = counts.get(group) ?? { calls: 0, failed: 0, lastSeq: seq, lastFailedSeq: undefined };
    count.calls += 1;
    count.failed += isFailed ? 1 : 0;
    if (isFailed) count.lastFailedSeq ??= seq;
    counts.set(group, count);
  }
  return [...counts.values()].flatMap(({ calls, failed, lastSeq, lastFailedSeq }) => {
    const last = invocations.at(lastSeq)?.item;
    // The file of a record may be damaged.
    if (!last) return [];
    const failure = lastFailedSeq === undefined ? undefined : invocations.at(lastFailedSeq)?.item;
    return {
      lambdaId: last.lambdaId,
      calls,
      failed,
      last: { executionId: last.executionId, at: last.acceptedAt },
      lastFailure: failure && {
        executionId: failure.executionId,
        at: failure.acceptedAt,
        text: failureText(bodies, failure, refusalOf(failure.executionId)),
      },
    };
  });
}

/** Records, newest first. A page can contain fewer than requested, even none, although more pages follow. */
export function recorderRouter(data: RecordedData, guard: RouteGuard): Router {
  const { recorder, invoker, secrets, nowMs, refusalOf } = data;
  const { view } = guard;
  const { invocations, exchanges, bodies } = recorder;
  const { rowOf, factsOf, requestRowOf, requestFactsOf } = recordedFacts(recorder);
  const handlers: Handlers<typeof recordedRoutes> = {
    listInvocations({ caller, query: { q = '', lambda, scope, ...page } }) {
      const { hide, isWanted, ...visibility } = readingFor(data, guard, caller, { scope, onlyId: lambda });
      const isOf = ({ lambdaId }: { lambdaId: Uuid }) => isWanted(lambdaId);
      const { matches, fromMs, toMs } = readQuery(invocationQuery(q, nowMs()));
      const { items, ...pagePosition } = pageOf(recorder, invocations, {
        ...{ ...page, fromMs, toMs },
        isWanted: (placed) => isOf(placed.item) && matches(hide.facts(factsOf(placed))),
      });
      return {
        invocations: items.map((placed) => hide.value(rowOf(placed))),
        running: recorder.running.filter(isOf).map(toStartedView),
        total: countOf(invocations, view.all('lambdas'), visibility),
        ...pagePosition,
      };
    },
    listLambdaUse({ caller }) {
      const { hide, sees } = readingFor(data, guard, caller);
      return hide.value({ lambdas: lambdaUse(recorder, refusalOf).filter(({ lambdaId }) => sees(lambdaId)) });
    },
    readInvocation({ caller, path }) {
      const { hide, sees } = readingFor(data, guard, caller);
      const { item, seq } = getInvocation(recorder, path.execution_id, sees);
      const exchange = exchanges.find(item.executionId);
      return hide.value({
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
    listTraffic({ caller, query: { q = '', endpoint, plane, scope, ...page } }) {
      const { hide, isAsked, ...visibility } = readingFor(data, guard, caller, { scope, onlyId: endpoint });
      const isSeen = isSeenBy(caller, visibility.sees);
      const { matches, fromMs, toMs } = readQuery(exchangeQuery(q, nowMs()));
      const { items, ...pagePosition } = pageOf(recorder, exchanges, {
        ...{ ...page, fromMs, toMs },
        isWanted: (placed) =>
          (plane === undefined || placed.item.plane === plane) &&
          isSeen(placed.item) &&
          isAsked(placed.item.endpointId) &&
          matches(hide.facts(requestFactsOf(placed))),
      });
      return {
        requests: items.map((placed) => hide.value(requestRowOf(placed))),
        total: countOf(exchanges, view.all('apiendpoints'), visibility, isSeen),
        ...pagePosition,
      };
    },
    readRequest({ caller, path: { request_seq: seq } }) {
      const { hide, sees } = readingFor(data, guard, caller);
      const found = /^\d{1,15}$/.test(seq) ? exchanges.at(Number(seq)) : undefined;
      if (!found || !isSeenBy(caller, sees)(found.item))
        throw new PlatformError(
          'not_found',
          `request '${seq.slice(0, 64)}' is not among the newest ${exchanges.maxItems}`,
        );
      const { item } = found;
      return hide.value(toWholeExchangeView(bodies, item, found.seq, recorder.failuresOf(item.executionId)));
    },
  };
  return mountRoutes(recordedRoutes, guard, handlers, { execution_id: invocationFinder(recorder, view) });
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
  throw new PlatformError('invalid_query', `q cannot be read at character ${at + 1}: ${message}`);
}
