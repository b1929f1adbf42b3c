// What the library is to those who use it. Nothing but types, and none of ours but the settings': the build makes of this file
// alone the declarations that are shipped (scripts/build-types.mjs).
import type { StartOptions } from '../config-schema.ts';

/** Settings, each optional; unless they say otherwise the platform is in memory, on free ports, without a window. */
export interface TerrariumOptions extends Omit<StartOptions, 'seed'> {
  /** What a new world holds: `demo` (the default), `empty`, the path of a seed file, or what such a file would hold. */
  seed?: string | object;
}

/** What is told of things that need no answer. */
export interface TerrariumHooks {
  onWarning?(message: string): void;
  /** A fault of the emulator itself: the client saw a bare 500. */
  onFault?(fault: unknown): void;
}

/** A running platform. */
export interface RunningPlatform {
  /** `{base_url}`, without a slash at its end. */
  readonly baseUrl: string;
  /** `{meta_url}`: the resource service. */
  readonly metaUrl: string;
  /** `{security_url}`: the security service. */
  readonly securityUrl: string;
  /** `{gateway_url}`: public endpoints of lambdas and containers. */
  readonly gatewayUrl: string;
  /** The CRM stand-in, https. */
  readonly crmUrl: string;
  /** The source-control stand-in, http; its API is below `/api/v4`. */
  readonly scmUrl: string;
  /** Opens its API: the setting `scmToken`, or one of this data folder's own (D-200). */
  readonly scmToken: string;
  /** The folder that keeps the world, or `:memory:`. */
  readonly dataDir: string;
  /** Marks what belongs to this world in container engines. */
  readonly worldId: string;
  readonly rootCredentials: RootCredentials;
  /** Where the world's web form and its deployment lambda are, if it has them. */
  readonly tour?: Tour;
  /**
   * An address of the window that signs in as root, once, within ten minutes. It is for browsers, which know its name by
   * themselves; below `baseUrl` the same path answers whoever does not.
   */
  windowUrl(): string;
  /** Lets running requests and invocations end, saves, and closes everything. Calling it again waits for the same end. */
  stop(): Promise<void>;
}

/** The platform as the library gives it. `await using` stops it at the end of its block. */
export interface Terrarium extends RunningPlatform, AsyncDisposable {
  /**
   * Makes the world what it was when the platform had started, for the next test: resources, leads, the source-control stand-in,
   * what was recorded of invocations and requests, and logs. Tokens and keys of accounts that stay go on working.
   */
  reset(): Promise<void>;
  /** An access token of an account, by its name; of root unless said otherwise. Rejects with code `NOT_FOUND`. */
  token(username?: string): Promise<string>;
  /** A new API key of an account, likewise. */
  apiKey(username?: string): Promise<ApiKey>;
  /**
   * Makes a lambda of a folder, a file or code, or gives the one that is there the new code, in one commit.
   *
   * @param lambda its path, such as `/shop/website/test/orders`: organizations, workspace, environment, name, made where they are missing;
   *   or its name alone, where only one environment is there, or none (`/local/test` is made then)
   */
  deploy(lambda: string, source: LambdaSource): Promise<DeployedLambda>;
  /**
   * Runs a lambda with an event and resolves to all that came of it, also when it failed.
   *
   * @param lambda its id, its path, or its name where only one has it (`AMBIGUOUS` otherwise, `NOT_FOUND` where none has)
   * @param event what its message is: any JSON
   */
  invoke(lambda: string, event?: unknown): Promise<Invocation>;
  /** The leads that the CRM stand-in caught. */
  readonly leads: Leads;
  /** The newest invocations of lambdas, whoever called them. */
  readonly invocations: Invocations;
}

/** How root signs in (D-175). */
export interface RootCredentials {
  username: string;
  /** Absent when it was configured or changed: then only its owner knows it. */
  password?: string;
  apiKey: string;
  /** Absent when it was configured. */
  apiSecret?: string;
  /** Where a generated pair is kept for its owner's eyes only. */
  apiSecretFile?: string;
  /** Was the pair made by the emulator (as opposed to configured)? */
  generated: boolean;
}

/** Where a person and a pipeline begin. */
export interface Tour {
  /** Of the web form. */
  leadUrl?: string;
  /** Of the deployment. */
  deployUrl?: string;
}

export interface ApiKey {
  key: string;
  secret: string;
}

/** Code, or the folder or file that has it (relative to the working folder), and how it is to run. */
export type LambdaSource = ({ code: string } | { folder: string }) & {
  /** The exported function: `run` by default; in a folder also `file;function`, else that of its package.json's `main` or `index.js`. */
  handler?: string;
  /** Its environment variables. */
  env?: Record<string, string>;
  /** Seconds that it may run. */
  timeoutS?: number;
  /** Publishes it at this path of the environment's API, such as `/orders`; or an endpoint's properties, as the REST API names them. */
  endpoint?: string | { resource: string; [property: string]: unknown };
  /** Its other properties, as the REST API names them, such as `{ memory: 256 }`. */
  properties?: Record<string, unknown>;
};

export interface DeployedLambda {
  id: string;
  path: string;
  /** The public address of its endpoint, when one was asked for. */
  url?: string;
}

/** The record of one invocation; times are ISO-8601 UTC. */
export interface Invocation {
  executionId: string;
  lambdaId: string;
  lambdaName: string;
  trigger: 'gateway' | 'async' | 'event' | 'move' | 'manual' | 'periodic';
  /** Had a process to be made ready for it? */
  cold: boolean;
  acceptedAt: string;
  startedAt?: string | undefined;
  finishedAt: string;
  durationMs: number;
  outcome: { ok: boolean; failure?: string | undefined; message?: string | undefined; result?: unknown };
  logs: { at: string; stream: 'stdout' | 'stderr'; text: string }[];
  outbound: OutboundCall[];
}

/** One HTTP call that a lambda made. */
export interface OutboundCall {
  startedAt: string;
  method: string;
  url: string;
  durationMs: number;
  status?: number | undefined;
  error?: string | undefined;
  /** The stand-in that answered in place of the host. */
  caughtBy?: 'crm' | undefined;
}

/** Which invocations; an absent member matches all. */
export interface InvocationFilter {
  /** Its id, path or name, as `invoke` takes it. */
  lambda?: string;
  /** Did it succeed? */
  ok?: boolean;
  trigger?: Invocation['trigger'];
}

export interface Invocations {
  /** The newest that matches, or undefined. */
  find(filter?: InvocationFilter): Promise<Invocation | undefined>;
  /** The newest 100 that match, the newest first. */
  list(filter?: InvocationFilter): Promise<Invocation[]>;
}

/** A form that reached the CRM stand-in. */
export interface Lead {
  id: string;
  receivedAt: string;
  /** The CRM organization the form was meant for. */
  oid: string;
  /** Every field in the order sent. */
  fields: { name: string; value: string }[];
  /** The same under the names of the web form's message: `email`, `firstName`, ... */
  mapped: Record<string, string>;
  /** The invocation that sent it. */
  executionId?: string | undefined;
}

/** Which leads; an absent member matches all. */
export interface LeadFilter {
  /** In any letter case. */
  email?: string;
  /** Received at this moment or later. */
  since?: Date | string;
}

export interface Leads {
  /** Oldest first. */
  list(filter?: LeadFilter): Promise<Lead[]>;
  /** The newest that matches; waits for the first, 10 seconds unless told otherwise, and rejects with code `TIMEOUT`. */
  waitFor(filter?: LeadFilter, asked?: { timeoutMs?: number }): Promise<Lead>;
  /** Deletes all; resolves to how many there were. */
  clear(): Promise<number>;
}

/**
 * What `code` of an error says: `SETTING` (an option is wrong), `SEED` (the seed cannot be used), `DATA` (the data folder is in use
 * or damaged), `NOT_FOUND`, `AMBIGUOUS`, `TIMEOUT`, `REFUSED` (the platform's own no, with `status`), `STOPPED` (it no longer runs),
 * `TERRARIUM_OLD_NODE`; or the code of the operating system, such as `EADDRINUSE`.
 */
export interface TerrariumError extends Error {
  code: string;
  /** The HTTP status of a refusal. */
  status?: number;
}

/**
 * Starts a platform; several can live in one process.
 *
 * @throws TerrariumError
 */
export type StartEmulator = (options?: TerrariumOptions, hooks?: TerrariumHooks) => Promise<Terrarium>;
