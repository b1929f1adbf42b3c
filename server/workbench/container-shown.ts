import type { InstanceStats } from '../containers/engine.ts';
import type { InstanceView } from '../containers/instance-view.ts';
import type { Pull } from '../containers/pull-board.ts';
import type { ContainerInstance, ContainerUsage, ImagePull } from '../contract/containers.ts';
import type { Uuid } from '../model/ids.ts';
import { timeIfAny, timeOf } from '../model/iso-time.ts';

type Measured = { instanceId: string } & InstanceStats;

/** An instance as a client sees it; times are ISO-8601 UTC (D-014). */
export function shownInstance({ startedAtMs, exitCode, error, ipAddress, ...one }: InstanceView): ContainerInstance {
  return {
    id: one.id,
    state: one.state,
    health: one.health,
    isCurrent: one.isCurrent,
    image: one.image,
    wasKilledForMemory: one.wasKilledForMemory,
    ports: one.addresses.map((address) => ({ ...address })),
    startedAt: timeIfAny(startedAtMs),
    exitCode,
    error,
    ipAddress,
  };
}

/** What the instances of a container use, as a client sees it. */
export function shownUsage(containerId: Uuid, measured: readonly Measured[]): ContainerUsage {
  return { containerId, instances: measured.map((one) => ({ ...one })) };
}

export function shownPull({ recordId, startedAtMs, ...pull }: Pull): ImagePull {
  return { containerId: recordId, ...pull, startedAt: timeOf(startedAtMs) };
}
