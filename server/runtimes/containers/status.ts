import type { JsonObject } from '../../model/json.ts';
import type { StoredResource } from '../../model/record.ts';
import { typeOf } from '../../model/registry.ts';
import type { Instance } from './engine.ts';
import type { EngineState } from './engine-connection.ts';
import type { Health } from './probe-health.ts';

export interface ContainerEvent extends JsonObject {
  timestamp: string;
  /** The engine's word, e.g. `start` or `die (exit code 1)`. */
  type: string;
  instance: string;
}

export type Trouble = { kind: 'lost' | 'failed'; reason: string };

export function lostTo(engine: EngineState | undefined): Trouble | undefined {
  return engine && 'reason' in engine ? { kind: 'lost', reason: engine.reason } : undefined;
}

/** The facts about an instance that the engine does not report. */
export interface InstanceFacts {
  /** True if its definition or its image has health checks. */
  isChecked: boolean;
  /** Undefined if it has no health checks through its ports, or was not checked yet. */
  health?: Health | undefined;
  /** A sentence, after the name of the instance, about ports on which it does not listen. */
  portComplaint?: string | undefined;
  /** A sentence about a running instance that ended shortly before, or lost a process. */
  recentComplaint?: string | undefined;
  /** True if the engine started it again a short time ago: it may be in a crash loop. */
  hasJustRestarted: boolean;
  /** False while it takes no requests yet, is about to be stopped, or has an older definition. */
  isUp: boolean;
}

export interface ContainerFacts {
  instances: readonly Instance[];
  factsOf(instance: Instance): InstanceFacts;
  hasRun: boolean;
  trouble: Trouble | undefined;
  /** Sentences about what runs in another way than its record says. */
  notes: readonly string[];
  events: readonly ContainerEvent[];
}

export function isServing(instance: Instance, { isChecked, health }: InstanceFacts): boolean {
  if (instance.state !== 'running') return false;
  const verdict = verdictOn(instance, health);
  return isChecked ? verdict === 'healthy' : verdict !== 'unhealthy';
}

/** Images can have a health command of their own. */
export const isCheckedByEngine = ({ health }: Instance): boolean => health !== 'none';

/** Returns the verdict of an instance's checks: the engine's command, and the probes through its ports. */
export function verdictOn(instance: Instance, health: Health | undefined): 'healthy' | 'unhealthy' | 'unknown' {
  const probed = health?.verdict;
  if (instance.health === 'unhealthy' || probed === 'unhealthy') return 'unhealthy';
  if (instance.health === 'starting') return 'unknown';
  return instance.health === 'healthy' || probed === 'healthy' ? 'healthy' : 'unknown';
}

/** The live properties of a container (D-048) or job (D-213). */
export function statusOf(record: StoredResource, facts: ContainerFacts): JsonObject {
  const visibleInstances = facts.trouble?.kind === 'lost' ? [] : facts.instances;
  const running = visibleInstances.filter(({ state }) => state === 'running');
  const verdicts = running.map((instance) => {
    const { health } = facts.factsOf(instance);
    const isFailing = (instance.failedCheck ?? health?.failedCheck) !== undefined;
    return { verdict: verdictOn(instance, health), isFailing };
  });
  const unhealthy = verdicts.filter(({ verdict }) => verdict === 'unhealthy').length;
  const status = statusWord(record, facts, running, unhealthy);
  const reason = facts.trouble?.reason ?? complaintOf(facts.instances, facts) ?? (facts.notes.join('; ') || undefined);
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

/** Returns the status of a container or job. If several fit, the first wins (D-048, D-213). The moves report MIGRATING. */
function statusWord(
  record: StoredResource,
  facts: ContainerFacts,
  running: readonly Instance[],
  unhealthy: number,
): string {
  const requestedInstances = Number(record.properties.num_instances);
  if (requestedInstances === 0) return 'SUSPENDED';
  if (facts.trouble) return facts.trouble.kind === 'lost' ? 'LOST' : 'FAILED';
  if (typeOf(record).collection === 'jobs') return jobStatus(requestedInstances, facts.instances);
  if (!facts.hasRun) return 'LAUNCHED';
  if (running.length !== requestedInstances || !running.every((instance) => facts.factsOf(instance).isUp))
    return 'SCALING';
  const instanceFacts = facts.instances.map((instance) => [instance, facts.factsOf(instance)] as const);
  if (!instanceFacts.some(([, { isChecked }]) => isChecked)) return 'RUNNING';
  if (unhealthy > 0) return 'UNHEALTHY';
  const isWell = instanceFacts.every(([instance, each]) => isServing(instance, each) && !each.hasJustRestarted);
  return isWell ? 'HEALTHY' : 'RUNNING';
}

function jobStatus(requestedInstances: number, instances: readonly Instance[]): string {
  const ended = instances.filter(({ state }) => state === 'exited' || state === 'failed');
  if (ended.some(({ exitCode, state }) => state === 'failed' || exitCode !== 0)) return 'FAILED';
  if (ended.length >= requestedInstances) return 'SUCCEEDED';
  return instances.length > 0 ? 'RUNNING' : 'LAUNCHED';
}

const restartsOf = ({ restarts }: Instance): string =>
  restarts === 0 ? '' : `, after ${restarts} restart${restarts === 1 ? '' : 's'}`;

/** The first reason why one of the instances does not serve as it should. */
export function complaintOf(instances: readonly Instance[], { factsOf }: ContainerFacts): string | undefined {
  for (const instance of instances) {
    const { id, state, exitCode, wasKilledForMemory, platforms, error } = instance;
    const instanceLabel = `instance ${id.slice(0, 12)}`;
    const isDown = state === 'restarting' || state === 'exited' || state === 'failed';
    if (isDown && wasKilledForMemory)
      return `${instanceLabel} was killed because it exceeded its memory limit. Increase the limit.`;
    if (state === 'starting' && error) return `${instanceLabel} cannot start yet: ${error}`;
    if (isDown && error) return `${instanceLabel} could not start: ${error}`;
    if (isDown && exitCode !== undefined && exitCode !== 0) {
      const why = platforms && ` Its image is for ${platforms.image}, and the engine runs on ${platforms.engine}.`;
      return `${instanceLabel} ended with exit code ${exitCode}${restartsOf(instance)}.${why ?? ''} See its log.`;
    }
    if (state === 'paused') return `${instanceLabel} is paused. Unpause it in the engine.`;
    if (state === 'restarting')
      return `${instanceLabel} ended by itself and is restarted. The command of a container must keep running.`;
    if (state === 'running' && error) return `${instanceLabel} cannot be reached: ${error}. Restart the container.`;
    if (state !== 'running') continue;
    const { recentComplaint, portComplaint, health } = factsOf(instance);
    if (recentComplaint !== undefined) return recentComplaint;
    if (portComplaint !== undefined) return `${instanceLabel} ${portComplaint}`;
    const failed = instance.failedCheck ?? health?.failedCheck;
    if (failed)
      return `${instanceLabel} has failed its ${failed.check} since ${new Date(failed.sinceMs).toISOString()}: ${failed.result}`;
  }
  return undefined;
}

/** An instance for people, with more than the contract has of it. */
export interface InstanceView extends Omit<Instance, 'health'> {
  /** Result of its health checks, the engine's and ours; `none` if it has none. */
  health: 'none' | 'unknown' | 'healthy' | 'unhealthy';
  /** Was it created from the current definition? During a rolling update, the old ones were not. */
  isCurrent: boolean;
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
