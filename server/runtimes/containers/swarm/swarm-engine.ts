import { createHash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { reasonOf } from '../../../model/errors.ts';
import type { Uuid } from '../../../model/record.ts';
import { DockerEngine } from '../docker/docker-engine.ts';
import { registryCredentials } from '../docker/image-pull.ts';
import { NANO } from '../docker/instance-definition.ts';
import { identityIn, LABEL, marksOf, ownedBy } from '../docker/labels.ts';
import { ensureNetwork } from '../docker/networks.ts';
import { watchInstances } from '../docker/watch-instances.ts';
import {
  type ApplyOptions,
  type EngineEvent,
  EngineRefusal,
  EngineUnreachable,
  type Instance,
  type Workload,
} from '../engine.ts';
import { serviceDefinition, swarmContainersOf, swarmNetworkName } from './service-definition.ts';
import {
  currentTasks,
  errorOf,
  isImageError,
  type NodeAddress,
  publishedPorts,
  type SwarmService,
  type SwarmTask,
  stateOf,
  swarmNodes,
  swarmService,
  swarmTask,
} from './swarm-state.ts';

const POLL_INTERVAL_MS = 300;
/** For the tasks of a service to run, images to pull included. */
const SETTLE_LIMIT_MS = 10 * 60_000;
const END_LIMIT_MS = 15_000;

/** A revision of a record is a service, and its replicas are the instances (D-082). An update starts a second service. */
export class SwarmEngine extends DockerEngine {
  /** The daemon drops lines of a service's log, and does not end it, when several tasks have written much, so the log of each task is read. */
  protected override readonly logSource = 'tasks';

  override async ping(): Promise<string> {
    const version = await super.ping();
    const { Swarm: swarm } = await this.connection.ask((docker) => docker.info());
    if (swarm?.ControlAvailable === true) return `${version}, swarm`;
    throw new EngineUnreachable(
      `the Docker daemon at ${this.connection.address.url} does not manage a swarm. Run \`docker swarm init\` there, or set the provider's config.url to a manager.`,
    );
  }

  override async list(recordId?: Uuid): Promise<Instance[]> {
    return this.#instancesOf(await this.#services(recordId));
  }

  override async apply(workload: Workload, options: ApplyOptions): Promise<void> {
    options.signal.throwIfAborted();
    const services = await this.#services(workload.recordId);
    const isCurrent = ({ Spec }: SwarmService) => Spec.Labels[LABEL.revision] === workload.revision;
    const current = services.find(isCurrent);
    const old = services.filter((service) => !isCurrent(service));
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
    const replaced = await this.#instancesOf(old);
    await Promise.all(replaced.map((instance) => options.beforeRemoval(instance)));
    await this.#removeServices(old);
  }

  async #create(workload: Workload): Promise<void> {
    const Name = swarmNetworkName(this.world.worldId, workload.environmentId);
    const network = { Name, Driver: 'overlay', Attachable: true } as const;
    await ensureNetwork(this.connection, this.world, workload.environmentId, network);
    const configs = await this.#configsFor(workload);
    const { stopSeconds } = this;
    const nodes = await this.connection.askFor(swarmNodes, (docker) => docker.listNodes());
    const available = nodes.filter(({ Spec, Status }) => Spec?.Availability === 'active' && Status.State === 'ready');
    // Any of them may get a task, and refuses more than it has.
    const cpus = (available.length > 0 ? available : nodes).flatMap(
      ({ Description: { Resources: { NanoCPUs } = {} } }) => NanoCPUs ?? [],
    );
    const maxCpus = Math.min(...cpus) / NANO;
    const definition = serviceDefinition(this.world, workload, { configs, stopSeconds, maxCpus });
    // The nodes pull the image with it.
    const credentials = await registryCredentials(workload.image, this.connection.user);
    await this.connection.ask((docker) => docker.createService(credentials ?? {}, definition));
  }

  /** Scales a service. The swarm chooses the tasks that end, so only a scale to 0 can drain them. */
  async #scale(service: SwarmService, { instances }: Workload, options: ApplyOptions): Promise<void> {
    if (instances === 0) {
      const ending = await this.#instancesOf([service]);
      await Promise.all(ending.map((instance) => options.beforeRemoval(instance)));
    }
    const { ID, Spec, Version } = service;
    const change = { ...Spec, Mode: { Replicated: { Replicas: instances } }, version: Version.Index };
    await this.connection.ask((docker) => docker.getService(ID).update(change));
  }

  override async remove(recordId: Uuid): Promise<void> {
    await this.#removeServices(await this.#services(recordId));
    // The swarm ends tasks after it has forgotten the service; until then their network is in use.
    const ofTasks = { label: [...swarmContainersOf(this.world.worldId).label, `${LABEL.record}=${recordId}`] };
    for (const untilMs = Date.now() + END_LIMIT_MS; Date.now() < untilMs; await pause(POLL_INTERVAL_MS)) {
      const remaining = await this.connection.ask((docker) => docker.listContainers({ all: true, filters: ofTasks }));
      if (remaining.length === 0) break;
    }
    const filters = ownedBy(this.world.worldId, recordId);
    for (const { ID } of await this.connection.ask((docker) => docker.listConfigs({ filters })))
      await this.connection.ask((docker) => docker.getConfig(ID).remove()).catch(() => undefined); // still in use: the next time
  }

  protected override async idsWithLog(recordId: Uuid): Promise<string[]> {
    const tasks = await this.#tasksOf(await this.#services(recordId));
    return tasks.filter(({ Status }) => Status.ContainerStatus?.ContainerID).map(({ ID }) => ID);
  }

  /** Also polls the tasks, because a daemon reports events of its own containers only. */
  override async watch(onEvent: (event: EngineEvent) => void): Promise<() => void> {
    const stop = await watchInstances(this.connection, swarmContainersOf(this.world.worldId), onEvent);
    let statesBefore = new Set<string>();
    let isStopped = false;
    const poll = async () => {
      while (!isStopped) {
        const services = await this.#services();
        const states = new Set<string>();
        for (const { ID: instanceId, ServiceID, Status, DesiredState } of await this.#tasksOf(services)) {
          const state = `${instanceId} ${Status.State} ${DesiredState}`;
          states.add(state);
          const recordId = services.find(({ ID }) => ID === ServiceID)?.Spec.Labels[LABEL.record];
          if (statesBefore.has(state) || isStopped || recordId === undefined) continue;
          const action = Status.Err ? `${Status.State} (${Status.Err})` : Status.State;
          onEvent({ kind: 'instance', recordId, instanceId, action, atMs: Date.parse(Status.Timestamp) });
        }
        statesBefore = states;
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

  async #services(recordId?: Uuid): Promise<SwarmService[]> {
    const filters = ownedBy(this.world.worldId, recordId);
    return this.connection.askFor(z.array(swarmService), (docker) => docker.listServices({ filters }));
  }

  async #removeServices(services: readonly SwarmService[]): Promise<void> {
    for (const { ID } of services)
      await this.connection.askTolerantly((docker) => docker.getService(ID).remove(), 'missing');
  }

  async #tasksOf(services: readonly SwarmService[]): Promise<SwarmTask[]> {
    if (services.length === 0) return [];
    const listed = (...service: string[]) =>
      this.connection.askTolerantly(
        async (docker) => z.array(swarmTask).parse(await docker.listTasks({ filters: { service } })),
        'missing',
      );
    const ids = services.map(({ ID }) => ID);
    // The daemon refuses them all if one service has been removed since it was listed.
    const tasks = (await listed(...ids)) ?? (await Promise.all(ids.map(async (id) => (await listed(id)) ?? []))).flat();
    return tasks.sort((a, b) => a.CreatedAt.localeCompare(b.CreatedAt));
  }

  async #nodes(): Promise<Map<string, NodeAddress>> {
    const [nodes, { Swarm: swarm }] = await Promise.all([
      this.connection.askFor(swarmNodes, (docker) => docker.listNodes()),
      this.connection.ask((docker) => docker.info()),
    ]);
    return new Map(
      nodes.map(({ ID, Description: { Hostname: hostName }, Status }) => {
        const isConnected = ID === swarm?.NodeID;
        const address = isConnected ? this.connection.address.publishedHost : Status.Addr;
        return [ID, { hostName, address, isConnected }];
      }),
    );
  }

  async #instancesOf(services: readonly SwarmService[]): Promise<Instance[]> {
    const tasks = await this.#tasksOf(services);
    if (tasks.length === 0) return [];
    const nodes = await this.#nodes();
    const instances = services.flatMap(({ ID, Spec: { Labels: labels } }) => {
      const serviceTasks = tasks.filter(({ ServiceID }) => ServiceID === ID);
      const current = currentTasks(serviceTasks, identityIn(labels).kind);
      return current.map((slot) => this.#instance(labels, slot, nodes.get(slot.task.NodeID)));
    });
    return Promise.all(instances);
  }

  async #instance(
    labels: Record<string, string>,
    { task, restarts }: ReturnType<typeof currentTasks>[number],
    node: NodeAddress | undefined,
  ): Promise<Instance> {
    const { ID, Spec, Status } = task;
    const identity = identityIn(labels);
    const state = stateOf(task, identity.kind);
    const { ContainerID: containerId, ExitCode } = Status.ContainerStatus ?? {};
    const exitCode = state === 'running' ? undefined : ExitCode;
    // The swarm reports the exit code only, so the daemon is asked for its cause.
    const killed =
      exitCode === 137 && node?.isConnected && containerId
        ? await this.connection.askTolerantly((docker) => docker.getContainer(containerId).inspect(), 'missing')
        : undefined;
    const nanoCpus = Spec.Resources?.Limits?.NanoCPUs;
    return {
      id: ID,
      ...identity,
      revision: Spec.ContainerSpec.Labels[LABEL.revision] ?? '',
      image: Spec.ContainerSpec.Image,
      state,
      // The swarm calls a task running when its health command has passed, and replaces it when it fails.
      health: !(await this.#isChecked(task)) ? 'none' : state === 'running' ? 'healthy' : 'starting',
      healthLimitMs: 0,
      cpus: nanoCpus && nanoCpus / NANO,
      restarts,
      startedAtMs: state === 'running' ? Date.parse(Status.Timestamp) : undefined,
      exitCode,
      wasKilledForMemory: killed?.State.OOMKilled === true,
      error: errorOf(task, node),
      addresses: publishedPorts(task).map((ports) => ({
        ...ports,
        host: node?.address ?? this.connection.address.publishedHost,
      })),
    };
  }

  /** True if a task or its image has a health command. The image's command is only known if the connected node has the image. */
  async #isChecked({ Spec: { ContainerSpec } }: SwarmTask): Promise<boolean> {
    if (ContainerSpec.Healthcheck) return true;
    const image = await this.connection.askTolerantly((docker) => docker.getImage(ContainerSpec.Image).inspect());
    const [kind = 'NONE'] = Object(image?.Config).Healthcheck?.Test ?? [];
    return kind !== 'NONE';
  }

  /** Resolves to the instances of a revision when all have started. Throws EngineRefusal when one cannot start. */
  async #started(workload: Workload, signal: AbortSignal): Promise<Instance[]> {
    for (const untilMs = Date.now() + SETTLE_LIMIT_MS; ; await pause(POLL_INTERVAL_MS)) {
      signal.throwIfAborted();
      const present = await this.starts.run(() => this.list(workload.recordId));
      const instances = present.filter(({ revision }) => revision === workload.revision);
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
        const Name = `${this.world.worldId.slice(0, 8)}-${recordId.slice(0, 8)}-${digest}`;
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
    const task = await this.connection.askFor(swarmTask, (docker) => docker.getTask(taskId).inspect());
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
