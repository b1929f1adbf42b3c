import type { LogLine } from '../../../model/invocation.ts';
import type { Uuid } from '../../../model/record.ts';
import {
  type ApplyOptions,
  type ClearOptions,
  type ContainerEngine,
  type EngineEvent,
  EngineRefusal,
  type ExecResult,
  type Instance,
  type InstanceStats,
  type IsKept,
  isAlive,
  type Leftovers,
  type LogOptions,
  type Shell,
  type TerminalSize,
  type Workload,
} from '../engine.ts';
import type { DockerConnection } from './docker-connection.ts';
import { DockerInstances } from './docker-instances.ts';
import { ENDED_LINES, EndedLogs } from './ended-logs.ts';
import { execute } from './execute.ts';
import { pullImage } from './image-pull.ts';
import { followLogs, type LogSource, readLogs } from './instance-logs.ts';
import { ownedBy, type WorldMark } from './labels.ts';
import { clearWorld, sweepWorlds } from './leftovers.ts';
import { bareId } from './read-instance.ts';
import { openShell } from './shell.ts';
import { watchInstances } from './watch-instances.ts';
import { refuseCopy } from './world-users.ts';

/**
 * Reads the resource use of an instance. The daemon measures for about a second. Throws EngineRefusal `missing` when
 * the instance no longer runs.
 */
async function readStats(connection: DockerConnection, instanceId: string): Promise<InstanceStats> {
  const measured = await connection.ask((docker) => docker.getContainer(instanceId).stats({ stream: false }));
  // For an instance that has ended, the daemon returns the year 1; for one that ends meanwhile, no time.
  if (!(Date.parse(measured.read) > 0)) {
    throw new EngineRefusal('missing', `instance ${instanceId} is not running, so it cannot be measured`);
  }
  const { cpu_stats: now, precpu_stats: before, memory_stats: memory, networks } = measured;
  const used = now.cpu_usage.total_usage - (before.cpu_usage?.total_usage ?? 0);
  const passed = (now.system_cpu_usage ?? 0) - (before.system_cpu_usage ?? 0);
  // Caches do not count, because the system frees them when memory is needed; docker's own command omits them, too.
  const cache = Object(memory.stats).total_inactive_file ?? Object(memory.stats).inactive_file ?? 0;
  const traffic = Object.values(networks ?? {});
  return {
    cpus: passed > 0 ? (used / passed) * (now.online_cpus ?? 1) : 0,
    memoryBytes: Math.max(0, (memory.usage ?? 0) - cache),
    memoryLimitBytes: memory.limit ?? 0,
    receivedBytes: traffic.reduce((sum, network) => sum + network.rx_bytes, 0),
    sentBytes: traffic.reduce((sum, network) => sum + network.tx_bytes, 0),
  };
}

/** The default of the docker command. */
const STOP_SECONDS = 10;
const SWEEP_LIMIT_MS = 60_000;

export interface DockerEngineOptions extends WorldMark {
  connection: DockerConnection;
  /** Time that an instance has to end by itself after its stop signal. */
  stopSeconds?: number;
}

export class DockerEngine implements ContainerEngine {
  protected readonly world: WorldMark;
  protected readonly connection: DockerConnection;
  protected readonly stopSeconds: number;
  protected readonly logSource: LogSource = 'containers';
  readonly #instances: DockerInstances;
  readonly #endedLogs = new EndedLogs();

  constructor({ connection, stopSeconds = STOP_SECONDS, ...world }: DockerEngineOptions) {
    this.world = world;
    this.connection = connection;
    this.stopSeconds = stopSeconds;
    this.#instances = new DockerInstances(world, connection, stopSeconds);
  }

  async ping(): Promise<string> {
    const { isPodman, version } = await this.connection.identify();
    await refuseCopy(this.connection, this.world);
    return `${isPodman ? 'Podman' : 'Docker'} ${version}`;
  }

  async beat(): Promise<void> {
    await this.connection.ask((docker) => docker.ping());
  }

  list(recordId?: Uuid): Promise<Instance[]> {
    return this.#instances.list(recordId);
  }

  async apply(workload: Workload, options: ApplyOptions): Promise<void> {
    options.signal.throwIfAborted();
    const found = await this.#instances.list(workload.recordId);
    const isOfNow = ({ revision, imageId }: Instance) =>
      revision === workload.revision && (workload.imageId === undefined || workload.imageId === imageId);
    const old = found.filter((instance) => !isOfNow(instance));
    const present = await this.#revive(workload, found.filter(isOfNow));
    const missing = Math.max(0, workload.instances - present.length);
    if (missing > 0) {
      const isFresh = present.length === 0;
      if (isFresh && workload.forcePull) await this.#pullIfPossible(workload.image, options);
      options.signal.throwIfAborted();
      if (old.length > 0) options.onReplacing();
      const startedInstances = await this.#startAll(workload, missing, options);
      if (old.length > 0) await this.#untilReady(startedInstances, options);
    }
    options.signal.throwIfAborted();
    const surplus = workload.kind === 'job' ? [] : present.slice(0, Math.max(0, present.length - workload.instances));
    const removals = [...old, ...surplus].map(async (instance) => {
      await options.beforeRemoval(instance);
      await this.#remove(instance);
    });
    for (const removal of await Promise.allSettled(removals)) if (removal.status === 'rejected') throw removal.reason;
  }

  async remove(recordId: Uuid): Promise<void> {
    const found = await this.#instances.list(recordId);
    await Promise.all(found.map((instance) => this.#remove(instance)));
  }

  clear(options: ClearOptions): Promise<Leftovers> {
    return clearWorld(this.connection, this.world.worldId, options);
  }

  sweep(): Promise<void> {
    return sweepWorlds(this.connection, SWEEP_LIMIT_MS);
  }

  prune(isKept: IsKept): Promise<void> {
    return this.#instances.prune(isKept);
  }

  async logs(recordId: Uuid, options: LogOptions): Promise<LogLine[]> {
    const ids = await this.idsWithLog(recordId);
    const { instanceId } = options;
    const idsToRead = instanceId === undefined ? ids : ids.filter((id) => id === instanceId);
    const lines = await readLogs(this.connection, this.logSource, idsToRead, options);
    const all = [...this.#endedLogs.linesOf(recordId, options, ids), ...lines].sort((a, b) => a.atMs - b.atMs);
    return all.slice(Math.max(0, all.length - options.tail));
  }

  follow(recordId: Uuid, onNews: () => void): Promise<() => void> {
    return followLogs(this.connection, {
      ...{ source: this.logSource, recordId, onNews },
      // What a paused one has written is read, too, and it can continue without a new start.
      alive: async () =>
        (await this.list(recordId))
          .filter(({ state }) => state === 'running' || state === 'paused')
          .map(({ id }) => id),
      watch: (onEvent) => this.watch(onEvent),
    });
  }

  async stats(instanceId: string): Promise<InstanceStats> {
    return readStats(this.connection, await this.containerOf(instanceId));
  }

  async exec(instanceId: string, command: readonly string[]): Promise<ExecResult> {
    return execute(this.connection, await this.containerOf(instanceId), command);
  }

  async openShell(instanceId: string, size: TerminalSize): Promise<Shell> {
    return openShell(this.connection, await this.containerOf(instanceId), size);
  }

  async findImage(image: string): Promise<string | undefined> {
    const found = await this.connection.askTolerantly((docker) => docker.getImage(image).inspect());
    return found && bareId(found.Id);
  }

  watch(onEvent: (event: EngineEvent) => void): Promise<() => void> {
    return watchInstances(this.connection, ownedBy(this.world.worldId), onEvent);
  }

  close(): void {
    this.connection.close();
  }

  protected async idsWithLog(recordId: Uuid): Promise<string[]> {
    return (await this.#instances.list(recordId)).map(({ id }) => id);
  }

  protected async containerOf(instanceId: string): Promise<string> {
    return instanceId;
  }

  async #remove({ id, recordId }: Instance): Promise<void> {
    await this.#instances.remove(id, async () => {
      const all = { sinceMs: 0, tail: ENDED_LINES, stderr: true };
      // An engine that cannot tell its log does not keep the instance.
      this.#endedLogs.keep(recordId, await readLogs(this.connection, 'containers', [id], all).catch(() => []));
    });
  }

  /** Usable instances of the current revision: removes incomplete ones and starts stopped ones again, except jobs that have run. */
  async #revive({ kind }: Workload, present: readonly Instance[]): Promise<Instance[]> {
    const revivedInstances = await Promise.all(
      present.map(async (instance) => {
        if ((kind === 'job' && instance.state !== 'starting') || isAlive(instance)) return instance;
        if (instance.state === 'exited' && (await this.#instances.restart(instance.id))) return instance;
        await this.#instances.remove(instance.id);
        return undefined;
      }),
    );
    return revivedInstances.filter((instance) => instance !== undefined);
  }

  /** Starts so many, pulling the image when the daemon turns out not to have it. */
  async #startAll(workload: Workload, count: number, options: ApplyOptions): Promise<Instance[]> {
    const start = () => this.#instances.start(workload);
    let first: Instance;
    try {
      first = await start();
    } catch (failure) {
      if (!(failure instanceof EngineRefusal) || failure.kind !== 'image') throw failure;
      await pullImage(this.connection, workload.image, options);
      first = await start();
    }
    return [first, ...(await Promise.all(Array.from({ length: count - 1 }, start)))];
  }

  /** Offline is no reason not to run what is there: an image that the daemon has is used when it cannot be pulled again. */
  async #pullIfPossible(image: string, options: ApplyOptions): Promise<void> {
    try {
      await pullImage(this.connection, image, options);
    } catch (failure) {
      options.signal.throwIfAborted();
      if (!(failure instanceof EngineRefusal)) throw failure;
      if ((await this.findImage(image)) === undefined) throw failure;
    }
  }

  /** In a rolling update new instances have to serve before the old ones go; those that never do, go themselves. */
  async #untilReady(newInstances: readonly Instance[], options: ApplyOptions): Promise<void> {
    try {
      await Promise.all(newInstances.map((instance) => options.whenReady(instance)));
    } catch (failure) {
      await Promise.all(newInstances.map(({ id }) => this.#instances.remove(id)));
      throw failure;
    }
  }
}
