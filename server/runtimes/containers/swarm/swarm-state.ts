import { z } from 'zod';
import type { Instance } from '../engine.ts';

export const swarmService = z.looseObject({
  ID: z.string(),
  Version: z.looseObject({ Index: z.number() }),
  Spec: z.looseObject({
    Labels: z.record(z.string(), z.string()),
    Mode: z.looseObject({ Replicated: z.looseObject({ Replicas: z.number() }).optional() }),
  }),
});
export const swarmTask = z.looseObject({
  ID: z.string(),
  ServiceID: z.string(),
  NodeID: z.string().default(''),
  Slot: z.number().default(0),
  CreatedAt: z.string(),
  DesiredState: z.string(),
  Spec: z.looseObject({
    ContainerSpec: z.looseObject({
      Image: z.string(),
      Labels: z.record(z.string(), z.string()).default({}),
      Healthcheck: z.looseObject({}).optional(),
    }),
    Resources: z.looseObject({ Limits: z.looseObject({ NanoCPUs: z.number().optional() }).optional() }).optional(),
  }),
  Status: z.looseObject({
    State: z.string(),
    Timestamp: z.string(),
    Err: z.string().optional(),
    ContainerStatus: z.looseObject({ ContainerID: z.string().optional(), ExitCode: z.number().optional() }).optional(),
    PortStatus: z
      .looseObject({
        Ports: z
          .array(
            z.looseObject({
              Protocol: z.string().default('tcp'),
              TargetPort: z.number(),
              PublishedPort: z.number().default(0),
            }),
          )
          .default([]),
      })
      .optional(),
  }),
});
const swarmNode = z.looseObject({
  ID: z.string(),
  Description: z.looseObject({
    Hostname: z.string().default(''),
    Resources: z.looseObject({ NanoCPUs: z.number().optional() }).optional(),
  }),
  Spec: z.looseObject({ Availability: z.string().optional() }).optional(),
  Status: z.looseObject({ Addr: z.string().default(''), State: z.string().optional() }),
});
export const swarmNodes = z.array(swarmNode);
export type SwarmService = z.output<typeof swarmService>;
export type SwarmTask = z.output<typeof swarmTask>;

export interface NodeAddress {
  hostName: string;
  address: string;
  /** The node of the daemon to which the platform is connected. */
  isConnected: boolean;
}

const hasFailed = ({ Status: { State: state } }: SwarmTask) => state === 'failed' || state === 'rejected';

/** Returns the current task of each slot, and the one before it that failed as long as the current one does not run. */
export function currentTasks(
  tasks: readonly SwarmTask[],
  kind: Instance['kind'],
): { task: SwarmTask; restarts: number }[] {
  const bySlot = new Map<string, SwarmTask[]>();
  for (const task of tasks) {
    const slot = `${task.ServiceID} ${task.Slot}`;
    bySlot.set(slot, [...(bySlot.get(slot) ?? []), task]);
  }
  return [...bySlot.values()].flatMap((history) => {
    const current = history.findLast(
      // The swarm keeps a restarted task `ready` until its delay has passed.
      ({ DesiredState }) => kind === 'job' || DesiredState === 'running' || DesiredState === 'ready',
    );
    if (!current) return [];
    const failures = history.filter((task) => task !== current && hasFailed(task));
    const isWaiting = kind !== 'job' && current.Status.State !== 'running';
    return [{ task: (isWaiting && failures.at(-1)) || current, restarts: failures.length }];
  });
}

/** Returns the state of an instance; a failed task of a container is restarted by the swarm. */
export function stateOf({ Status }: SwarmTask, kind: Instance['kind']): Instance['state'] {
  if (Status.State === 'running') return 'running';
  if (Status.State === 'complete') return 'exited';
  if (Status.State === 'failed' || Status.State === 'rejected') {
    if (kind === 'container') return 'restarting';
    return isExit(Status.Err) ? 'exited' : 'failed';
  }
  return 'starting';
}

/** Returns one published port for each port of a task. After the port for IPv4, the daemon lists another one for IPv6. */
export function publishedPorts({ Status }: SwarmTask): { containerPort: number; port: number }[] {
  const published = (Status.PortStatus?.Ports ?? []).filter(({ PublishedPort }) => PublishedPort > 0);
  const isFirst = ({ TargetPort, Protocol }: (typeof published)[number], index: number) =>
    published.findIndex((port) => port.TargetPort === TargetPort && port.Protocol === Protocol) === index;
  return published
    .filter(isFirst)
    .map(({ TargetPort: containerPort, PublishedPort: port }) => ({ containerPort, port }));
}

const isExit = (error: string | undefined) => error === undefined || /non-zero exit/.test(error);

/** Returns the error of a task that is more than the exit code of its program, with the next step for a missing image. */
export function errorOf({ Spec, Status }: SwarmTask, node: NodeAddress | undefined): string | undefined {
  const { Err: error } = Status;
  if (error === undefined || isExit(error)) return undefined;
  if (!isImageError(error)) return error;
  const image = Spec.ContainerSpec.Image.replace(/@sha256:.*$/, '');
  const location = node ? ` on node '${node.hostName}'` : '';
  const copy = node && !node.isConnected ? `: docker save ${image} | ssh ${node.address} docker load` : '';
  return `image '${image}' cannot be pulled${location}: ${error}. Check its name, push it to a registry that all nodes can reach, or copy it to the node${copy}`;
}

export const isImageError = (error: string) =>
  /no such image|not found: manifest|pull access|manifest unknown/i.test(error);
