import type { PlatformRecord } from '../../api/world.ts';
import type { Condition } from '../../parts/state.tsx';

/** The status that the platform gives a container (D-048). */
export function statusOf({ properties }: PlatformRecord): string {
  return typeof properties.status === 'string' ? properties.status : 'UNKNOWN';
}

export function conditionOf(record: PlatformRecord): Condition {
  switch (statusOf(record)) {
    case 'RUNNING':
    case 'HEALTHY':
      return 'ok';
    case 'LAUNCHED':
    case 'SCALING':
    case 'MIGRATING':
      return 'running';
    case 'UNHEALTHY':
      return 'warning';
    case 'LOST':
    case 'FAILED':
      return 'error';
    default:
      return 'idle';
  }
}
