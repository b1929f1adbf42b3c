import type { Duplex } from 'node:stream';
import type { Owner } from '../machine/owner.ts';
import type { Uuid } from '../model/ids.ts';
import type { LogLine } from '../model/invocation.ts';

/** One port of a workload that its instances listen on. */
export interface WorkloadPort {
  containerPort: number;
  protocol: 'tcp' | 'udp';
  /** Is it to be reachable from the emulator, on a port of the engine's host that the engine chooses (D-047)? Never for udp. */
  isPublished: boolean;
}

/** Something from outside an instance's image that it finds at a path. */
export type Mount =
  | { kind: 'volume'; path: string; volumeId: Uuid; isReadOnly: boolean }
  | { kind: 'host'; path: string; hostPath: string; isReadOnly: boolean }
  /** An empty one for each instance, gone with it. */
  | { kind: 'empty'; path: string };

/** A file that every instance is given before it starts: a secret (D-045). */
export interface GivenFile {
  /** Absolute, inside the instance. */
  path: string;
  content: Uint8Array;
}

/** A command inside the instance whose exit code tells its health; engines run it themselves. */
export interface HealthCommand {
  command: string;
  graceMs: number;
  intervalMs: number;
  timeoutMs: number;
  failures: number;
}

/** What the world wants to run for one container or job, worked out of its record (D-045, D-049). */
export interface Workload {
  recordId: Uuid;
  kind: 'container' | 'job';
  /** Name of the record; a DNS label. */
  name: string;
  environmentId: Uuid;
  providerId: Uuid;
  /** Changes whenever running instances have to be replaced (D-052): a digest of all below but `instances` and `env` inherited. */
  revision: string;
  /** How many shall run; a job's shall have run. */
  instances: number;
  image: string;
  /** When given, instances of another image count as of an older revision: its name means this one by now (D-052). */
  imageId?: string | undefined;
  /** Pull even when the engine has the image. */
  forcePull: boolean;
  /** Arguments for the image's entry point; undefined keeps the image's own. */
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

/** One running, starting or ended copy of a workload, as the engine knows it. */
export interface Instance {
  /** The engine's id. */
  id: string;
  recordId: Uuid;
  kind: Workload['kind'];
  /** `revision` of the workload that it was made from. */
  revision: string;
  image: string;
  /** The engine's id of the very image that it was made from; undefined where the engine does not tell. */
  imageId: string | undefined;
  /** Paused from outside it is there, and serves nothing. */
  state: 'starting' | 'running' | 'paused' | 'restarting' | 'exited' | 'failed';
  /** Of the health command; `none` without one. */
  health: 'none' | 'starting' | 'healthy' | 'unhealthy';
  startedAtMs: number | undefined;
  /** Of its last end. */
  exitCode: number | undefined;
  wasKilledForMemory: boolean;
  /** What the engine says went wrong with it. */
  error: string | undefined;
  ipAddress: string | undefined;
  /** Where its published ports are reached from the emulator. */
  addresses: readonly { containerPort: number; host: string; port: number }[];
}

/** How far a pull has come; bytes are of the layers known so far. */
export interface PullProgress {
  image: string;
  /** The engine's word: `Downloading`, `Extracting` ... */
  step: string;
  currentBytes: number;
  totalBytes: number;
}

/** What goes on while a workload is brought to what is asked for. */
export interface ApplyOptions {
  /** Aborted when a newer request has come. What was begun is left for the next `apply`, which carries on from whatever it finds. */
  signal: AbortSignal;
  /** How far a pull has come; undefined once it is over, however it ended. */
  onPull?(progress: PullProgress | undefined): void;
  /**
   * Resolves once a new instance serves, or when waiting for it is given up: the old ones of a rolling update stay until then.
   * Rejects to stop the update: the new instance is then removed and the old ones stay.
   */
  whenReady(instance: Instance): Promise<void>;
  /** May an instance of an older revision go now? Awaited before each is removed, so that requests under way can end. */
  beforeRemoval(instance: Instance): Promise<void>;
}

export interface LogOptions {
  /** Lines since then, epoch milliseconds; 0 for all that the engine keeps. */
  sinceMs: number;
  /** At most so many, the newest, of each instance and of all. */
  tail?: number;
  stderr: boolean;
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
  /** Was there more output than is kept? */
  isCut: boolean;
}

/** Of a terminal, in characters. */
export interface TerminalSize {
  columns: number;
  rows: number;
}

/** An interactive shell in an instance, on a terminal of its own there. */
export interface Shell {
  /** What it prints, and what is typed; ends with the shell, and fails when the engine is lost. */
  readonly stream: Duplex;
  /** Never rejects: a shell that has just ended has no size. */
  resize(size: TerminalSize): Promise<void>;
  /** How it ended by itself; `exitCode` is undefined where nobody knows. */
  ending(): Promise<{ exitCode: number | undefined; isInstanceGone: boolean }>;
  /** Ends it, and what runs in the foreground of its terminal; resolves when it has ended or nothing more can be done about it. */
  end(): Promise<void>;
}

export interface ClearOptions {
  volumes: boolean;
  limitMs: number;
}

/** What a world still has in an engine, by name. */
export interface Leftovers {
  /** Of the engine itself; those of a swarm's services are its own. */
  containers: string[];
  services: string[];
  networks: string[];
  volumes: string[];
}

/** What is told of this world's instances; `lost` = the connection ended, and with it this watch. */
export type EngineEvent =
  | { kind: 'instance'; recordId: Uuid; instanceId: string; what: string; atMs: number }
  | { kind: 'lost'; reason: string };

/**
 * Where containers run. Everything an engine makes carries the world's id as a label; nothing without it is ever touched.
 * Calls reject with EngineUnreachable when there is no answer in time, with EngineRefusal when there is one that says no.
 */
export interface ContainerEngine {
  /** Resolves when it answers; the name and version of what is there. */
  ping(): Promise<string>;
  /** Resolves as soon as it answers; rejects when it has not for some seconds. The cheapest question there is. */
  beat(): Promise<void>;
  /** Every instance of this world, or of one record of it, in any state, jobs' too; oldest first. */
  list(recordId?: Uuid): Promise<Instance[]>;
  /**
   * Makes what runs match what is asked for, whatever it finds: pulls, starts what is missing, replaces instances of other revisions
   * (new ones first, then the old, D-052), removes what is too much. Nothing is touched when all is as asked.
   */
  apply(workload: Workload, options: ApplyOptions): Promise<void>;
  /** Removes all instances of a record. Unknown ones are none. */
  remove(recordId: Uuid): Promise<void>;
  /**
   * Removes all of this world, its instances asked to end first, networks and what else was made; volumes only where that is
   * asked: they hold data. Resolves to what could not be removed within the limit.
   */
  clear(options: ClearOptions): Promise<Leftovers>;
  /** Removes what other worlds left that were in memory only and whose owner is gone: all of each, volumes too. */
  sweep(isGone: (owners: readonly Owner[]) => Promise<boolean>): Promise<void>;
  /** Removes networks of environments without instances, and volumes, that are not named. */
  prune(kept: { environments: ReadonlySet<Uuid>; volumes: ReadonlySet<Uuid> }): Promise<void>;
  /** Output of all instances of a record, merged by time, oldest first. */
  logs(recordId: Uuid, options: LogOptions): Promise<LogLine[]>;
  /** Each line from now on, until the returned function is called. */
  follow(recordId: Uuid, onLine: (instanceId: string, line: LogLine) => void): Promise<() => void>;
  stats(instanceId: string): Promise<InstanceStats>;
  exec(instanceId: string, command: readonly string[]): Promise<ExecResult>;
  openShell(instanceId: string, size: TerminalSize): Promise<Shell>;
  /** The id of what an image's name means on the engine now; undefined when it has no such image. */
  findImage(image: string): Promise<string | undefined>;
  /** Tells of each change of an instance until the returned function is called or the connection is lost. */
  watch(onEvent: (event: EngineEvent) => void): Promise<() => void>;
  /** Lets go of the connection: what waits for an answer rejects, what runs goes on. The next call connects anew. */
  close(): void;
}
