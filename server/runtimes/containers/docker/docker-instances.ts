import { pack } from 'tar-stream';
import type { Uuid } from '../../../model/record.ts';
import { EngineRefusal, EngineUnreachable, type GivenFile, type Instance, type Workload } from '../engine.ts';
import type { DockerConnection } from './docker-connection.ts';
import { instanceDefinition, networkName } from './instance-definition.ts';
import { LABEL, marksOf, ownedBy, type WorldMark } from './labels.ts';
import { readInstance } from './read-instance.ts';

const STOP_GRACE_S = 3;
/** Given files belong to root; only their owner and group read them. */
const FILE_MODE = 0o644;

export class DockerInstances {
  readonly #world: WorldMark;
  readonly #connection: DockerConnection;
  readonly #networks = new Map<Uuid, Promise<void>>();

  constructor(world: WorldMark, connection: DockerConnection) {
    this.#world = world;
    this.#connection = connection;
  }

  async list(recordId?: Uuid): Promise<Instance[]> {
    const filters = ownedBy(this.#world.worldId, recordId);
    const listed = await this.#connection.ask((docker) => docker.listContainers({ all: true, filters }));
    listed.sort((one, other) => one.Created - other.Created);
    const found = await Promise.all(listed.map(({ Id }) => this.find(Id)));
    return found.filter((one) => one !== undefined);
  }

  async find(id: string): Promise<Instance | undefined> {
    const found = await this.#connection.askTolerantly((docker) => docker.getContainer(id).inspect(), 'missing');
    const { address, isOwnKernel } = this.#connection;
    return found && readInstance(found, { ...address, isOwnKernel });
  }

  /** Starts one instance, or removes it if that fails. Throws EngineRefusal of kind `image` when the daemon has no such image. */
  async start(workload: Workload): Promise<Instance> {
    const { bindAddress } = this.#connection.address;
    const options = instanceDefinition(this.#world, workload, bindAddress);
    const make = () => this.#connection.ask((docker) => docker.createContainer(options));
    await this.#ensureNetwork(workload.environmentId);
    const container = await make();
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
      // Somebody removed the network since it was last seen.
      if (failure instanceof EngineRefusal && /network .*not found/i.test(failure.message))
        this.#networks.delete(workload.environmentId);
      if (!(failure instanceof EngineUnreachable)) await this.remove(container.id).catch(() => undefined);
      throw failure;
    }
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

  /** Stops an instance, then removes it with its anonymous volumes; one that has already ended is removed. */
  async remove(id: string): Promise<void> {
    const container = this.#connection.docker.getContainer(id);
    // Missing: gone already. A conflict: it has ended already, or its removal is under way.
    const tolerantly = (work: () => Promise<unknown>) => this.#connection.askTolerantly(work, 'missing', 'conflict');
    await tolerantly(() => container.stop({ t: STOP_GRACE_S }));
    await tolerantly(() => container.remove({ force: true, v: true }));
  }

  async prune(kept: { environments: ReadonlySet<Uuid>; volumes: ReadonlySet<Uuid> }): Promise<void> {
    const filters = ownedBy(this.#world.worldId);
    const [networks, { Volumes: volumes }] = await this.#connection.ask((docker) =>
      Promise.all([docker.listNetworks({ filters }), docker.listVolumes({ filters })]),
    );
    // A network or volume that is in use (403, 409) or missing (404) is checked again the next time.
    for (const { Id: id, Labels: labels } of networks) {
      const environmentId = labels?.[LABEL.environment] ?? '';
      if (kept.environments.has(environmentId)) continue;
      this.#networks.delete(environmentId);
      await this.#connection.askTolerantly((docker) => docker.getNetwork(id).remove());
    }
    for (const { Name: name, Labels: labels } of volumes ?? []) {
      if (kept.volumes.has(labels?.[LABEL.volume] ?? '')) continue;
      await this.#connection.askTolerantly((docker) => docker.getVolume(name).remove());
    }
  }

  /** One network an environment, however many ask for it at once (D-049). */
  #ensureNetwork(environmentId: Uuid): Promise<void> {
    const known = this.#networks.get(environmentId);
    if (known) return known;
    const Name = networkName(this.#world.worldId, environmentId);
    const made = ensureNetwork(this.#connection, this.#world, environmentId, { Name, Driver: 'bridge' });
    this.#networks.set(environmentId, made);
    made.catch(() => this.#networks.delete(environmentId));
    return made;
  }
}

/** Makes the network of an environment unless it exists. */
export async function ensureNetwork(
  connection: DockerConnection,
  world: WorldMark,
  environmentId: Uuid,
  options: { Name: string; Driver: 'bridge' } | { Name: string; Driver: 'overlay'; Attachable: true },
): Promise<void> {
  const { Name } = options;
  if (await connection.askTolerantly((docker) => docker.getNetwork(Name).inspect(), 'missing')) return;
  const Labels = { ...marksOf(world), [LABEL.environment]: environmentId };
  await connection.askTolerantly(
    (docker) => docker.createNetwork({ ...options, CheckDuplicate: true, Labels }),
    'conflict',
  );
}

async function archiveOf(files: readonly GivenFile[]): Promise<Buffer> {
  const archive = pack();
  for (const { path, content } of files) {
    archive.entry({ name: path.replace(/^\/+/, ''), mode: FILE_MODE }, Buffer.from(content));
  }
  archive.finalize();
  const chunks: Buffer[] = [];
  for await (const chunk of archive as AsyncIterable<Buffer>) chunks.push(chunk); // its type leaves it unknown
  return Buffer.concat(chunks);
}
