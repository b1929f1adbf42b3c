import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { reasonOf } from '../../model/errors.ts';
import { lazy } from '../../system/lazy.ts';
import { OWN_GROUP } from '../../system/process-tree.ts';
import { runProgram, startProgram } from '../../system/programs.ts';
import { isThisKernel } from '../../system/this-system.ts';
import { type JobNetwork, LOOPBACK_FROM_MACHINE } from './platform-route.ts';

/** Time for an engine to respond. */
const ASK_TIMEOUT_MS = 5_000;
/** Label of what a run has in a container engine. */
export const ENGINE_LABEL = 'terrarium.pipeline';
/** Addresses of an engine on this machine. */
const LOCAL = /^(?:unix|npipe):|^\w+:\/\/(?:[^/@]*@)?(?:127\.[\d.]+|localhost|\[::1\])(?:[:/]|$)/;
/** Variables that change what the program of an engine does. */
const OF_PROGRAM =
  /^(?:PATH|HOME|LD_\w+|DOCKER_(?:HOST|CONTEXT|CONFIG|CERT_PATH|TLS|TLS_VERIFY|API_VERSION|CONTENT_TRUST|DEFAULT_PLATFORM)|CONTAINERS?_\w+)$/i;
/** Programs of container engines, as found on the PATH. */
export const PROGRAMS = ['docker', 'podman'] as const;

const place = z.object({
  Subnet: z.string().optional(),
  Gateway: z.string().optional(),
  subnet: z.string().optional(),
  gateway: z.string().optional(),
});
/** As Docker and Podman describe them. */
const networks = z.array(
  z.object({ IPAM: z.object({ Config: z.array(place).nullish() }).optional(), subnets: z.array(place).optional() }),
);

/** As Docker and Podman describe themselves. */
const engineInfo = z.object({
  KernelVersion: z.string().optional(),
  OperatingSystem: z.string().optional(),
  host: z.object({ kernel: z.string() }).optional(),
});

/** Where an engine has its networks: on this machine, in a virtual machine of it, or on another machine. */
type EngineSite = 'here' | 'virtual machine' | 'elsewhere';

interface EngineCommandOptions {
  env: Readonly<Record<string, string | undefined>>;
  /** Of what a run has in the engine. */
  mark: string;
}

interface NewContainer {
  network: string;
  options: readonly string[];
  image: string;
  /** In place of that of the image. */
  entrypoint: readonly string[] | undefined;
  command: readonly string[];
  variables: Readonly<Record<string, string>>;
  signal: AbortSignal;
}

export class EngineCommand {
  readonly program: (typeof PROGRAMS)[number];
  /** Names of the images that jobs of the run have pulled, loaded or tagged, with the ids of the images. */
  readonly imageIds = new Map<string, string>();
  readonly #options: EngineCommandOptions;

  private constructor(program: (typeof PROGRAMS)[number], options: EngineCommandOptions) {
    this.program = program;
    this.#options = options;
  }

  /** The engine of the first of the programs that is installed; or why it does not respond. */
  static async find(options: EngineCommandOptions): Promise<EngineCommand | { absence: string }> {
    const absence = `neither ${PROGRAMS.join(' nor ')} is on the PATH`;
    for (const program of PROGRAMS) {
      const command = new EngineCommand(program, options);
      try {
        await command.run(['version', '--format', '{{.Server.Version}}'], {
          signal: AbortSignal.timeout(ASK_TIMEOUT_MS),
        });
        return command;
      } catch (failure) {
        if (Object(failure).code === 'ENOENT') continue;
        // Not another engine: it would not have the images of this one.
        return { absence: Object(failure).name === 'AbortError' ? `${program} does not respond` : reasonOf(failure) };
      }
    }
    return { absence };
  }

  get #labels(): string[] {
    return ['--label', `${ENGINE_LABEL}=${this.#options.mark}`];
  }

  /** What it prints; rejects with the last that it complained of. */
  async run(
    args: readonly string[],
    { signal, variables = {} }: { signal?: AbortSignal; variables?: Readonly<Record<string, string>> } = {},
  ): Promise<string> {
    const { stdout } = await runProgram(this.program, args, {
      env: { ...this.#options.env, ...variables },
      maxBuffer: Number.POSITIVE_INFINITY,
      ...(signal && { signal }),
    }).catch((failure) => {
      // One that could not be run, or was called off.
      if (typeof failure.code === 'string') throw failure;
      const reasons = failure.stderr
        .trim()
        .split('\n')
        .filter((line: string) => !/^Error: failed to start/.test(line));
      throw new Error(reasons.at(-1) || `${this.program} ${args[0]} failed`);
    });
    return stdout.trim();
  }

  /**
   * Creates a container. Values of variables are not arguments, which are in everybody's list of processes, except of those that would
   * change what this program does.
   */
  async create({ network, options, image, entrypoint, command, variables, signal }: NewContainer): Promise<string> {
    const all = Object.entries(variables);
    const env = all.flatMap(([name, value]) => ['--env', OF_PROGRAM.test(name) ? `${name}=${value}` : name]);
    const others = Object.fromEntries(all.filter(([name]) => !OF_PROGRAM.test(name)));
    const [program, ...words] = entrypoint ?? [];
    const around = ['--network', network, ...options, ...(await this.#outwardHost()), ...env];
    const within = [...(entrypoint ? ['--entrypoint', program ?? ''] : []), image, ...words, ...command];
    return this.run(['create', ...this.#labels, ...around, ...within], { signal, variables: others });
  }

  get mark(): string {
    return this.#options.mark;
  }

  /** Asked once: it takes a while. */
  readonly site = lazy(async (): Promise<EngineSite> => {
    const address = await this.#dockerAddress();
    if (/^\w+:/.test(address) && !LOCAL.test(address)) return 'elsewhere';
    const {
      KernelVersion,
      OperatingSystem: product,
      host,
    } = engineInfo.parse(JSON.parse(await this.run(['info', '--format', '{{json .}}'])));
    const kernel = KernelVersion ?? host?.kernel;
    return isThisKernel({ ...(kernel && { kernel }), ...(product && { product }) }) ? 'here' : 'virtual machine';
  });

  /** Options by which a container in a virtual machine finds this machine. Podman's containers do without. */
  async #outwardHost(): Promise<string[]> {
    const isNeeded = this.program === 'docker' && (await this.site()) === 'virtual machine';
    return isNeeded ? [`--add-host=${LOOPBACK_FROM_MACHINE}:host-gateway`] : [];
  }

  /** As its command has it; empty if that does not say it. */
  #dockerAddress(): Promise<string> {
    if (this.program !== 'docker') return Promise.resolve('');
    return this.run(['context', 'inspect', '--format', '{{.Endpoints.docker.Host}}']).catch(() => '');
  }

  /** Where Docker's API is; undefined for other engines and addresses that need keys. */
  async address(): Promise<{ socketPath: string } | { hostname: string; port: string } | undefined> {
    const address = await this.#dockerAddress();
    if (address.startsWith('unix://')) return { socketPath: address.slice('unix://'.length) };
    if (!address.startsWith('tcp://') || this.#options.env.DOCKER_TLS_VERIFY) return undefined;
    const { hostname, port } = new URL(address.replace('tcp:', 'http:'));
    return { hostname, port };
  }

  inspect(container: string, format: string, signal: AbortSignal): Promise<string> {
    return this.run(['inspect', '--format', format, container], { signal });
  }

  /** Everything that a container printed last. */
  async logOf(container: string, lineCount: number): Promise<string[]> {
    const args = ['logs', '--tail', String(lineCount), container];
    const { stdout, stderr } = await runProgram(this.program, args, { env: { ...this.#options.env } });
    return `${stdout}${stderr}`.split('\n').filter(Boolean);
  }

  /** Creates a network of its own for a job. */
  async createNetwork(signal: AbortSignal): Promise<{ id: string; network: JobNetwork | undefined }> {
    const id = await this.run(['network', 'create', ...this.#labels, `terrarium-job-${randomUUID()}`], { signal });
    const { success, data } = networks.safeParse(JSON.parse(await this.run(['network', 'inspect', id], { signal })));
    const [place] = success ? data.flatMap((one) => [...(one.IPAM?.Config ?? []), ...(one.subnets ?? [])]) : [];
    const { Subnet, subnet = Subnet, Gateway, gateway = Gateway } = place ?? {};
    return { id, network: subnet && gateway ? { subnet, gateway } : undefined };
  }

  /** Undefined for an image that is not on this machine. */
  async hasImage(name: string, signal?: AbortSignal): Promise<boolean> {
    return this.run(['image', 'inspect', '--format', '{{.Id}}', name], signal && { signal }).then(
      () => true,
      () => false,
    );
  }

  /** A process of it whose output is the container's. */
  attach(args: readonly string[]) {
    return startProgram(this.program, args, {
      env: { ...this.#options.env },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: OWN_GROUP,
    });
  }

  /** Is the image there, or can it be had? Rejects with the reason. */
  async requireImage(name: string, signal: AbortSignal, onPull: () => void): Promise<void> {
    if (await this.hasImage(name, signal)) return;
    signal.throwIfAborted();
    onPull();
    await this.run(['pull', '--quiet', name], { signal });
  }
}
