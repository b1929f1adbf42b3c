import type { RecordedCall } from '../contract/recorded-parts.ts';
import type { OutboundBody } from '../model/invocation.ts';
import type { OutboundFacts } from '../model/recorded-part-queries.ts';
import type { OutboundPlace, RecordedInvocation } from './recorded-invocation.ts';
import type { Recorder } from './recorder.ts';
import { shownTarget, shownWireBody } from './shown-body.ts';
import { tenthsBetween, timeOf } from './shown-invocation.ts';

/** Most calls of one invocation that are recorded, and then some: the place of a call is counted within that of its invocation. */
const CALLS_EACH = 4_096;
/** So many invocations are looked through for one answer; the reader goes on at `next`. */
const MAX_LOOKED = 5_000;
/** So much of a body is looked through for words. */
const SEARCHED_CHARACTERS = 16 * 1024;

/** A call among those of all invocations. */
export interface PlacedCall {
  /** Grows with time, as those of invocations do. */
  seq: number;
  of: RecordedInvocation;
  place: OutboundPlace;
}

export interface CallPageQuery {
  limit: number;
  /** Only those older than this place. */
  before?: number | undefined;
  /** Only those newer than this place. */
  after?: number | undefined;
  /** Of invocations that ended before that nothing is wanted, epoch milliseconds. */
  fromMs: number;
  isOf(one: RecordedInvocation): boolean;
  isWanted(call: PlacedCall): boolean;
}

/** Calls of lambdas, newest first. `next` leads on, as `before`, when older ones may follow. */
export function pageOfCalls(
  { invocations, outboundOf }: Pick<Recorder, 'invocations' | 'outboundOf'>,
  { limit, before, after = 0, fromMs, isOf, isWanted }: CallPageQuery,
): { calls: PlacedCall[]; next: number | undefined } {
  const calls: PlacedCall[] = [];
  const { next } = invocations.page({
    limit,
    maxLooked: MAX_LOOKED,
    fromMs,
    before: before === undefined ? undefined : Math.floor(before / CALLS_EACH) + 1,
    // Of an invocation whose calls are known to a part, the others may be new.
    after: Math.max(0, Math.floor((after + 1) / CALLS_EACH) - 1),
    isWanted: ({ seq, item }) => {
      // The page is full: what is read beyond it would be thrown away.
      if (calls.length >= limit) return true;
      if (item.outboundCalls === 0 || !isOf(item)) return false;
      const found = callsIn(outboundOf(item), item, seq * CALLS_EACH)
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
export function newestCall({ invocations }: Pick<Recorder, 'invocations'>): number {
  return (invocations.newest + 1) * CALLS_EACH - 1;
}

function callsIn(places: readonly OutboundPlace[], of: RecordedInvocation, from: number): PlacedCall[] {
  return places.map((place, at) => ({ seq: from + Math.min(at, CALLS_EACH - 1), of, place })).reverse();
}

export function factsOfCall({ of, place: { call, whole } }: PlacedCall): OutboundFacts {
  return {
    atMs: call.startedAtMs,
    method: call.method,
    url: shownTarget(call.url),
    status: call.status,
    error: call.error,
    durationMs: call.durationMs,
    lambdaName: of.lambdaName,
    lambdaId: of.lambdaId,
    executionId: of.executionId,
    traceId: call.traceId,
    rules: call.rules?.map(({ text }) => text) ?? [],
    caughtBy: call.caughtBy,
    body: () => {
      const { request, response } = whole();
      return [searchedIn(request), searchedIn(response)];
    },
  };
}

/** The beginning of a body as it is shown: whoever searches finds nothing that is hidden from him. */
function searchedIn(body: OutboundBody | undefined): string {
  return (body && shownWireBody(body).text?.slice(0, SEARCHED_CHARACTERS)) ?? '';
}

/** One row of the list. */
export function shownCall({ seq, of, place: { call } }: PlacedCall): RecordedCall {
  const { startedAtMs, durationMs, url, rules, method, status, error, traceId, caughtBy } = call;
  return {
    seq,
    executionId: of.executionId,
    lambdaId: of.lambdaId,
    lambdaName: of.lambdaName,
    startedAt: timeOf(startedAtMs),
    method,
    url: shownTarget(url),
    durationMs: tenthsBetween(0, durationMs),
    ...(status !== undefined && { status }),
    ...(error !== undefined && { error }),
    ...(traceId !== undefined && { traceId }),
    ...(caughtBy && { caughtBy }),
    ...(rules && { rules: rules.map((rule) => ({ ...rule })) }),
  };
}
