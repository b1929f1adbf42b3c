import type { ContainerInstance, ContainerUsage, ImagePull } from '../contract/containers.ts';
import type { Uuid } from '../model/ids.ts';

/** An instance of a container or job, as its engine and its health checks tell. */
export interface SeenInstance {
  id: string;
  state: ContainerInstance['state'];
  health: ContainerInstance['health'];
  isCurrent: boolean;
  image: string;
  startedAtMs: number | undefined;
  exitCode: number | undefined;
  wasKilledForMemory: boolean;
  error: string | undefined;
  ipAddress: string | undefined;
  addresses: readonly { containerPort: number; host: string; port: number }[];
}

/** What one running instance uses at a moment. */
export interface Measured {
  instanceId: string;
  /** 1 = one core fully used. */
  cpus: number;
  memoryBytes: number;
  memoryLimitBytes: number;
  /** Since its start. */
  receivedBytes: number;
  sentBytes: number;
}

/** An image that is being pulled. */
export interface SeenPull {
  recordId: Uuid;
  image: string;
  step: string;
  currentBytes: number;
  totalBytes: number;
  startedAtMs: number;
}

/** An instance as a client sees it; times are ISO-8601 UTC (D-014). */
export function shownInstance({ startedAtMs, exitCode, error, ipAddress, ...one }: SeenInstance): ContainerInstance {
  return {
    id: one.id,
    state: one.state,
    health: one.health,
    isCurrent: one.isCurrent,
    image: one.image,
    wasKilledForMemory: one.wasKilledForMemory,
    ports: one.addresses.map((address) => ({ ...address })),
    ...(startedAtMs !== undefined && { startedAt: new Date(startedAtMs).toISOString() }),
    ...(exitCode !== undefined && { exitCode }),
    ...(error !== undefined && { error }),
    ...(ipAddress !== undefined && { ipAddress }),
  };
}

/** What the instances of a container use, as a client sees it. */
export function shownUsage(containerId: Uuid, measured: readonly Measured[]): ContainerUsage {
  return { containerId, instances: measured.map((one) => ({ ...one })) };
}

export function shownPull({ recordId, startedAtMs, ...pull }: SeenPull): ImagePull {
  return { containerId: recordId, ...pull, startedAt: new Date(startedAtMs).toISOString() };
}
