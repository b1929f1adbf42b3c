import type { Router } from 'express';
import { lineListRoutes, type RecordedLine } from '../../api/routes/recorded-parts.ts';
import { lineQuery } from '../../api/routes/recorded-queries.ts';
import { mountRoutes, type RouteGuard } from '../../api/server/mount-routes.ts';
import type { LogLine } from '../../model/invocation.ts';
import { exactTimeOf } from '../../model/iso-time.ts';
import type { StoredResource } from '../../model/record.ts';
import type { Placed } from '../../storage/records/record-log.ts';
import { traceOfInvocation } from './recorded-invocation.ts';
import { pageOf, type RecordedData, readingFor, readQuery } from './recorder-routes.ts';

const MAX_LOOKED = 20_000;

export function linesOf(
  { lines: { ring }, recorder }: Pick<RecordedData, 'lines' | 'recorder'>,
  lambdas: readonly Pick<StoredResource, 'id' | 'name'>[],
) {
  const byGroup = new Map(lambdas.map((one) => [ring.groupOf(one.id), one]));
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
      const { hide, isWanted } = readingFor(data, guard, caller, { scope, only: lambda });
      const { matches, fromMs, toMs } = readQuery(lineQuery(q, data.nowMs()));
      const seen = guard.view.all('lambdas').filter(({ id }) => isWanted(id));
      const { byGroup, rowOf, factsOf } = linesOf(data, seen);
      const { items, ...places } = pageOf(data.recorder, ring, {
        ...{ ...page, fromMs, toMs, maxLooked: MAX_LOOKED },
        isWanted: (placed) => byGroup.has(ring.groupAt(placed.seq)) && matches(hide.facts(factsOf(placed))),
      });
      return { lines: hide.value(items.map(rowOf)), ...places };
    },
  });
}
