import type { Router } from 'express';
import { lineListRoutes, type RecordedLine } from '../../api/routes/recorded-parts.ts';
import { lineQuery } from '../../api/routes/recorded-queries.ts';
import { mountRoutes, type RouteGuard } from '../../api/server/mount-routes.ts';
import { visibilityFor } from '../../api/server/visibility.ts';
import type { LogLine } from '../../model/invocation.ts';
import { exactTimeOf } from '../../model/iso-time.ts';
import type { StoredResource } from '../../model/record.ts';
import { scopeOf } from '../../model/rules/scope.ts';
import type { Placed } from '../../storage/records/record-log.ts';
import { hiding } from './hiding.ts';
import { traceOfInvocation } from './recorded-invocation.ts';
import { type RecordedData, readQuery } from './recorder-routes.ts';

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

export function lineListRouter(
  { lines, recorder, secrets, nowMs }: Pick<RecordedData, 'lines' | 'recorder' | 'secrets' | 'nowMs'>,
  guard: RouteGuard,
): Router {
  const { view } = guard;
  return mountRoutes(lineListRoutes, guard, {
    listLogLines({ caller, query: { q = '', lambda, scope, ...page } }) {
      const hide = hiding(secrets());
      const query = readQuery(lineQuery(q, nowMs()));
      const isInScope = scopeOf(view, scope);
      const visibility = visibilityFor(guard, caller);
      const seen = view
        .all('lambdas')
        .filter(
          ({ id }) => (lambda === undefined || id === lambda.toLowerCase()) && isInScope(id) && visibility.sees(id),
        );
      const { byGroup, rowOf, factsOf } = linesOf({ lines, recorder }, seen);
      const { items, next } = lines.ring.page({
        ...page,
        maxLooked: MAX_LOOKED,
        fromMs: query.fromMs,
        toMs: query.toMs,
        isWanted: (placed) => byGroup.has(lines.ring.groupAt(placed.seq)) && query.matches(hide.facts(factsOf(placed))),
      });
      return {
        lines: hide.value(items.map(rowOf)),
        newest: lines.ring.newest,
        run: recorder.run,
        ...(next !== undefined && { next }),
      };
    },
  });
}
