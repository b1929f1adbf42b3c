import { memberOf } from '../../../../server/model/json.ts';
import { kindOf } from '../../api/resource-kinds.ts';
import type { PlatformRecord } from '../../api/use-world.ts';
import type { Condition } from '../../components/state.tsx';

/** The status that the platform gives a container (D-048) or job (D-213). */
export function statusOf({ properties }: PlatformRecord): string {
  return typeof properties.status === 'string' ? properties.status : 'UNKNOWN';
}

/** The status in the words of the actions: what **Stop** does is `SUSPENDED` only in the API. */
export function statusWord(status: string): string {
  return status === 'SUSPENDED' ? 'stopped' : status.toLowerCase();
}

export function conditionOf(record: PlatformRecord): Condition {
  const status = statusOf(record);
  return status === 'RUNNING' && isJob(record) ? 'running' : conditionOfStatus(status);
}

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

export const isJob = (record: PlatformRecord) => kindOf(record).collection === 'jobs';

export const runningOf = ({ properties }: PlatformRecord) => numberIn(properties.tasks_running) ?? 0;

export const requestedInstances = ({ properties }: PlatformRecord) => numberIn(properties.num_instances) ?? 1;

const ACTIVE_STATES = ['LAUNCHED', 'SCALING', 'MIGRATING', 'RUNNING', 'HEALTHY', 'UNHEALTHY'];

/** Returns true if the container runs or is about to. Other containers are stopped, have ended, or cannot run. */
export function isUp(record: PlatformRecord): boolean {
  return runningOf(record) > 0 || ACTIVE_STATES.includes(statusOf(record));
}

/** Returns why a container is not as it should be, or how it differs from its record, in the platform's words. */
export function reasonOf({ properties }: PlatformRecord): string | undefined {
  const reason = memberOf(properties.status_detail, 'reason');
  return typeof reason === 'string' ? reason : undefined;
}

/** Returns the label of the action that replaces the instances. There may be no old instances, or they may have ended as they should. */
export function restartWord(record: PlatformRecord): string {
  if (isJob(record)) return 'Run again';
  return runningOf(record) === 0 && conditionOf(record) === 'error' ? 'Try again' : 'Restart';
}

/** Returns the limit of one instance: cores, which may be a fraction. */
export function limitsOf({ properties }: PlatformRecord): { cpus: number } {
  return { cpus: numberIn(properties.cpus) ?? 1 };
}

const numberIn = (value: unknown) => (typeof value === 'number' ? value : undefined);
