import { memberOf } from '../../../../server/model/json.ts';
import { kindOf } from '../../api/resource-kinds.ts';
import type { PlatformRecord } from '../../api/world.ts';
import type { Condition } from '../../components/state.tsx';

/** The status that the platform gives a container (D-048) or job (D-213). */
export function statusOf({ properties }: PlatformRecord): string {
  return typeof properties.status === 'string' ? properties.status : 'UNKNOWN';
}

export function conditionOf(record: PlatformRecord): Condition {
  const status = statusOf(record);
  return status === 'RUNNING' && isJob(record) ? 'running' : conditionOfStatus(status);
}

/** How a container is that has this status. */
export function conditionOfStatus(status: string): Condition {
  switch (status) {
    case 'RUNNING':
    case 'HEALTHY':
    case 'SUCCEEDED':
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

export const isJob = (record: PlatformRecord) => kindOf(record).word === 'jobs';

/** How many instances run now. */
export const runningOf = ({ properties }: PlatformRecord) => numberIn(properties.tasks_running) ?? 0;

/** How many instances are asked for. */
export const requestedInstances = ({ properties }: PlatformRecord) => numberIn(properties.num_instances) ?? 1;

const ACTIVE_STATES = ['LAUNCHED', 'SCALING', 'MIGRATING', 'RUNNING', 'HEALTHY', 'UNHEALTHY'];

/** Does it run, or is it about to? The others are stopped, have ended, or cannot run. */
export function isUp(record: PlatformRecord): boolean {
  return runningOf(record) > 0 || ACTIVE_STATES.includes(statusOf(record));
}

/** Why it is not as it should be, in the platform's words. */
export function reasonOf({ properties }: PlatformRecord): string | undefined {
  const reason = memberOf(properties.status_detail, 'reason');
  return typeof reason === 'string' ? reason : undefined;
}

/** What new instances in place of the old ones are called: there may be no old ones, or they may have ended as they should. */
export function restartWord(record: PlatformRecord): string {
  if (isJob(record)) return 'Run again';
  return runningOf(record) === 0 && conditionOf(record) === 'error' ? 'Try again' : 'Restart';
}

/** What one instance may use: a share of a core, and bytes of memory. */
export function limitsOf({ properties }: PlatformRecord): { cpus: number; memoryBytes: number } {
  return { cpus: numberIn(properties.cpus) ?? 1, memoryBytes: (numberIn(properties.memory) ?? 0) * 1024 * 1024 };
}

const numberIn = (value: unknown) => (typeof value === 'number' ? value : undefined);
