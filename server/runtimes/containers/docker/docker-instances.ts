import { buffer } from 'node:stream/consumers';
import { pack } from 'tar-stream';
import { z } from 'zod';
import type { Uuid } from '../../../model/record.ts';
import {
  EngineRefusal,
  EngineUnreachable,
  type GivenFile,
  type Instance,
  type IsKept,
  type Workload,
} from '../engine.ts';
import type { DockerConnection } from './docker-connection.ts';
import { instanceDefinition, networkName } from './instance-definition.ts';
import { readLogs } from './instance-logs.ts';
import { LABEL, ownedBy, type WorldMark } from './labels.ts';
import { ensureNetwork, inTurn, removeNetwork } from './networks.ts';
import { inspectedContainer, readInstance } from './read-instance.ts';

/** The files belong to root, and each user of the container can read them. */
const FILE_MODE = 0o644;

const listedContainers = z.array(z.looseObject({ Id: z.string(), Created: z.number() }));

export class DockerInstances {
  readonly #world: WorldMark;
  readonly #connection: DockerConnection;
  readonly #stopSeconds: number;
  #cpus: number | undefined;
  /** The platforms of images by the ids of the images. */
  readonly #platforms = new Map<string, string>();

  constructor(world: WorldMark, connection: DockerConnection, stopSeconds: number) {
    this.#world = world;
    this.#connection = connection;
    this.#stopSeconds = stopSeconds;
  }

  async list(recordId?: Uuid): Promise<Instance[]> {
    const filters = ownedBy(this.#world.worldId, recordId);
    const listed = await this.#connection.askFor(listedContainers, (docker) =>
      docker.listContainers({ all: true, filters }),
    );
    listed.sort((a, b) => a.Created - b.Created);
    const found = await Promise.all(listed.map(({ Id }) => this.find(Id)));
    return Promise.all(found.filter((instance) => instance !== undefined).map((each) => this.#withPlatforms(each)));
  }

  /** The engine does not say why a program of another processor ends at once. */
  async #withPlatforms(instance: Instance): Promise<Instance> {
    const { id, exitCode = 0, imageId } = instance;
    const { platform: engine } = this.#connection;
    if (exitCode === 0 || imageId === undefined || engine === undefined) return instance;
    const image = await this.#platformOf(imageId);
    if (image === undefined || image === engine) return instance;
    // A machine can also run programs of other processors, and those end for other reasons.
    const end = { sinceMs: 0, tail: 1, stderr: true };
    const lines = await readLogs(this.#connection, 'containers', [id], end).catch(() => []);
    const isForeign = lines.some(({ text }) => /exec format error/i.test(text));
    return isForeign ? { ...instance, platforms: { image, engine } } : instance;
  }

  /** Undefined where the engine does not tell, which hides no instance. */
  async #platformOf(imageId: string): Promise<string | undefined> {
    const knownPlatform = this.#platforms.get(imageId);
    if (knownPlatform !== undefined) return knownPlatform;
    const inspected = this.#connection.ask((docker) => docker.getImage(imageId).inspect());
    const { Os: os, Architecture: architecture } = Object(await inspected.catch(() => undefined));
    if (!os || !architecture) return undefined;
    this.#platforms.set(imageId, `${os}/${architecture}`);
    return `${os}/${architecture}`;
  }

  async find(id: string): Promise<Instance | undefined> {
    const found = await this.#connection.askTolerantly(
      async (docker) => inspectedContainer.parse(await docker.getContainer(id).inspect()),
      'missing',
    );
    const { address, isOwnKernel } = this.#connection;
    return found && readInstance(found, { ...address, isOwnKernel });
  }

  /** Starts one instance, or removes it if that fails. Throws EngineRefusal of kind `image` when the daemon has no such image. */
  async start(workload: Workload): Promise<Instance> {
    const { bindAddress } = this.#connection.address;
    const options = instanceDefinition(this.#world, workload, bindAddress, await this.#maxCpus());
    const Name = networkName(this.#world.worldId, workload.environmentId);
    await ensureNetwork(this.#connection, this.#world, workload.environmentId, { Name, Driver: 'bridge' });
    const container = await this.#connection.ask((docker) => docker.createContainer(options));
    try {
      if (workload.files.length > 0) {
        const archive = await archiveOf(workload.files);
        await this.#connection.ask(() => container.putArchive(archive, { path: '/' }));
      }
      await this.#connection.ask(() => container.start());
      const started = await this.find(container.id);
      if (started) return started;
      throw new EngineRefusal('fault', `instance ${container.id.slice(0, 12)} was removed while it started`);
    } catch (failure) {
      if (!(failure instanceof EngineUnreachable)) await this.remove(container.id).catch(() => undefined);
      throw failure;
    }
  }

  async #maxCpus(): Promise<number | undefined> {
    this.#cpus ??= Number(Object(await this.#connection.ask((docker) => docker.info())).NCPU) || undefined;
    return this.#cpus;
  }

  /** False if the daemon refuses. */
  async restart(id: string): Promise<boolean> {
    const isStarted = await this.#connection.askTolerantly((docker) =>
      docker
        .getContainer(id)
        .start()
        .then(() => true),
    );
    return isStarted === true;
  }

  /**
   * Stops an instance, then removes it with its anonymous volumes; one that has already ended is removed.
   *
   * @param onStopped called between the two
   */
  async remove(id: string, onStopped?: () => Promise<void>): Promise<void> {
    const container = this.#connection.docker.getContainer(id);
    // Missing: gone already. A conflict: it has ended already, or its removal is under way.
    const tolerantly = (work: () => Promise<unknown>) => this.#connection.askTolerantly(work, 'missing', 'conflict');
    await tolerantly(() => container.stop({ t: this.#stopSeconds }));
    await onStopped?.();
    await tolerantly(() => container.remove({ force: true, v: true }));
  }

  async prune(isKept: IsKept): Promise<void> {
    const filters = ownedBy(this.#world.worldId);
    const [networks, { Volumes: volumes }] = await this.#connection.ask((docker) =>
      Promise.all([docker.listNetworks({ filters }), docker.listVolumes({ filters })]),
    );
    // A network or volume that is in use (403, 409) or missing (404) is checked again the next time.
    for (const { Id: id, Name: name, Labels: labels } of networks) {
      await inTurn(name, async () => {
        if (isKept('environment', labels?.[LABEL.environment] ?? '')) return;
        await removeNetwork(this.#connection, id);
      });
    }
    for (const { Name: name, Labels: labels } of volumes ?? []) {
      if (isKept('volume', labels?.[LABEL.volume] ?? '')) continue;
      await this.#connection.askTolerantly((docker) => docker.getVolume(name).remove());
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
