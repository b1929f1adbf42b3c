import type { Router } from 'express';
import { outboundListRoutes, type RecordedCall } from '../../api/routes/recorded-parts.ts';
import { type OutboundFacts, outboundQuery } from '../../api/routes/recorded-queries.ts';
import { mountRoutes, type RouteGuard } from '../../api/server/mount-routes.ts';
import { visibilityFor } from '../../api/server/visibility.ts';
import { scopeOf } from '../../model/rules/scope.ts';
import type { ByteLog } from '../../storage/records/byte-log.ts';
import type { Placed } from '../../storage/records/record-log.ts';
import { hiding } from './hiding.ts';
import {
  type RecordedCall as Call,
  detailsOf,
  type RecordedInvocation,
  toReferredView,
} from './recorded-invocation.ts';
import type { Recorder } from './recorder.ts';
import { type RecordedData, readQuery } from './recorder-routes.ts';
import { toSearchedText } from './shown-body.ts';

/** Most calls of one invocation that are recorded, and then some: the place of a call is counted within that of its invocation. */
const CALLS_EACH = 4_096;
const MAX_LOOKED = 5_000;
const SEARCHED_CHARACTERS = 16 * 1024;

/** A call among those of all invocations. */
interface PlacedCall {
  /** Grows with time, as those of invocations do. */
  seq: number;
  of: RecordedInvocation;
  call: Call;
}

interface CallPageQuery {
  limit: number;
  /** Only those older than this place. */
  before?: number | undefined;
  /** Only those newer than this place. */
  after?: number | undefined;
  /** Of invocations that ended before that nothing is wanted, epoch milliseconds. */
  fromMs: number;
  /** Of invocations that began later nothing is wanted, epoch milliseconds. */
  toMs: number;
  isOf(one: RecordedInvocation): boolean;
  isWanted(call: PlacedCall): boolean;
}

/** Calls of lambdas, newest first. `next` leads on, as `before`, when older ones may follow. */
function pageOfCalls(
  { invocations, bodies }: Pick<Recorder, 'invocations' | 'bodies'>,
  { limit, before, after = 0, fromMs, toMs, isOf, isWanted }: CallPageQuery,
): { calls: PlacedCall[]; next: number | undefined } {
  const calls: PlacedCall[] = [];
  const { next } = invocations.page({
    limit,
    maxLooked: MAX_LOOKED,
    fromMs,
    toMs,
    before: before === undefined ? undefined : Math.trunc(before / CALLS_EACH) + 1,
    // Of an invocation whose calls are known to a part, the others may be new.
    after: Math.max(0, Math.trunc((after + 1) / CALLS_EACH) - 1),
    isWanted: ({ seq, item }) => {
      // The page is full: what is read beyond it would be thrown away.
      if (calls.length >= limit) return true;
      if (item.outboundCalls === 0 || !isOf(item)) return false;
      const found = callsIn(bodies, { seq, item })
        .filter((call) => call.seq > after && (before === undefined || call.seq < before))
        .filter(isWanted);
      calls.push(...found);
      return found.length > 0;
    },
  });
  if (calls.length < limit) return { calls, next: next === undefined ? undefined : next * CALLS_EACH };
  const page = calls.slice(0, limit);
  return { calls: page, next: page.at(-1)?.seq };
}

/** Place of the newest call that there may be, for `after`. */
function newestCall({ invocations }: Pick<Recorder, 'invocations'>): number {
  return (invocations.newest + 1) * CALLS_EACH - 1;
}

export function callsIn(
  bodies: ByteLog,
  { seq, item }: Placed<RecordedInvocation>,
  details = detailsOf(bodies, item),
): PlacedCall[] {
  const calls = details?.outbound ?? [];
  return calls.map((call, at) => ({ seq: seq * CALLS_EACH + Math.min(at, CALLS_EACH - 1), of: item, call })).reverse();
}

export function factsOfCall(bodies: ByteLog, placed: PlacedCall): OutboundFacts {
  const { request, response } = placed.call;
  const searchedIn = (body: Call['request']) =>
    body ? toSearchedText(toReferredView(bodies, body).text?.slice(0, SEARCHED_CHARACTERS), body.contentType) : '';
  return {
    ...toCallView(placed),
    body: () => [searchedIn(request), searchedIn(response)],
  };
}

function toCallView({ seq, of, call }: PlacedCall): RecordedCall {
  const { executionId, lambdaId, lambdaName } = of;
  const { request, response, ...shown } = call;
  return { seq, executionId, lambdaId, lambdaName, ...shown };
}

export function outboundListRouter(
  { recorder, secrets, nowMs }: Pick<RecordedData, 'recorder' | 'secrets' | 'nowMs'>,
  guard: RouteGuard,
): Router {
  return mountRoutes(outboundListRoutes, guard, {
    listOutboundCalls({ caller, query: { q = '', lambda, scope, ...page } }) {
      const hide = hiding(secrets());
      const query = readQuery(outboundQuery(q, nowMs()));
      const isInScope = scopeOf(guard.view, scope);
      const { sees } = visibilityFor(guard, caller);
      const { calls, next } = pageOfCalls(recorder, {
        ...page,
        fromMs: query.fromMs,
        toMs: query.toMs,
        isOf: ({ lambdaId }) =>
          sees(lambdaId) && (lambda === undefined || lambdaId === lambda.toLowerCase()) && isInScope(lambdaId),
        isWanted: (call) => query.matches(hide.facts(factsOfCall(recorder.bodies, call))),
      });
      return {
        calls: calls.map((call) => hide.value(toCallView(call))),
        newest: newestCall(recorder),
        run: recorder.run,
        ...(next !== undefined && { next }),
      };
    },
  });
}
