import { createHash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
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

const WATCH_INTERVAL_MS = 200;
/** For the tasks of a service to run, images to pull included. */
const SETTLE_LIMIT_MS = 10 * 60_000;
const END_LIMIT_MS = 15_000;

const service = z.looseObject({
  ID: z.string(),
  Version: z.looseObject({ Index: z.number() }),
  Spec: z.looseObject({
    Labels: z.record(z.string(), z.string()),
    Mode: z.looseObject({ Replicated: z.looseObject({ Replicas: z.number() }).optional() }),
  }),
});
const task = z.looseObject({
  ID: z.string(),
  CreatedAt: z.string(),
  DesiredState: z.string(),
  Spec: z.looseObject({
    ContainerSpec: z.looseObject({ Image: z.string(), Labels: z.record(z.string(), z.string()).default({}) }),
  }),
  Status: z.looseObject({
    State: z.string(),
    Timestamp: z.string(),
    Err: z.string().optional(),
    ContainerStatus: z.looseObject({ ContainerID: z.string().optional(), ExitCode: z.number().optional() }).optional(),
    PortStatus: z
      .looseObject({
        Ports: z.array(z.looseObject({ TargetPort: z.number(), PublishedPort: z.number().default(0) })).default([]),
      })
      .optional(),
  }),
});
type Service = z.output<typeof service>;
type Task = z.output<typeof task>;

/** A record is a service, its replicas are the instances (D-082). Rolling updates are the swarm's own. Ports are those of the node. */
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
    const found = await Promise.all((await this.#services(recordId)).map((one) => this.#instancesOf(one)));
    return found.flat();
  }

  override async apply(workload: Workload, options: ApplyOptions): Promise<void> {
    options.signal.throwIfAborted();
    const [present] = await this.#services(workload.recordId);
    const isOfNow = present?.Spec.Labels[LABEL.revision] === workload.revision;
    const isAsRequested = isOfNow && present?.Spec.Mode.Replicated?.Replicas === workload.instances;
    if (!isAsRequested) {
      const Name = swarmNetworkName(this.world.worldId, workload.environmentId);
      const network = { Name, Driver: 'overlay', Attachable: true } as const;
      await ensureNetwork(this.connection, this.world, workload.environmentId, network);
      const definition = serviceDefinition(this.world, workload, await this.#configsFor(workload));
      await this.connection.ask((docker) =>
        present
          ? docker.getService(present.ID).update({ ...definition, version: present.Version.Index })
          : docker.createService(definition),
      );
    }
    const made = await this.#settled(workload, options.signal);
    if (!isOfNow && present) await Promise.all(made.map((one) => options.whenReady(one)));
  }

  override async remove(recordId: Uuid): Promise<void> {
    for (const { ID } of await this.#services(recordId)) {
      await this.connection.ask((docker) => docker.getService(ID).remove());
    }
    await this.#untilGone(recordId);
    const filters = ownedBy(this.world.worldId, recordId);
    const configs = await this.connection.ask((docker) => docker.listConfigs({ filters }));
    for (const { ID } of configs) {
      await this.connection.ask((docker) => docker.getConfig(ID).remove()).catch(() => undefined); // still in use: the next time
    }
  }

  override async logs(recordId: Uuid, { sinceMs, tail, stderr }: LogOptions): Promise<LogLine[]> {
    const found: LogLine[][] = [];
    for (const { ID } of await this.#services(recordId)) {
      const since = sinceMs > 0 ? { since: Math.floor(sinceMs / 1000) } : {};
      const newest = tail === undefined ? {} : { tail };
      const output = await this.connection.ask((docker) =>
        docker.getService(ID).logs({ follow: false, stdout: true, stderr, timestamps: true, ...since, ...newest }),
      );
      // As: a stream of the daemon's is one of bytes.
      found.push(await linesIn(Buffer.isBuffer(output) ? [output] : (output as AsyncIterable<Buffer>)));
    }
    const lines = found.flat().filter(({ atMs }) => atMs >= sinceMs);
    return lines.sort((one, other) => one.atMs - other.atMs);
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

  override watch(onEvent: (event: EngineEvent) => void): Promise<() => void> {
    return watchInstances(this.connection, swarmContainersOf(this.world.worldId), onEvent);
  }

  /** The swarm ends tasks after it has forgotten the service; until then their network is in use. */
  async #untilGone(recordId: Uuid): Promise<void> {
    const { label } = swarmContainersOf(this.world.worldId);
    const filters = { label: [...label, `${LABEL.record}=${recordId}`] };
    for (const untilMs = Date.now() + END_LIMIT_MS; Date.now() < untilMs; await pause(WATCH_INTERVAL_MS)) {
      const left = await this.connection.ask((docker) => docker.listContainers({ all: true, filters }));
      if (left.length === 0) return;
    }
  }

  async #services(recordId?: Uuid): Promise<Service[]> {
    const filters = ownedBy(this.world.worldId, recordId);
    return z.array(service).parse(await this.connection.ask((docker) => docker.listServices({ filters })));
  }

  async #tasksOf({ ID }: Service): Promise<Task[]> {
    const found = await this.connection.ask((docker) => docker.listTasks({ filters: { service: [ID] } }));
    return z
      .array(task)
      .parse(found)
      .sort((one, other) => one.CreatedAt.localeCompare(other.CreatedAt));
  }

  /** The tasks that are to run, or that have run for a job; the swarm also keeps earlier ones as history. */
  async #instancesOf(one: Service): Promise<Instance[]> {
    const { kind } = identityIn(one.Spec.Labels);
    const tasks = (await this.#tasksOf(one)).filter(({ DesiredState }) => kind === 'job' || DesiredState === 'running');
    return tasks.map((each) => this.#instance(one, each));
  }

  #instance(of: Service, { ID, Spec, Status }: Task): Instance {
    const state = STATES[Status.State] ?? 'starting';
    return {
      id: ID,
      ...identityIn(of.Spec.Labels),
      revision: Spec.ContainerSpec.Labels[LABEL.revision] ?? '',
      image: Spec.ContainerSpec.Image,
      imageId: undefined,
      state,
      // A task runs only when its health command, if there is one, has passed.
      health: 'none',
      failedCheck: undefined,
      healthLimitMs: 0,
      cpus: undefined,
      restarts: 0,
      startedAtMs: state === 'running' ? Date.parse(Status.Timestamp) : undefined,
      exitCode: state === 'running' ? undefined : Status.ContainerStatus?.ExitCode,
      wasKilledForMemory: /OOM|137/.test(Status.Err ?? ''),
      error: Status.Err,
      // Reached across the swarm's network only, which we are not on.
      ipAddress: undefined,
      addresses: (Status.PortStatus?.Ports ?? [])
        .filter(({ PublishedPort }) => PublishedPort > 0)
        .map(({ TargetPort, PublishedPort }) => ({
          containerPort: TargetPort,
          host: this.connection.address.publishedHost,
          port: PublishedPort,
        })),
    };
  }

  async #settled(workload: Workload, signal: AbortSignal): Promise<Instance[]> {
    const untilMs = Date.now() + SETTLE_LIMIT_MS;
    for (;;) {
      signal.throwIfAborted();
      const [found] = await this.#services(workload.recordId);
      const tasks = found ? await this.#tasksOf(found) : [];
      const own = tasks.filter(({ Spec }) => Spec.ContainerSpec.Labels[LABEL.revision] === workload.revision);
      const instances = found ? own.map((one) => this.#instance(found, one)) : [];
      const done = instances.filter(
        ({ state }) => state === 'running' || (workload.kind === 'job' && state !== 'starting'),
      );
      if (done.length >= workload.instances) return done;
      const refused = own.find(({ Status }) => Status.State === 'rejected' && Status.Err);
      if (refused) throw refusal(workload.image, refused.Status.Err ?? '');
      if (Date.now() > untilMs) throw new EngineRefusal('fault', 'the swarm did not start the service in time');
      await pause(WATCH_INTERVAL_MS);
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

  /** The container of a task, if that runs on the node that we are connected to. Throws EngineRefusal. */
  protected override async containerOf(taskId: string): Promise<string> {
    const found = task.parse(await this.connection.ask((docker) => docker.getTask(taskId).inspect()));
    const id = found.Status.ContainerStatus?.ContainerID;
    const isHere =
      id !== undefined &&
      (await this.connection.ask((docker) => docker.getContainer(id).inspect()).catch(() => undefined));
    if (isHere && id !== undefined) return id;
    throw new EngineRefusal(
      'missing',
      `task ${taskId} runs on another node of the swarm. Use the daemon of that node.`,
    );
  }
}

const STATES: Readonly<Record<string, Instance['state']>> = {
  running: 'running',
  complete: 'exited',
  failed: 'exited',
  rejected: 'failed',
};

function refusal(image: string, said: string): EngineRefusal {
  if (/no such image|not found|pull access/i.test(said)) {
    const advice = 'check the name, and that each node has the image or can pull it';
    return new EngineRefusal('image', `image '${image}' cannot be pulled: ${said}; ${advice}`);
  }
  return new EngineRefusal('definition', said);
}
