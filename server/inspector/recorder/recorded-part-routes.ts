import type { Router } from 'express';
import { lineListRoutes, outboundListRoutes, type RecordedCall, type RecordedLine } from '../../api/routes/recorded.ts';
import { isWarnedQuery, lineQuery, type OutboundFacts, outboundQuery } from '../../api/routes/recorded-queries.ts';
import { mountRoutes, type RouteGuard } from '../../api/server/mount-routes.ts';
import type { LogLine } from '../../model/invocation.ts';
import { exactTimeOf } from '../../model/iso-time.ts';
import type { StoredResource } from '../../model/record.ts';
import type { ByteLog } from '../../storage/records/byte-log.ts';
import type { Placed } from '../../storage/records/record-log.ts';
import {
  type RecordedCall as Call,
  detailsOf,
  mayBeWarnedKind,
  outboundCallsOfKind,
  type RecordedInvocation,
  toReferredView,
  traceOfInvocation,
} from './recorded-invocation.ts';
import { MAX_LOOKED, pageOf, type RecordedData, readingFor, readQuery } from './recorder-routes.ts';
import { toSearchedText } from './shown-body.ts';

/** Lines are shorter than other records. */
const MAX_LOOKED_LINES = 20_000;
/** Most calls of one invocation that are recorded, and then some: the place of a call is counted within that of its invocation. */
const CALLS_EACH = 4_096;
const SEARCHED_CHARACTERS = 16 * 1024;

/** A call among those of all invocations. */
interface PlacedCall {
  /** Grows with time, as those of invocations do. */
  seq: number;
  invocation: RecordedInvocation;
  call: Call;
}

export function callsIn(
  bodies: ByteLog,
  { seq, item }: Placed<RecordedInvocation>,
  details = detailsOf(bodies, item),
): PlacedCall[] {
  const calls = details?.outbound ?? [];
  return calls
    .map((call, at) => ({ seq: seq * CALLS_EACH + Math.min(at, CALLS_EACH - 1), invocation: item, call }))
    .reverse();
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

function toCallView({ seq, invocation, call }: PlacedCall): RecordedCall {
  const { executionId, lambdaId, lambdaName } = invocation;
  const { request, response, ...callSummary } = call;
  return { seq, executionId, lambdaId, lambdaName, ...callSummary };
}

export function outboundListRouter(data: RecordedData, guard: RouteGuard): Router {
  const { invocations, bodies } = data.recorder;
  return mountRoutes(outboundListRoutes, guard, {
    listOutboundCalls({
      caller,
      query: { q = '', lambda, scope, limit, before = Number.POSITIVE_INFINITY, after = 0 },
    }) {
      const { hide, isWanted } = readingFor(data, guard, caller, { scope, onlyId: lambda });
      const { matches, fromMs, toMs } = readQuery(outboundQuery(q, data.nowMs()));
      const calls: PlacedCall[] = [];
      const { next } = invocations.page({
        ...{ limit, fromMs, toMs, maxLooked: MAX_LOOKED },
        before: Math.trunc(before / CALLS_EACH) + 1,
        // Of an invocation whose calls are known to a part, the others may be new.
        after: Math.max(0, Math.trunc((after + 1) / CALLS_EACH) - 1),
        isWantedKind: isWarnedQuery(q) ? mayBeWarnedKind : (kind) => outboundCallsOfKind(kind) > 0,
        isWanted: (placed) => {
          // The page is full: what is read beyond it would be thrown away.
          if (calls.length >= limit) return true;
          if (!isWanted(placed.item.lambdaId)) return false;
          const matchingCalls = callsIn(bodies, placed)
            .filter(({ seq }) => seq > after && seq < before)
            .filter((call) => matches(hide.facts(factsOfCall(bodies, call))));
          calls.push(...matchingCalls);
          return matchingCalls.length > 0;
        },
      });
      return {
        calls: calls.slice(0, limit).map((call) => hide.value(toCallView(call))),
        // The place of the newest call that there may be.
        newest: (invocations.newest + 1) * CALLS_EACH - 1,
        run: data.recorder.run,
        next: calls.length < limit ? next && next * CALLS_EACH : calls[limit - 1]?.seq,
      };
    },
  });
}

export function linesOf(
  { lines: { ring }, recorder }: Pick<RecordedData, 'lines' | 'recorder'>,
  lambdas: readonly Pick<StoredResource, 'id' | 'name'>[],
) {
  const byGroup = new Map(lambdas.map((lambda) => [ring.groupOf(lambda.id), lambda]));
  const traceOf = (executionId: string | undefined) => {
    const call = executionId === undefined ? undefined : recorder.invocations.find(executionId)?.item;
    return call && traceOfInvocation(call);
  };
  const rowOf = ({ seq, item: { atMs, ...line } }: Placed<LogLine>): RecordedLine => {
    const { name = '', id = '' } = byGroup.get(ring.groupAt(seq)) ?? {};
    return { seq, at: exactTimeOf(atMs), ...line, lambdaId: id, lambdaName: name };
  };
  const factsOf = (placed: Placed<LogLine>) => {
    const row = rowOf(placed);
    return { ...row, beganMs: Date.parse(row.at), trace: () => traceOf(row.executionId) };
  };
  return { byGroup, rowOf, factsOf };
}

export function lineListRouter(data: RecordedData, guard: RouteGuard): Router {
  const { ring } = data.lines;
  return mountRoutes(lineListRoutes, guard, {
    listLogLines({ caller, query: { q = '', lambda, scope, ...page } }) {
      const { hide, isWanted } = readingFor(data, guard, caller, { scope, onlyId: lambda });
      const { matches, fromMs, toMs } = readQuery(lineQuery(q, data.nowMs()));
      const visibleLambdas = guard.view.all('lambdas').filter(({ id }) => isWanted(id));
      const { byGroup, rowOf, factsOf } = linesOf(data, visibleLambdas);
      const { items, ...pagePosition } = pageOf(data.recorder, ring, {
        ...{ ...page, fromMs, toMs, maxLooked: MAX_LOOKED_LINES },
        isWanted: (placed) => byGroup.has(ring.groupAt(placed.seq)) && matches(hide.facts(factsOf(placed))),
      });
      return { lines: hide.value(items.map(rowOf)), ...pagePosition };
    },
  });
}
