import type Docker from 'dockerode';
import type { Uuid } from '../../../model/record.ts';
import { instanceDefinition, NANO, networkName } from '../docker/instance-definition.ts';
import { LABEL, labelsOf, type WorldMark } from '../docker/labels.ts';
import type { Workload } from '../engine.ts';

/** The label of a service's containers in place of the world's label: they belong to the swarm, not to a daemon. */
const SWARM_WORLD = 'terrarium.swarm-world';
const RESTART_DELAY_NS = NANO;
/** A service's name has at most 63 characters. */
const MAX_NAME_LENGTH = 36;
/** Time that a replaced task must run before the swarm replaces the next one. */
const MONITOR_NS = 5 * NANO;

export function swarmNetworkName(worldId: Uuid, environmentId: Uuid): string {
  return `${networkName(worldId, environmentId)}-swarm`;
}

export function swarmContainersOf(worldId: Uuid): { label: string[] } {
  return { label: [`${SWARM_WORLD}=${worldId}`] };
}

/** A revision of a workload as a service with replicas: names lead to the tasks themselves, each publishes its ports on its own node (D-047, D-049). */
export function serviceDefinition(
  world: WorldMark,
  workload: Workload,
  { configs, stopSeconds, maxCpus }: { configs: object[]; stopSeconds: number; maxCpus: number },
): Docker.CreateServiceOptions {
  const labels = labelsOf(world, workload);
  const { [LABEL.world]: _world, ...ofContainer } = labels;
  const { Env, User, Healthcheck, HostConfig } = instanceDefinition(world, workload, '', maxCpus);
  const isJob = workload.kind === 'job';
  return {
    Name: [
      workload.name.slice(0, MAX_NAME_LENGTH),
      ...[world.worldId, workload.recordId, workload.revision].map((id) => id.slice(0, 8)),
    ].join('-'),
    Labels: labels,
    TaskTemplate: {
      ContainerSpec: {
        Image: workload.image,
        ...(workload.entrypoint && { Command: [...workload.entrypoint] }),
        ...(workload.command && { Args: [...workload.command] }),
        Env,
        ...(User !== undefined && { User }),
        ...(Healthcheck && { HealthCheck: Healthcheck }),
        Labels: { ...ofContainer, [SWARM_WORLD]: world.worldId },
        Mounts: HostConfig?.Mounts ?? [],
        Configs: configs,
        StopGracePeriod: stopSeconds * NANO,
      },
      Resources: {
        Limits: { NanoCPUs: HostConfig?.NanoCpus, MemoryBytes: workload.memoryBytes },
      },
      RestartPolicy: { Condition: isJob ? 'none' : 'any', Delay: RESTART_DELAY_NS },
      Networks: [{ Target: swarmNetworkName(world.worldId, workload.environmentId), Aliases: [...workload.aliases] }],
    },
    Mode: { Replicated: { Replicas: workload.instances } },
    // For `docker service update`: updates of a record start another service.
    UpdateConfig: { Parallelism: 1, Order: 'start-first', FailureAction: 'rollback', Monitor: MONITOR_NS },
    RollbackConfig: { Parallelism: 1, Order: 'start-first' },
    EndpointSpec: {
      Mode: 'dnsrr',
      Ports: workload.ports
        .filter(({ isPublished }) => isPublished)
        .map(({ containerPort }) => ({ Protocol: 'tcp', TargetPort: containerPort, PublishMode: 'host' })),
    },
  } as Docker.CreateServiceOptions; // its type is of an older API
}
