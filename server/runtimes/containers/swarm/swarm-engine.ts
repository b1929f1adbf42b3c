import { createHash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type Docker from 'dockerode';
import { z } from 'zod';
import { reasonOf } from '../../../model/errors.ts';
import type { LogLine } from '../../../model/invocation.ts';
import type { Uuid } from '../../../model/record.ts';
import { DockerEngine } from '../docker/docker-engine.ts';
import { ensureNetwork } from '../docker/docker-instances.ts';
import { identityIn, LABEL, marksOf, ownedBy } from '../docker/labels.ts';
import { linesIn } from '../docker/output.ts';
import { watchInstances } from '../docker/watch-instances.ts';
import {
  type ApplyOptions,
  type EngineEvent,
  EngineRefusal,
  EngineUnreachable,
  type Instance,
  type LogOptions,
  type Workload,
} from '../engine.ts';
import { serviceDefinition, swarmContainersOf, swarmNetworkName } from './service-definition.ts';
import {
  currentTasks,
  errorOf,
  isImageError,
  type NodeAddress,
  type SwarmService,
  type SwarmTask,
  stateOf,
  swarmNodes,
  swarmService,
  swarmTask,
} from './swarm-state.ts';

const WATCH_INTERVAL_MS = 200;
const POLL_INTERVAL_MS = 500;
/** For the tasks of a service to run, images to pull included. */
const SETTLE_LIMIT_MS = 10 * 60_000;
const END_LIMIT_MS = 15_000;

/** A revision of a record is a service, and its replicas are the instances (D-082). An update starts a second service. */
export class SwarmEngine extends DockerEngine {
  override async ping(): Promise<string> {
    const version = await super.ping();
    const { Swarm: swarm } = await this.connection.ask((docker) => docker.info());
    if (swarm?.ControlAvailable === true) return `${version}, swarm`;
    throw new EngineUnreachable(
      `the Docker daemon at ${this.connection.address.url} does not manage a swarm. Run \`docker swarm init\` there, or set the provider's config.url to a manager.`,
    );
  }

  override async list(recordId?: Uuid): Promise<Instance[]> {
    const services = await this.#services(recordId);
    return this.#instancesOf(services, await this.#tasksOf(services));
  }

  override async apply(workload: Workload, options: ApplyOptions): Promise<void> {
    options.signal.throwIfAborted();
    const services = await this.#services(workload.recordId);
    const isCurrent = ({ Spec }: SwarmService) => Spec.Labels[LABEL.revision] === workload.revision;
    const current = services.find(isCurrent);
    const old = services.filter((service) => !isCurrent(service));
    if (old.length > 0) options.onReplacing();
    if (!current) await this.#create(workload);
    else if (current.Spec.Mode.Replicated?.Replicas !== workload.instances)
      await this.#scale(current, workload, options);
    if (old.length > 0 || !current) {
      try {
        const started = await this.#started(workload, options.signal);
        if (old.length > 0) await Promise.all(started.map((instance) => options.whenReady(instance)));
      } catch (failure) {
        if (!options.signal.aborted && !(failure instanceof EngineUnreachable)) {
          await this.#removeServices((await this.#services(workload.recordId)).filter(isCurrent));
        }
        throw failure;
      }
    }
    options.signal.throwIfAborted();
    const replaced = this.#instancesOf(old, await this.#tasksOf(old));
    await Promise.all((await replaced).map((instance) => options.beforeRemoval(instance)));
    await this.#removeServices(old);
  }

  async #create(workload: Workload): Promise<void> {
    const Name = swarmNetworkName(this.world.worldId, workload.environmentId);
    const network = { Name, Driver: 'overlay', Attachable: true } as const;
    await ensureNetwork(this.connection, this.world, workload.environmentId, network);
    const configs = await this.#configsFor(workload);
    const definition = serviceDefinition(this.world, workload, { configs, stopSeconds: this.stopSeconds });
    await this.connection.ask((docker) => docker.createService(definition));
  }

  /** Scales a service. The swarm chooses the tasks that end, so only a scale to 0 can drain them. */
  async #scale(service: SwarmService, { instances }: Workload, options: ApplyOptions): Promise<void> {
    if (instances === 0) {
      const ending = await this.#instancesOf([service], await this.#tasksOf([service]));
      await Promise.all(ending.map((instance) => options.beforeRemoval(instance)));
    }
    const { ID, Spec, Version } = service;
    const change = { ...Spec, Mode: { Replicated: { Replicas: instances } }, version: Version.Index };
    await this.connection.ask((docker) => docker.getService(ID).update(change));
  }

  override async remove(recordId: Uuid): Promise<void> {
    await this.#removeServices(await this.#services(recordId));
    await this.#untilGone(recordId);
    const filters = ownedBy(this.world.worldId, recordId);
    const configs = await this.connection.ask((docker) => docker.listConfigs({ filters }));
    for (const { ID } of configs) {
      await this.connection.ask((docker) => docker.getConfig(ID).remove()).catch(() => undefined); // still in use: the next time
    }
  }

  override async logs(recordId: Uuid, options: LogOptions): Promise<LogLine[]> {
    const { sinceMs, tail, stderr, instanceId } = options;
    const found: LogLine[][] = [];
    const sources = instanceId === undefined ? await this.#services(recordId) : [{ ID: instanceId }];
    for (const { ID } of sources) {
      const since = sinceMs > 0 ? { since: Math.floor(sinceMs / 1000) } : {};
      const newest = tail === undefined ? {} : { tail };
      const output = await this.connection.ask((docker) =>
        (instanceId === undefined ? docker.getService(ID) : taskWithLogs(docker, ID)).logs({
          ...{ follow: false, stdout: true, stderr, timestamps: true, ...since, ...newest },
        }),
      );
      // As: a stream of the daemon's is one of bytes.
      found.push(await linesIn(Buffer.isBuffer(output) ? [output] : (output as AsyncIterable<Buffer>)));
    }
    const lines = found.flat().filter(({ atMs }) => atMs >= sinceMs);
    return lines.sort((a, b) => a.atMs - b.atMs);
  }

  override async follow(recordId: Uuid, onNews: () => void): Promise<() => void> {
    const [found] = await this.#services(recordId);
    if (!found) return () => undefined;
    const stream = await this.connection.ask((docker) =>
      docker.getService(found.ID).logs({ follow: true, stdout: true, stderr: true, tail: 0 }),
    );
    stream.on('data', onNews);
    stream.once('error', () => undefined);
    return () => Object(stream).destroy?.();
  }

  /** Also polls the tasks, because a daemon reports events of its own containers only. */
  override async watch(onEvent: (event: EngineEvent) => void): Promise<() => void> {
    const stop = await watchInstances(this.connection, swarmContainersOf(this.world.worldId), onEvent);
    const states = new Map<string, string>();
    let isStopped = false;
    const poll = async () => {
      while (!isStopped) {
        const services = await this.#services();
        const tasks = await this.#tasksOf(services);
        for (const { ID: id, ServiceID, Status, DesiredState } of tasks) {
          const state = `${Status.State} ${DesiredState}`;
          if (states.get(id) === state || isStopped) continue;
          states.set(id, state);
          const recordId = services.find(({ ID }) => ID === ServiceID)?.Spec.Labels[LABEL.record];
          const action = Status.Err ? `${Status.State} (${Status.Err})` : Status.State;
          const atMs = Date.parse(Status.Timestamp);
          if (recordId !== undefined) onEvent({ kind: 'instance', recordId, instanceId: id, action, atMs });
        }
        for (const id of states.keys()) if (!tasks.some(({ ID }) => ID === id)) states.delete(id);
        await pause(POLL_INTERVAL_MS, undefined, { ref: false });
      }
    };
    poll().catch((failure: unknown) => {
      if (!isStopped) onEvent({ kind: 'lost', reason: reasonOf(failure) });
    });
    return () => {
      isStopped = true;
      stop();
    };
  }

  /** The swarm ends tasks after it has forgotten the service; until then their network is in use. */
  async #untilGone(recordId: Uuid): Promise<void> {
    const { label } = swarmContainersOf(this.world.worldId);
    const filters = { label: [...label, `${LABEL.record}=${recordId}`] };
    for (const untilMs = Date.now() + END_LIMIT_MS; Date.now() < untilMs; await pause(WATCH_INTERVAL_MS)) {
      const remainingContainers = await this.connection.ask((docker) => docker.listContainers({ all: true, filters }));
      if (remainingContainers.length === 0) return;
    }
  }

  async #services(recordId?: Uuid): Promise<SwarmService[]> {
    const filters = ownedBy(this.world.worldId, recordId);
    return z.array(swarmService).parse(await this.connection.ask((docker) => docker.listServices({ filters })));
  }

  async #removeServices(services: readonly SwarmService[]): Promise<void> {
    for (const { ID } of services) {
      await this.connection.askTolerantly((docker) => docker.getService(ID).remove(), 'missing');
    }
  }

  async #tasksOf(services: readonly SwarmService[]): Promise<SwarmTask[]> {
    if (services.length === 0) return [];
    const filters = { service: services.map(({ ID }) => ID) };
    const tasks = z.array(swarmTask).parse(await this.connection.ask((docker) => docker.listTasks({ filters })));
    return tasks.sort((a, b) => a.CreatedAt.localeCompare(b.CreatedAt));
  }

  async #nodes(): Promise<Map<string, NodeAddress>> {
    const [nodes, { Swarm: swarm }] = await this.connection.ask((docker) =>
      Promise.all([docker.listNodes(), docker.info()]),
    );
    return new Map(
      swarmNodes.parse(nodes).map(({ ID, Description: { Hostname: hostName }, Status }) => {
        const isConnected = ID === swarm?.NodeID;
        const address = isConnected ? this.connection.address.publishedHost : Status.Addr;
        return [ID, { hostName, address, isConnected }];
      }),
    );
  }

  async #instancesOf(services: readonly SwarmService[], tasks: readonly SwarmTask[]): Promise<Instance[]> {
    if (tasks.length === 0) return [];
    const nodes = await this.#nodes();
    const instances = services.map(({ ID, Spec: { Labels: labels } }) => {
      const serviceTasks = tasks.filter(({ ServiceID }) => ServiceID === ID);
      return Promise.all(
        currentTasks(serviceTasks, identityIn(labels).kind).map(async ({ task, restarts }) =>
          this.#instance(labels, { task, restarts, node: nodes.get(task.NodeID) }),
        ),
      );
    });
    return (await Promise.all(instances)).flat();
  }

  async #instance(
    labels: Record<string, string>,
    { task, restarts, node }: { task: SwarmTask; restarts: number; node: NodeAddress | undefined },
  ): Promise<Instance> {
    const { ID, Spec, Status } = task;
    const identity = identityIn(labels);
    const state = stateOf(task, identity.kind);
    const exitCode = state === 'running' ? undefined : Status.ContainerStatus?.ExitCode;
    return {
      id: ID,
      ...identity,
      revision: Spec.ContainerSpec.Labels[LABEL.revision] ?? '',
      image: Spec.ContainerSpec.Image,
      imageId: undefined,
      state,
      // The swarm calls a task running when its health command has passed, and replaces it when it fails.
      health: !Spec.ContainerSpec.Healthcheck ? 'none' : state === 'running' ? 'healthy' : 'starting',
      failedCheck: undefined,
      healthLimitMs: 0,
      cpus: undefined,
      restarts,
      startedAtMs: state === 'running' ? Date.parse(Status.Timestamp) : undefined,
      exitCode,
      wasKilledForMemory: exitCode === 137 && node?.isConnected === true && (await this.#exceededMemory(task)),
      error: errorOf(task, node),
      // Reached across the swarm's network only, which we are not on.
      ipAddress: undefined,
      addresses: (Status.PortStatus?.Ports ?? [])
        .filter(({ PublishedPort }) => PublishedPort > 0)
        .map(({ TargetPort, PublishedPort }) => ({
          containerPort: TargetPort,
          host: node?.address ?? this.connection.address.publishedHost,
          port: PublishedPort,
        })),
    };
  }

  /** Asks the daemon, because the swarm reports the exit code only. */
  async #exceededMemory({ Status: { ContainerStatus: status } }: SwarmTask): Promise<boolean> {
    const id = status?.ContainerID;
    if (!id) return false;
    const details = await this.connection.askTolerantly((docker) => docker.getContainer(id).inspect(), 'missing');
    return details?.State.OOMKilled === true;
  }

  /** Resolves to the instances of a revision when all have started. Throws EngineRefusal when one cannot start. */
  async #started(workload: Workload, signal: AbortSignal): Promise<Instance[]> {
    for (const untilMs = Date.now() + SETTLE_LIMIT_MS; ; await pause(WATCH_INTERVAL_MS)) {
      signal.throwIfAborted();
      const services = await this.#services(workload.recordId);
      const revisionServices = services.filter(({ Spec }) => Spec.Labels[LABEL.revision] === workload.revision);
      const instances = await this.#instancesOf(revisionServices, await this.#tasksOf(revisionServices));
      const refused = instances.find(({ state, error }) => state !== 'starting' && state !== 'running' && error);
      if (refused?.error) throw new EngineRefusal(isImageError(refused.error) ? 'image' : 'definition', refused.error);
      const started = instances.filter(({ state }) => state !== 'starting');
      if (started.length >= workload.instances) return started;
      if (Date.now() > untilMs) throw new EngineRefusal('fault', 'the swarm did not start the service in time');
    }
  }

  /** Given files as configs of the swarm, which gets them to whichever node a task runs on. */
  async #configsFor({ recordId, files }: Workload): Promise<object[]> {
    const Labels = { ...marksOf(this.world), [LABEL.record]: recordId };
    return Promise.all(
      files.map(async ({ path, content }) => {
        const digest = createHash('sha256').update(path).update(content).digest('hex').slice(0, 24);
        const Name = `${recordId.slice(0, 8)}-${digest}`;
        const [present] = await this.connection.ask((docker) => docker.listConfigs({ filters: { name: [Name] } }));
        const Data = Buffer.from(content).toString('base64');
        // Its type knows the members of what is listed only.
        const ConfigID =
          present?.ID ?? Object(await this.connection.ask((docker) => docker.createConfig({ Name, Data, Labels }))).id;
        return { ConfigID, ConfigName: Name, File: { Name: path, UID: '0', GID: '0', Mode: 0o444 } };
      }),
    );
  }

  /** Returns the container of a task on the connected node. Throws EngineRefusal. */
  protected override async containerOf(taskId: string): Promise<string> {
    const task = swarmTask.parse(await this.connection.ask((docker) => docker.getTask(taskId).inspect()));
    const id = task.Status.ContainerStatus?.ContainerID;
    if (!id) throw new EngineRefusal('missing', `task ${taskId} has no container yet. Try again when it runs.`);
    const node = (await this.#nodes()).get(task.NodeID);
    if (node?.isConnected) return id;
    const location = node ? `node '${node.hostName}' (${node.address})` : 'a node that has left the swarm';
    throw new EngineRefusal(
      'missing',
      `task ${taskId} runs on ${location}, and the platform reaches only its manager. Run there: docker exec -it ${id.slice(0, 12)} sh`,
    );
  }
}

/** Returns a task with the method `logs`, which the type of the library lacks. */
function taskWithLogs(docker: Docker, id: string): Pick<Docker.Service, 'logs'> {
  return docker.getTask(id) as unknown as Pick<Docker.Service, 'logs'>;
}
