import type { RecordedRequest } from '../../api/traffic.ts';
import type { PlatformRecord } from '../../api/world.ts';

const WINDOW_MS = 60_000;

/** How many requests each endpoint had within the last minute, without those that its limit refused. */
export function recentCounts(requests: readonly RecordedRequest[], nowMs: number): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { at, endpointId, status } of requests) {
    // The newest come first.
    if (nowMs - Date.parse(at) > WINDOW_MS) break;
    if (endpointId !== undefined && status !== 429) counts.set(endpointId, (counts.get(endpointId) ?? 0) + 1);
  }
  return counts;
}

/** Requests a minute that an endpoint lets through; undefined when it has no limit. */
export function limitOf({ properties }: PlatformRecord): number | undefined {
  const limit = memberOf(memberOf(properties, 'plugins'), 'rateLimit');
  const perMinute = memberOf(limit, 'perMinute');
  return memberOf(limit, 'enabled') === true && typeof perMinute === 'number' ? perMinute : undefined;
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && name in value
    ? (value as Record<string, unknown>)[name]
    : undefined; // an object, see above
}
