import type { Duplex } from 'node:stream';
import type { Uuid } from '../../model/record.ts';

export interface WorkloadPort {
  containerPort: number;
  protocol: 'tcp' | 'udp';
  /** True if the emulator reaches it, on a port of the engine's host that the engine chooses (D-047). Never for udp. */
  isPublished: boolean;
}

export type Mount =
  | { kind: 'volume'; path: string; volumeId: Uuid; isReadOnly: boolean }
  | { kind: 'host'; path: string; hostPath: string; isReadOnly: boolean }
  /** An empty one for each instance, gone with it. */
  | { kind: 'empty'; path: string };

/** A file that every instance is given before it starts: a secret (D-045). */
export interface GivenFile {
  path: string;
  content: Uint8Array;
}

export interface CheckTimes {
  graceMs: number;
  intervalMs: number;
  timeoutMs: number;
  /** Consecutive failures after which an instance counts as unhealthy; at least 1. */
  failures: number;
}

/** A command inside the instance whose exit code tells its health; engines run it themselves. */
export interface HealthCommand extends CheckTimes {
  command: string;
}

/** The workload that the world wants to run for one container or job, derived from its record (D-045, D-049). */
export interface Workload {
  recordId: Uuid;
  kind: 'container' | 'job';
  name: string;
  environmentId: Uuid;
  providerId: Uuid;
  /** Changes whenever running instances have to be replaced (D-052): a digest of all below but `instances` and `env` inherited. */
  revision: string;
  /** Number of instances to run; for a job, the number that must have run. */
  instances: number;
  image: string;
  /** When given, instances of another image count as of an older revision: its name means this one by now (D-052). */
  imageId?: string | undefined;
  forcePull: boolean;
  /** In place of the image's ENTRYPOINT and CMD. */
  entrypoint?: readonly string[] | undefined;
  /** In place of the image's CMD. */
  command: readonly string[] | undefined;
  user: string | undefined;
  env: Readonly<Record<string, string>>;
  labels: Readonly<Record<string, string>>;
  /** Share of a core, 0.1 = a tenth. */
  cpus: number;
  memoryBytes: number;
  ports: readonly WorkloadPort[];
  /** Names by which other instances of the environment's network find these (D-049). */
  aliases: readonly string[];
  mounts: readonly Mount[];
  files: readonly GivenFile[];
  health: HealthCommand | undefined;
}

export interface FailedCheck {
  /** The kind of check and its target, in words that follow "its". */
  check: string;
  /** The response, output or error that it got. */
  result: string;
  /** The time of the first of its failures in a row. */
  sinceMs: number;
  /** True if there may be earlier failures in a row that the engine no longer keeps. */
  isCut?: boolean;
}

export interface Instance {
  id: string;
  recordId: Uuid;
  kind: Workload['kind'];
  revision: string;
  image: string;
  /** The engine's id of the image from which it was created; undefined if the engine does not report it. */
  imageId?: string | undefined;
  /** Paused from outside it is there, and serves nothing. */
  state: 'starting' | 'running' | 'paused' | 'restarting' | 'exited' | 'failed';
  /** The state of the health command; `none` without one. */
  health: 'none' | 'starting' | 'healthy' | 'unhealthy';
  /** The last run of the health command, if it failed. */
  failedCheck?: FailedCheck | undefined;
  /** The longest time that the health command takes to tell whether a new instance is well. */
  healthLimitMs: number;
  /** The limit that the engine has set; undefined if there is none or it does not report it. */
  cpus?: number | undefined;
  /** Number of times that the engine has started it again after it ended by itself. */
  restarts: number;
  startedAtMs: number | undefined;
  exitCode: number | undefined;
  wasKilledForMemory: boolean;
  /** The platform of its image, such as `linux/arm64`, and the engine's, if they differ and its program cannot run. */
  platforms?: { image: string; engine: string } | undefined;
  error: string | undefined;
  /** Undefined if it can be reached at its published ports only. */
  ipAddress?: string | undefined;
  addresses: readonly { containerPort: number; host: string; port: number }[];
}

export const isAlive = ({ state }: Instance): boolean =>
  state === 'running' || state === 'paused' || state === 'restarting';

/** The progress of a pull. The bytes are those of the layers known so far. */
export interface PullProgress {
  image: string;
  /** The engine's word: `Downloading`, `Extracting` ... */
  step: string;
  currentBytes: number;
  totalBytes: number;
}

export interface ApplyOptions {
  /** Aborted by a newer request. The next `apply` continues from whatever state it finds. */
  signal: AbortSignal;
  /** Called with the progress of a pull, and with undefined once it is over, however it ended. */
  onPull?(progress: PullProgress | undefined): void;
  /** Resolves when a new instance serves, or the wait is given up: old ones stay until then. If it rejects, the new one is removed instead. */
  whenReady(instance: Instance): Promise<void>;
  /** Resolves when an instance may be removed: requests under way have ended, or had their time. */
  beforeRemoval(instance: Instance): Promise<void>;
}

export interface LogOptions {
  /** Lines since then, epoch milliseconds; 0 for all that the engine keeps. */
  sinceMs: number;
  /** At most so many, the newest, of each instance and of all. */
  tail: number;
  stderr: boolean;
  /** The only instance to read, where the engine can tell instances apart. */
  instanceId?: string;
}

export interface InstanceStats {
  /** 1 = one core fully used. */
  cpus: number;
  memoryBytes: number;
  memoryLimitBytes: number;
  receivedBytes: number;
  sentBytes: number;
}

export interface ExecResult {
  exitCode: number;
  stdout: string;
  stderr: string;
  isCut: boolean;
}

export interface TerminalSize {
  columns: number;
  rows: number;
}

export interface Shell {
  /** Its output and input; ends with the shell, and fails if the engine disconnects. */
  readonly stream: Duplex;
  /** Never rejects: a shell that has just ended has no size. */
  resize(size: TerminalSize): Promise<void>;
  /** Resolves when it has ended by itself; `exitCode` is undefined if it is unknown. */
  ending(): Promise<{ exitCode: number | undefined; isInstanceGone: boolean }>;
  /** Ends it, and what runs in the foreground of its terminal; resolves when it has ended or nothing more can be done about it. */
  end(): Promise<void>;
}

export interface ClearOptions {
  volumes: boolean;
  limitMs: number;
  /** Gives up after an attempt that removes nothing: others use the rest, and may do so for days. */
  whileItShrinks?: boolean;
  /** An empty network that was not removed for so long is locked. */
  lockedAfterMs?: number;
}

export interface Leftovers {
  /** The containers of the engine itself. The containers of a swarm's services belong to the swarm. */
  containers: string[];
  services: string[];
  networks: string[];
  volumes: string[];
  /** Networks without containers that the engine does not remove before it is restarted. */
  lockedNetworks?: string[];
}

/** A program in an instance has ended, for example its health command: no event that a record shows. */
export const CHECK_ENDED = 'exec_die';

/** Events of this world's instances; `lost`: the connection ended, and with it this watch. */
export type EngineEvent =
  | { kind: 'instance'; recordId: Uuid; instanceId: string; action: string; atMs: number }
  | { kind: 'lost'; reason: string };

/** Asked immediately before something is removed: it may be needed again by then. */
export type IsKept = (kind: 'environment' | 'volume', id: Uuid) => boolean;

/** Its message says what happened, where, and what to do: one sentence that a client may see. */
export class EngineUnreachable extends Error {
  override readonly name = 'EngineUnreachable';

  /** True if it has taken a request and not answered in time: it may only be slow. */
  get isTimeout(): boolean {
    return Object(this.cause).code === 'ETIMEDOUT';
  }
}

/** Something of this world stays behind in an engine; its message names it, and the command that removes it. */
export class EngineLeftovers extends Error {
  override readonly name = 'EngineLeftovers';
}

export type RefusalKind =
  | 'image' // it cannot be pulled (D-051)
  | 'folder' // a folder of the engine's machine that is to be mounted does not exist
  | 'definition' // the engine finds fault with the definition: name, port, mount, command
  | 'missing' // there is no such instance
  | 'conflict'
  | 'fault'; // of the engine itself

export class EngineRefusal extends Error {
  override readonly name = 'EngineRefusal';
  readonly kind: RefusalKind;

  /** @param reason what the engine says and what to do about it: one sentence that a client may see */
  constructor(kind: RefusalKind, reason: string, options?: ErrorOptions) {
    super(reason, options);
    this.kind = kind;
  }
}
