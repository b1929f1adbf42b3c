import { buffer } from 'node:stream/consumers';
import type Docker from 'dockerode';
import { pack } from 'tar-stream';
import { z } from 'zod';
import type { LogLine } from '../../../model/invocation.ts';
import type { Uuid } from '../../../model/record.ts';
import { Turns } from '../../../system/turns.ts';
import {
  type ApplyOptions,
  type ClearOptions,
  type EngineEvent,
  EngineRefusal,
  EngineUnreachable,
  type ExecResult,
  type GivenFile,
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
import { execute } from './execute.ts';
import { pullImage } from './image-pull.ts';
import { instanceDefinition, networkName } from './instance-definition.ts';
import { ENDED_LINES, EndedLogs, followLogs, type LogSource, readLogs } from './instance-logs.ts';
import { LABEL, ownedBy, type WorldMark } from './labels.ts';
import { clearWorld, requireSoleFolder, sweepWorlds } from './leftovers.ts';
import { ensureNetwork, inTurn, removeNetwork } from './networks.ts';
import { openShell } from './open-shell.ts';
import { bareId, readInstance, requiredMembers } from './read-instance.ts';
import { watchInstances } from './watch-instances.ts';

/** The daemon measures for about a second. Throws EngineRefusal `missing` if the instance no longer runs. */
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

const SWEEP_LIMIT_MS = 60_000;
/** Instances that start, and that end, at the same time; more only slow each other down. One that ends mostly takes its time. */
const MAX_STARTS = 4;
const MAX_ENDS = 16;
/** A daemon loads a few layers at a time; the image of a pull that waits for them would count as silent. */
const MAX_PULLS = 4;
/** The files belong to root, and each user of the container can read them. */
const FILE_MODE = 0o644;

const listedContainers = z.array(z.looseObject({ Id: z.string(), Created: z.number() }));

export interface DockerEngineOptions extends WorldMark {
  connection: DockerConnection;
  /** Time that an instance has to end by itself after its stop signal; by default the docker command's. */
  stopSeconds?: number;
}

/** All that it creates has its world's id as a label; it never touches anything without such a label. Its methods reject with EngineUnreachable or EngineRefusal. */
export class DockerEngine {
  protected readonly world: WorldMark;
  protected readonly connection: DockerConnection;
  protected readonly stopSeconds: number;
  protected readonly logSource: LogSource = 'containers';
  /** Only the requests of a start are in line: one that waits for an image or its health keeps no other container from the engine. */
  protected readonly starts = new Turns(MAX_STARTS);
  readonly #ends = new Turns(MAX_ENDS);
  readonly #pulls = new Turns(MAX_PULLS);
  readonly #endedLogs = new EndedLogs();
  /** CPUs of the engine's machine. */
  #cpus: number | undefined;

  constructor({ connection, stopSeconds = 10, ...world }: DockerEngineOptions) {
    this.world = world;
    this.connection = connection;
    this.stopSeconds = stopSeconds;
  }

  /** Resolves to the name and version of an engine that can be used. */
  async ping(): Promise<string> {
    const { isPodman, version } = await this.connection.identify();
    await requireSoleFolder(this.connection, this.world);
    return `${isPodman ? 'Podman' : 'Docker'} ${version}`;
  }

  /** Resolves as soon as the daemon answers; rejects when it has not for some seconds. */
  async beat(): Promise<void> {
    await this.connection.ask((docker) => docker.ping());
  }

  /** Returns every instance of this world, or of one record of it, in any state, jobs' too; oldest first. */
  async list(recordId?: Uuid): Promise<Instance[]> {
    const filters = ownedBy(this.world.worldId, recordId);
    const listed = await this.connection.askFor(listedContainers, (docker) =>
      docker.listContainers({ all: true, filters }),
    );
    listed.sort((a, b) => a.Created - b.Created);
    const found = await Promise.all(listed.map(({ Id }) => this.#find(Id)));
    return Promise.all(found.filter((instance) => instance !== undefined).map((each) => this.#withPlatforms(each)));
  }

  /** Pulls the image, starts what is missing, replaces other revisions (new ones first, D-052), and removes the surplus. */
  async apply(workload: Workload, options: ApplyOptions): Promise<void> {
    options.signal.throwIfAborted();
    const found = await this.list(workload.recordId);
    const isOfNow = ({ revision, imageId }: Instance) =>
      revision === workload.revision && (workload.imageId === undefined || workload.imageId === imageId);
    const old = found.filter((instance) => !isOfNow(instance));
    const present = await this.#revive(workload, found.filter(isOfNow));
    const missing = Math.max(0, workload.instances - present.length);
    if (missing > 0) {
      const isFresh = present.length === 0;
      if (isFresh && workload.forcePull) await this.#pullIfPossible(workload.image, options);
      options.signal.throwIfAborted();
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
    const found = await this.list(recordId);
    await Promise.all(found.map((instance) => this.#remove(instance)));
  }

  /** Resolves to what of this world could not be removed within the limit. */
  clear(options: ClearOptions): Promise<Leftovers> {
    return clearWorld(this.connection, this.world, options);
  }

  /** Removes what other worlds left, volumes too, if they were in memory only and their owner is gone. */
  sweep(): Promise<void> {
    return sweepWorlds(this.connection, SWEEP_LIMIT_MS);
  }

  /** Removes networks of environments, and volumes, that are not kept and that no instance uses. */
  async prune(isKept: IsKept): Promise<void> {
    const filters = ownedBy(this.world.worldId);
    const [networks, { Volumes: volumes }] = await this.connection.ask((docker) =>
      Promise.all([docker.listNetworks({ filters }), docker.listVolumes({ filters })]),
    );
    // A network or volume that is in use (403, 409) or missing (404) is checked again the next time.
    for (const { Id: id, Name: name, Labels: labels } of networks) {
      await inTurn(name, async () => {
        if (isKept('environment', labels?.[LABEL.environment] ?? '')) return;
        await removeNetwork(this.connection, id);
      });
    }
    for (const { Name: name, Labels: labels } of volumes ?? []) {
      if (isKept('volume', labels?.[LABEL.volume] ?? '')) continue;
      await this.connection.askTolerantly((docker) => docker.getVolume(name).remove());
    }
  }

  async logs(recordId: Uuid, options: LogOptions): Promise<LogLine[]> {
    const ids = await this.idsWithLog(recordId);
    const { instanceId } = options;
    const idsToRead = instanceId === undefined ? ids : ids.filter((id) => id === instanceId);
    const lines = await readLogs(this.connection, this.logSource, idsToRead, options);
    const all = [...this.#endedLogs.linesOf(recordId, options, ids), ...lines].sort((a, b) => a.atMs - b.atMs);
    return all.slice(Math.max(0, all.length - options.tail));
  }

  /** Calls whenever an instance of a record, also a later one, has written something, until the returned function is called. */
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

  /** Resolves to the id of what an image's name means on the engine now; undefined if it has no such image. */
  async findImage(image: string): Promise<string | undefined> {
    const found = await this.connection.askTolerantly((docker) => docker.getImage(image).inspect());
    return found && bareId(found.Id);
  }

  /** Reports each change of an instance until the returned function is called or the connection is lost. */
  watch(onEvent: (event: EngineEvent) => void): Promise<() => void> {
    return watchInstances(this.connection, ownedBy(this.world.worldId), onEvent);
  }

  /** Closes the connection: pending requests reject, and containers continue to run. The next call connects again. */
  close(): void {
    this.connection.close();
  }

  protected async idsWithLog(recordId: Uuid): Promise<string[]> {
    return (await this.list(recordId)).map(({ id }) => id);
  }

  protected async containerOf(instanceId: string): Promise<string> {
    return instanceId;
  }

  /** Stops an instance, then removes it with its anonymous volumes. Its record keeps the end of its log. */
  #remove({ id, recordId }: Instance): Promise<void> {
    return this.#ends.run(async () => {
      const container = this.connection.docker.getContainer(id);
      // Missing: gone already. A conflict: it has ended already, or its removal is under way.
      const tolerantly = (work: () => Promise<unknown>) => this.connection.askTolerantly(work, 'missing', 'conflict');
      await tolerantly(() => container.stop({ t: this.stopSeconds }));
      const all = { sinceMs: 0, tail: ENDED_LINES, stderr: true };
      // An engine that cannot tell its log does not keep the instance.
      this.#endedLogs.keep(recordId, await readLogs(this.connection, 'containers', [id], all).catch(() => []));
      await tolerantly(() => container.remove({ force: true, v: true }));
    });
  }

  /** The engine does not say why a program of another processor ends at once. */
  async #withPlatforms(instance: Instance): Promise<Instance> {
    const { id, exitCode = 0, imageId } = instance;
    const { platform: engine } = this.connection;
    if (exitCode === 0 || imageId === undefined || engine === undefined) return instance;
    const inspected = this.connection.ask((docker) => docker.getImage(imageId).inspect());
    // Where the engine does not tell, the instance is shown all the same.
    const { Os: os, Architecture: architecture } = Object(await inspected.catch(() => undefined));
    const image = `${os}/${architecture}`;
    if (!os || !architecture || image === engine) return instance;
    // A machine can also run programs of other processors, and those end for other reasons.
    const end = { sinceMs: 0, tail: 1, stderr: true };
    const lines = await readLogs(this.connection, 'containers', [id], end).catch(() => []);
    const isForeign = lines.some(({ text }) => /exec format error/i.test(text));
    return isForeign ? { ...instance, platforms: { image, engine } } : instance;
  }

  async #find(id: string): Promise<Instance | undefined> {
    const found = await this.connection.askTolerantly(async (docker) => {
      const answer = await docker.getContainer(id).inspect();
      requiredMembers.parse(answer);
      return answer;
    }, 'missing');
    const { address, isOwnKernel } = this.connection;
    return found && readInstance(found, { ...address, isOwnKernel });
  }

  /** Starts one instance, or removes it if that fails. Throws EngineRefusal of kind `image` when the daemon has no such image. */
  async #start(workload: Workload): Promise<Instance> {
    const { bindAddress } = this.connection.address;
    this.#cpus ??= Number(Object(await this.connection.ask((docker) => docker.info())).NCPU) || undefined;
    const options = instanceDefinition(this.world, workload, bindAddress, this.#cpus);
    const Name = networkName(this.world.worldId, workload.environmentId);
    await ensureNetwork(this.connection, this.world, workload.environmentId, { Name, Driver: 'bridge' });
    const container = await this.connection.ask((docker) => docker.createContainer(options));
    try {
      if (workload.files.length > 0) {
        const archive = await archiveOf(workload.files);
        await this.connection.ask(() => container.putArchive(archive, { path: '/' }));
      }
      await this.connection.ask(() => container.start());
      const started = await this.#find(container.id);
      if (started) return started;
      throw new EngineRefusal('fault', `instance ${container.id.slice(0, 12)} was removed while it started`);
    } catch (failure) {
      if (!(failure instanceof EngineUnreachable))
        await this.connection.ask(() => container.remove({ force: true, v: true })).catch(() => undefined);
      throw failure;
    }
  }

  /** Usable instances of the current revision: removes incomplete ones and starts stopped ones again, except jobs that have run. */
  async #revive({ kind }: Workload, present: readonly Instance[]): Promise<Instance[]> {
    const revivedInstances = await Promise.all(
      present.map(async (instance) => {
        if ((kind === 'job' && instance.state !== 'starting') || isAlive(instance)) return instance;
        if (instance.state === 'exited' && (await this.#startAgain(instance.id))) return instance;
        await this.#remove(instance);
        return undefined;
      }),
    );
    return revivedInstances.filter((instance) => instance !== undefined);
  }

  /** False if the daemon refuses. */
  async #startAgain(id: string): Promise<boolean> {
    const start = async (docker: Docker) => {
      await docker.getContainer(id).start();
      return true;
    };
    return (await this.starts.run(() => this.connection.askTolerantly(start))) === true;
  }

  /** Starts so many, pulling the image when the daemon turns out not to have it. */
  async #startAll(workload: Workload, count: number, options: ApplyOptions): Promise<Instance[]> {
    const failing = new AbortController();
    const start = () =>
      this.starts.run(() => {
        options.signal.throwIfAborted();
        failing.signal.throwIfAborted();
        return this.#start(workload);
      });
    let first: Instance;
    try {
      first = await start();
    } catch (failure) {
      if (!(failure instanceof EngineRefusal) || failure.kind !== 'image') throw failure;
      await this.#pulls.run(async () => {
        options.signal.throwIfAborted();
        // Another container may have pulled it meanwhile.
        if ((await this.findImage(workload.image)) === undefined)
          await pullImage(this.connection, workload.image, options);
      });
      first = await start();
    }
    const otherStarts = Array.from({ length: count - 1 }, () =>
      start().catch((failure: unknown) => {
        failing.abort(failure);
        throw failure;
      }),
    );
    // Of those that have begun, none is left to a later look.
    await Promise.allSettled(otherStarts);
    return [first, ...(await Promise.all(otherStarts))];
  }

  /** Offline is no reason not to run what is there: an image that the daemon has is used when it cannot be pulled again. */
  async #pullIfPossible(image: string, options: ApplyOptions): Promise<void> {
    try {
      await this.#pulls.run(() => {
        options.signal.throwIfAborted();
        return pullImage(this.connection, image, options);
      });
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
      await Promise.all(newInstances.map((instance) => this.#remove(instance)));
      throw failure;
    }
  }
}

async function archiveOf(files: readonly GivenFile[]): Promise<Buffer> {
  const archive = pack();
  for (const { path, content } of files) {
    archive.entry({ name: path.replace(/^\/+/, ''), mode: FILE_MODE }, Buffer.from(content));
  }
  archive.finalize();
  return buffer(archive as AsyncIterable<Buffer>); // its type leaves it unknown
}
