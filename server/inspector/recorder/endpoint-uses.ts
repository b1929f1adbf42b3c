import type { EndpointUse } from '../../api/routes/window.ts';
import type { Gateway } from '../../gateway/gateway.ts';
import { timeIfAny, timeOf } from '../../model/iso-time.ts';
import type { StoredResource } from '../../model/record.ts';
import type { Recorder } from './recorder.ts';

/** Returns the number of recorded requests of each endpoint, its newest one, and its rate limit. Endpoints with neither are left out. */
export function endpointUses(
  { exchanges }: Pick<Recorder, 'exchanges'>,
  endpoints: readonly Pick<StoredResource, 'id'>[],
  limits: ReturnType<Gateway['limitUses']>,
): EndpointUse[] {
  const counts = new Map<number, { total: number; last: { at: string; status: number | undefined } }>();
  // The newest is first.
  for (const { group, beganMs, mark } of exchanges.marks()) {
    const count = counts.get(group);
    if (count) count.total += 1;
    else counts.set(group, { total: 1, last: { at: timeOf(beganMs), status: mark || undefined } });
  }
  const limitOf = new Map(limits.map((limit) => [limit.endpointId, limit]));
  return endpoints.flatMap(({ id }) => {
    const [count, limit] = [counts.get(exchanges.groupOf(id)), limitOf.get(id)];
    if (!count && !limit) return [];
    return {
      id,
      total: count?.total ?? 0,
      last: count?.last,
      limit: limit && { perMinute: limit.perMinute, used: limit.used, endsAt: timeIfAny(limit.endsAtMs) },
    };
  });
}
