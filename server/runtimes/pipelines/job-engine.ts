import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { RequestOptions } from 'node:http';
import { basename, dirname } from 'node:path';
import { PassThrough, type Readable } from 'node:stream';
import { finished, pipeline } from 'node:stream/promises';
import { setTimeout as pause } from 'node:timers/promises';
import type Docker from 'dockerode';
import { reasonOf } from '../../model/errors.ts';
import { homeFolder } from '../../system/nearest-folder.ts';
import { ownerHere } from '../../system/owner.ts';
import { startProgram } from '../../system/programs.ts';
import { dockerAddress } from '../containers/docker/docker-address.ts';
import type { DockerConnection } from '../containers/docker/docker-connection.ts';
import { pullImage } from '../containers/docker/image-pull.ts';
import { marksOf, type WorldMark } from '../containers/docker/labels.ts';
import { clearWorld, sweepWorlds } from '../containers/docker/leftovers.ts';
import { OutputFrames } from '../containers/docker/output.ts';
import { EngineUnreachable } from '../containers/engine.ts';
import { type JobNetwork, LOOPBACK_FROM_MACHINE } from './platform-route.ts';
import { type JobToRun, readLines } from './run-on-host.ts';

const STOP_SECONDS = 2;
const RESPONSE_LIMIT_MS = 60_000;
const CLEAR_LIMIT_MS = 30_000;
/** A run waits for the removal of what ended runs have left, but not for what cannot be removed. */
const SWEEP_LIMIT_MS = 30_000;

interface NewContainer {
  network: string;
  aliases?: string[];
  hosts?: string[];
  binds?: string[];
  user?: string | undefined;
  workingDir?: string;
  image: string;
  /** In place of that of the image. */
  entrypoint: readonly string[] | undefined;
  command: readonly string[];
  variables: Readonly<Record<string, string>>;
}

/** The container engine of a run. What jobs have there has the marks of a world that ends with the process of the run. */
export class JobEngine {
  readonly world: WorldMark;
  readonly connection: DockerConnection;
  /** The location of the engine's networks. */
  readonly site: 'here' | 'virtual machine' | 'elsewhere';
  /** Names of the images that jobs of the run have pulled, loaded or tagged, with the ids of the images. */
  readonly imageIds = new Map<string, string>();
  readonly #isPodman: boolean;

  private constructor(connection: DockerConnection, world: WorldMark, isPodman: boolean) {
    this.connection = connection;
    this.world = world;
    this.#isPodman = isPodman;
    const { transport, publishedHost } = connection.address;
    const isLocal = transport.kind !== 'ssh' && publishedHost === '127.0.0.1';
    this.site = connection.isOwnKernel ? 'here' : isLocal ? 'virtual machine' : 'elsewhere';
  }

  /**
   * Opens the engine and removes what ended runs have left there; or returns why it does not respond.
   * @param engine the setting `containers.engine`: `auto` for the engine that the docker command would use, `none`, or an address
   */
  static async find(
    env: Readonly<Record<string, string | undefined>>,
    engine = 'auto',
    worldId: string = randomUUID(),
  ): Promise<JobEngine | { absence: string }> {
    if (engine === 'none')
      return { absence: 'the setting containers.engine is none. Set it to auto or to an address.' };
    try {
      const isDefault = engine === 'auto';
      const user = { env: { ...env }, homeDir: env.HOME ?? homeFolder() };
      const { DockerConnection } = await import('../containers/docker/docker-connection.ts');
      const connection = isDefault
        ? new DockerConnection(dockerAddress(undefined, user), { addressSetting: 'DOCKER_HOST', user })
        : new DockerConnection(dockerAddress(engine, user), { addressSetting: 'containers.engine', user });
      const { isPodman } = await connection.identify();
      await sweepWorlds(connection, SWEEP_LIMIT_MS).catch(() => undefined); // the next run tries again
      return new JobEngine(connection, { worldId, owner: await ownerHere(undefined) }, isPodman);
    } catch (failure) {
      return { absence: reasonOf(failure) };
    }
  }

  /**
   * Returns the address of the engine's API for requests of jobs; undefined for Podman, another machine and an address
   * that needs keys.
   */
  get requestTarget(): Pick<RequestOptions, 'socketPath' | 'hostname' | 'port'> | undefined {
    const { transport } = this.connection.address;
    if (this.#isPodman || this.site !== 'here') return undefined;
    if (transport.kind === 'socket') return { socketPath: transport.path };
    if (transport.kind === 'ssh' || transport.tls) return undefined;
    return { hostname: transport.host, port: transport.port };
  }

  async createNetwork(): Promise<{ id: string; network: JobNetwork | undefined }> {
    const options = { Name: `terrarium-job-${randomUUID()}`, Labels: marksOf(this.world) };
    const { id } = await this.connection.ask((docker) => docker.createNetwork(options));
    const { IPAM } = await this.connection.ask((docker) => docker.getNetwork(id).inspect());
    const { Subnet: subnet, Gateway: gateway } = IPAM?.Config?.[0] ?? {};
    return { id, network: subnet && gateway ? { subnet, gateway } : undefined };
  }

  async create({ network, aliases = [], hosts = [], binds = [], ...container }: NewContainer): Promise<string> {
    const { image, entrypoint, command, variables, user, workingDir } = container;
    // Containers of Podman have the name of this machine without that.
    const isOutward = this.site === 'virtual machine' && !this.#isPodman;
    const created = await this.connection.ask((docker) =>
      docker.createContainer({
        Image: image,
        ...(entrypoint && { Entrypoint: entrypoint.length > 0 ? [...entrypoint] : [''] }),
        ...(command.length > 0 && { Cmd: [...command] }),
        ...(user && { User: user }),
        ...(workingDir && { WorkingDir: workingDir }),
        Env: Object.entries(variables).map(([name, value]) => `${name}=${value}`),
        Labels: marksOf(this.world),
        HostConfig: {
          NetworkMode: network,
          ExtraHosts: [...hosts, ...(isOutward ? [`${LOOPBACK_FROM_MACHINE}:host-gateway`] : [])],
          Binds: binds,
        },
        NetworkingConfig: { EndpointsConfig: { [network]: { Aliases: aliases } } },
      }),
    );
    return created.id;
  }

  /** Starts a container, and resolves to its exit code; rejects if the connection is lost before. */
  async run(container: string, { signal, onLine }: Pick<JobToRun, 'signal' | 'onLine'>): Promise<number> {
    const handle = this.connection.docker.getContainer(container);
    const output = await this.connection.ask(() => handle.attach({ stream: true, stdout: true, stderr: true }));
    const lines = { stdout: new PassThrough(), stderr: new PassThrough() };
    for (const outputLines of Object.values(lines)) readLines(outputLines, onLine);
    const frames = new OutputFrames((stream, piece) => lines[stream].write(Buffer.from(piece)));
    output.on('data', (chunk: Buffer) => frames.push(chunk));
    // Whether the container has ended or the connection was lost shows below.
    const ended = finished(output).catch(() => undefined);
    const stop = () => {
      this.connection.ask(() => handle.stop({ t: STOP_SECONDS })).catch(() => Object(output).destroy?.());
    };
    try {
      signal.throwIfAborted();
      await this.connection.ask(() => handle.start()).catch(rejectLostEngine);
      signal.addEventListener('abort', stop, { once: true });
      if (signal.aborted) stop();
      await ended;
    } finally {
      signal.removeEventListener('abort', stop);
      const closed = Object.values(lines).map((outputLines) => once(outputLines.end(), 'close'));
      await Promise.all(closed);
    }
    const result = await Promise.race([
      this.connection.ask(() => handle.wait()),
      pause(RESPONSE_LIMIT_MS, undefined, { ref: false }),
    ]).catch(rejectLostEngine);
    if (result) return Number(result.StatusCode);
    throw new Error('the connection to the container engine was lost while the job was running. Run the job again.');
  }

  /** Copies a folder into the top folder of a container. */
  async copyIn(folder: string, container: string): Promise<void> {
    const args = ['--create', '--file', '-', '--directory', dirname(folder), basename(folder)];
    const tar = startProgram('tar', args, { stdio: ['ignore', 'pipe', 'ignore'] });
    const packed = succeeded(tar);
    const target = this.connection.docker.getContainer(container);
    await Promise.all([packed, this.connection.ask(() => target.putArchive(tar.stdout, { path: '/' }))]);
  }

  /** Copies the content of a folder of a container over that of a folder here. */
  async copyOut(container: string, path: string, folder: string): Promise<void> {
    const archive = await this.connection.ask((docker) => docker.getContainer(container).getArchive({ path }));
    const args = ['--extract', '--file', '-', '--directory', folder, '--strip-components', '1', '--no-same-owner'];
    const tar = startProgram('tar', args, { stdio: ['pipe', 'ignore', 'ignore'] });
    await Promise.all([succeeded(tar), pipeline(archive, tar.stdin)]);
  }

  async hasImage(name: string): Promise<boolean> {
    return (await this.connection.askTolerantly((docker) => docker.getImage(name).inspect())) !== undefined;
  }

  /** Pulls an image unless the engine has it. Rejects with the reason if it cannot be pulled. */
  async requireImage(name: string, signal: AbortSignal, onPull?: () => void): Promise<void> {
    if (await this.hasImage(name)) return;
    signal.throwIfAborted();
    onPull?.();
    await pullImage(this.connection, name, { signal });
  }

  async importImage(archive: AsyncIterable<unknown>, options: object): Promise<void> {
    // Its type has overloads, and describes an older interface of node's streams.
    const importAs = (docker: Docker) => docker.importImage(archive as never, options) as unknown as Promise<Readable>;
    const progress = await this.connection.ask(importAs);
    await new Promise<void>((resolve, reject) => {
      const settle = (failure: Error | null) => (failure ? reject(failure) : resolve());
      this.connection.docker.modem.followProgress(progress, settle);
    });
  }

  async remove(containers: readonly string[], networkId: string | undefined): Promise<void> {
    const options = { force: true, v: true };
    for (const id of containers)
      await this.connection.ask((docker) => docker.getContainer(id).remove(options)).catch(() => undefined);
    if (networkId) await this.connection.ask((docker) => docker.getNetwork(networkId).remove()).catch(() => undefined);
  }

  /** Removes everything that the run has in the engine. If the engine is unavailable now, a later run or platform does. */
  async end(): Promise<void> {
    const options = { volumes: true, limitMs: CLEAR_LIMIT_MS };
    await clearWorld(this.connection, this.world, options).catch(() => undefined);
    this.connection.close();
  }
}

/** Throws the failure of a request, with the next step if the engine is lost: by then the container may have started. */
function rejectLostEngine(failure: unknown): never {
  if (!(failure instanceof EngineUnreachable)) throw failure;
  const text = 'the container engine stopped while the job was running. Start the engine, and run the job again.';
  throw new Error(text, { cause: failure });
}

async function succeeded(program: ReturnType<typeof startProgram>): Promise<void> {
  const [code] = await once(program, 'close');
  if (code !== 0) throw new Error(`tar ended with exit code ${code}`);
}
