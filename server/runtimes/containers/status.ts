import type { JsonObject } from '../../model/json.ts';
import type { StoredResource } from '../../model/record.ts';
import { typeOf } from '../../model/registry.ts';
import type { FailedCheck, Instance } from './engine.ts';
import type { Health } from './health-probe.ts';

export interface ContainerEvent extends JsonObject {
  timestamp: string;
  /** The engine's word, e.g. `start` or `die (exit code 1)`. */
  type: string;
  instance: string;
}

export type Trouble = { kind: 'lost' | 'failed'; reason: string };

export interface ContainerFacts {
  instances: readonly Instance[];
  /** Undefined for instances that have no health checks through their ports, or were not checked yet. */
  healthOf(instanceId: string): Health | undefined;
  /** A sentence, after the name of an instance, about ports on which it does not listen. */
  portComplaintOf(instanceId: string): string | undefined;
  /** A sentence about a running instance that ended shortly before, or lost a process. */
  recentComplaintOf(instance: Instance): string | undefined;
  hasHealthChecks: boolean;
  /** False for a running instance that takes no requests yet, or that is about to be stopped. */
  isUp(instance: Instance): boolean;
  hasRun: boolean;
  trouble: Trouble | undefined;
  events: readonly ContainerEvent[];
}

export function isServing(
  instance: Instance,
  { healthOf, hasHealthChecks }: Pick<ContainerFacts, 'healthOf' | 'hasHealthChecks'>,
): boolean {
  if (instance.state !== 'running') return false;
  const verdict = verdictOn(instance, healthOf);
  return hasHealthChecks || isCheckedByEngine(instance) ? verdict === 'healthy' : verdict !== 'unhealthy';
}

/** Images can have a health command of their own. */
export const isCheckedByEngine = ({ health }: Instance): boolean => health !== 'none';

function failedCheckOf(instance: Instance, healthOf: ContainerFacts['healthOf']): FailedCheck | undefined {
  return instance.failedCheck ?? healthOf(instance.id)?.failedCheck;
}

/** Returns the verdict of an instance's checks: the engine's command, and the probes through its ports. */
export function verdictOn(
  instance: Instance,
  healthOf: ContainerFacts['healthOf'],
): 'healthy' | 'unhealthy' | 'unknown' {
  const probed = healthOf(instance.id)?.verdict;
  if (instance.health === 'unhealthy' || probed === 'unhealthy') return 'unhealthy';
  if (instance.health === 'starting') return 'unknown';
  return instance.health === 'healthy' || probed === 'healthy' ? 'healthy' : 'unknown';
}

/** The live properties of a container (D-048) or job (D-213). */
export function statusOf(record: StoredResource, facts: ContainerFacts): JsonObject {
  const isJob = typeOf(record).collection === 'jobs';
  const visibleInstances = facts.trouble?.kind === 'lost' ? [] : facts.instances;
  const running = visibleInstances.filter(({ state }) => state === 'running');
  const verdicts = running.map((instance) => ({
    verdict: verdictOn(instance, facts.healthOf),
    isFailing: failedCheckOf(instance, facts.healthOf) !== undefined,
  }));
  const unhealthy = verdicts.filter(({ verdict }) => verdict === 'unhealthy').length;
  const status = isJob ? jobStatus(record, facts) : containerStatus(record, facts, running, unhealthy);
  const reason = facts.trouble?.reason ?? complaintOf(facts.instances, facts) ?? capOf(record, facts.instances);
  const image = record.properties.image;
  return {
    status,
    ...(reason !== undefined &&
      status !== 'SUSPENDED' && {
        status_detail: { reason, ...(facts.trouble?.kind === 'failed' && image !== undefined && { image }) },
      }),
    tasks_running: running.length,
    tasks_healthy: verdicts.filter(({ verdict, isFailing }) => verdict === 'healthy' && !isFailing).length,
    // One failed check counts, before there are so many that the status changes.
    tasks_unhealthy: verdicts.filter(({ verdict, isFailing }) => verdict === 'unhealthy' || isFailing).length,
    tasks_staged: visibleInstances.filter(({ state }) => state === 'starting' || state === 'restarting').length,
    instances: running.map(toInstanceView),
    events: [...facts.events],
    service_addresses: [],
  };
}

/** Returns the status of a container. If several fit, the first wins (D-048). The moves report MIGRATING. */
function containerStatus(
  record: StoredResource,
  facts: ContainerFacts,
  running: readonly Instance[],
  unhealthy: number,
): string {
  const requestedInstances = Number(record.properties.num_instances);
  if (requestedInstances === 0) return 'SUSPENDED';
  if (facts.trouble?.kind === 'lost') return 'LOST';
  if (facts.trouble?.kind === 'failed') return 'FAILED';
  if (!facts.hasRun) return 'LAUNCHED';
  if (running.length !== requestedInstances || !running.every(facts.isUp)) return 'SCALING';
  if (!facts.hasHealthChecks && !facts.instances.some(isCheckedByEngine)) return 'RUNNING';
  if (unhealthy > 0) return 'UNHEALTHY';
  return facts.instances.every((instance) => isServing(instance, facts)) ? 'HEALTHY' : 'RUNNING';
}

function jobStatus({ properties }: StoredResource, { instances, trouble }: ContainerFacts): string {
  const requestedInstances = Number(properties.num_instances);
  if (requestedInstances === 0) return 'SUSPENDED';
  if (trouble?.kind === 'lost') return 'LOST';
  if (trouble?.kind === 'failed') return 'FAILED';
  const ended = instances.filter(({ state }) => state === 'exited' || state === 'failed');
  if (ended.some(({ exitCode, state }) => state === 'failed' || exitCode !== 0)) return 'FAILED';
  if (ended.length >= requestedInstances) return 'SUCCEEDED';
  return instances.length > 0 ? 'RUNNING' : 'LAUNCHED';
}

const restartsOf = ({ restarts }: Instance): string =>
  restarts === 0 ? '' : `, after ${restarts} restart${restarts === 1 ? '' : 's'}`;

/** A sentence about a number of CPUs that the engine's machine does not have. */
function capOf({ properties }: StoredResource, instances: readonly Instance[]): string | undefined {
  const [cpus, limit] = [Number(properties.cpus), instances[0]?.cpus];
  if (limit === undefined || cpus <= limit) return undefined;
  return `the container engine has ${limit} CPUs, so an instance gets ${limit} and not ${cpus}`;
}

/** The first reason why one of the instances does not serve as it should. */
export function complaintOf(
  instances: readonly Instance[],
  { healthOf, portComplaintOf, recentComplaintOf }: ContainerFacts,
): string | undefined {
  for (const instance of instances) {
    const { id, state, exitCode, wasKilledForMemory, error } = instance;
    const instanceLabel = `instance ${id.slice(0, 12)}`;
    const isDown = state === 'restarting' || state === 'exited' || state === 'failed';
    if (isDown && wasKilledForMemory)
      return `${instanceLabel} was killed because it exceeded its memory limit. Increase the limit.`;
    if (state === 'starting' && error) return `${instanceLabel} cannot start yet: ${error}`;
    if (isDown && error) return `${instanceLabel} could not start: ${error}`;
    if (isDown && exitCode !== undefined && exitCode !== 0)
      return `${instanceLabel} ended with exit code ${exitCode}${restartsOf(instance)}. See its log.`;
    if (state === 'paused') return `${instanceLabel} is paused. Unpause it in the engine.`;
    if (state === 'restarting')
      return `${instanceLabel} ended by itself and is restarted. The command of a container must keep running.`;
    if (state === 'running' && error) return `${instanceLabel} cannot be reached: ${error}. Restart the container.`;
    const recent = state === 'running' ? recentComplaintOf(instance) : undefined;
    if (recent !== undefined) return recent;
    const ports = state === 'running' ? portComplaintOf(id) : undefined;
    if (ports !== undefined) return `${instanceLabel} ${ports}`;
    const failed = state === 'running' ? failedCheckOf(instance, healthOf) : undefined;
    if (failed)
      return `${instanceLabel} has failed its ${failed.check} since ${new Date(failed.sinceMs).toISOString()}: ${failed.result}`;
  }
  return undefined;
}

export interface InstanceView extends Omit<Instance, 'health' | 'failedCheck' | 'healthLimitMs' | 'cpus'> {
  /** Result of its health checks, the engine's and ours; `none` if it has none. */
  health: 'none' | 'unknown' | 'healthy' | 'unhealthy';
  /** Was it created from the current definition? During a rolling update, the old ones were not. */
  isCurrent: boolean;
}

/** An instance for people, with more than the contract has of it. */
export function toWholeInstanceView(
  instance: Instance,
  { healthOf, hasHealthChecks }: ContainerFacts,
  isCurrent: boolean,
): InstanceView {
  const { failedCheck: _check, healthLimitMs: _limit, cpus: _cpus, ...visibleMembers } = instance;
  const isChecked = hasHealthChecks || instance.health !== 'none';
  return { ...visibleMembers, health: isChecked ? verdictOn(instance, healthOf) : 'none', isCurrent };
}

function toInstanceView(instance: Instance): JsonObject {
  const { id, startedAtMs, ipAddress, addresses } = instance;
  return {
    id,
    host: addresses[0]?.host ?? '127.0.0.1',
    ipAddresses: ipAddress === undefined ? [] : [{ ipAddress, protocol: 'IPv4' }],
    ports: addresses.map(({ port }) => port),
    ...(startedAtMs !== undefined && { startedAt: new Date(startedAtMs).toISOString() }),
  };
}
