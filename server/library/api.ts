// The public types of the library. They import only the types of the settings and of the running platform: the build generates the
// shipped declarations from them (scripts/build-types.mjs).
import type { StartOptions } from '../platform/config-schema.ts';
import type { RunningPlatform, TerrariumHooks } from '../platform/running-platform.ts';

/** Settings, all optional. By default the platform is in memory, on free ports, without a window. */
export interface TerrariumOptions extends Omit<StartOptions, 'seed'> {
  /** Contents of a new world: `demo` (the default), `empty`, the path of a world file, or the contents of a world file as an object. */
  seed?: string | World;
}

/** The contents of a world file: settings, and resources by collection and name, such as `orgs: { shop: { ... } }`. */
export interface World {
  format: number;
  scope?: string;
  defaultProviders?: boolean;
  outbound?: readonly OutboundRule[];
  [collection: string]: unknown;
}

/** Functions that the platform calls. */
export interface LibraryHooks extends TerrariumHooks {
  /** Called for each invocation that is over, with its log, for example to print it. */
  onInvocation?(invocation: Invocation): void;
}

/** A running platform. `await using` stops it at the end of the block. */
export interface Terrarium extends RunningPlatform, AsyncDisposable {
  /**
   * Resets the state to the start of the platform, for the next test: resources, leads, mails, the mock GitLab, recorded invocations and
   * requests, logs, fault rules and the clock. Tokens and keys of accounts that still exist stay valid.
   */
  reset(): Promise<void>;
  /** Makes the present state the one that `reset()` restores. Warm processes of lambdas in it stay warm. */
  baseline(): Promise<void>;
  /**
   * Applies a world file, by its path or contents, in one commit; resolves to the numbers of changed resources. Resources that the file
   * does not contain are kept.
   */
  apply(world: string | World): Promise<AppliedWorld>;
  /** Sends a request to the platform as root. Resolves for every status. @param path below `baseUrl`, such as `/meta/orgs` */
  request(method: string, path: string, body?: unknown): Promise<Reply>;
  /** An access token of an account, by its name (default: root). Rejects with code `NOT_FOUND`. */
  token(username?: string): Promise<string>;
  /** A new API key of an account, by its name (default: root). Rejects with code `NOT_FOUND`. */
  apiKey(username?: string): Promise<ApiKey>;
  /**
   * Creates a lambda from a folder, a file or code, or updates an existing one, in one commit.
   *
   * @param lambda path such as `/shop/website/test/orders` (organizations, workspace, environment, name), created where missing; or its
   *   name alone, if the world has only one environment, or none (then `/local/test` is created)
   */
  deploy(
    lambda: string,
    source: LambdaSource & Required<Pick<LambdaSource, 'endpoint'>>,
  ): Promise<DeployedLambda & { url: string }>;
  deploy(lambda: string, source: LambdaSource): Promise<DeployedLambda>;
  /**
   * Invokes a lambda with an event; resolves to the record of the invocation, also if it failed.
   *
   * @param lambda ID, path or unique name (rejects with `NOT_FOUND` if none matches, `AMBIGUOUS` if several do)
   * @param event payload, any JSON value
   */
  invoke(lambda: string, event?: unknown): Promise<Invocation>;
  /** The newest lines of a lambda's log, oldest first. @param lambda as for `invoke` */
  logs(lambda: string): Promise<LogLine[]>;
  /** The leads that the mock CRM received. */
  readonly leads: Leads;
  /** The mails that the mock mail server received. */
  readonly mails: Mails;
  /** The rules for calls that lambdas make to other hosts. */
  readonly outbound: OutboundRules;
  /** The fault rules of the platform's own services. */
  readonly faults: Faults;
  /** The platform's clock. */
  readonly clock: Clock;
  /** The newest invocations of lambdas, of any caller. */
  readonly invocations: Invocations;
}

export interface ApiKey {
  key: string;
  secret: string;
}

export interface AppliedWorld {
  summary: { create: number; update: number; delete: number; unchanged: number };
  /** The number of the commit; absent if nothing changed. */
  commit?: number | undefined;
}

/** A response: its body is a JSON value if that is its content type, else text. */
export interface Reply {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: unknown;
}

/** Code, or its folder or file (relative to the working directory), and options. */
export type LambdaSource = ({ code: string; folder?: never } | { folder: string; code?: never }) & {
  /** Exported function (default: `run`). In a folder also `file;function`; the default file is `main` of package.json or `index.js`. */
  handler?: string;
  /** Environment variables; undefined ones are left out. */
  env?: Record<string, string | undefined>;
  timeoutS?: number;
  /** Publishes the lambda at this path of the environment's API, such as `/orders`; or the properties of an endpoint, as in the REST API. */
  endpoint?: string | { resource: string; [property: string]: unknown };
  /** Other properties, as in the REST API, such as `{ memory: 256 }`. */
  properties?: Record<string, unknown>;
};

export interface DeployedLambda {
  id: string;
  path: string;
  /** Public URL of the endpoint, if the options have one. */
  url?: string;
}

/** The record of one invocation; times are ISO-8601 UTC. */
export interface Invocation {
  executionId: string;
  lambdaId: string;
  lambdaName: string;
  trigger: 'gateway' | 'async' | 'event' | 'move' | 'manual' | 'periodic';
  /** Did it need a new process? */
  cold: boolean;
  acceptedAt: string;
  startedAt?: string | undefined;
  finishedAt: string;
  durationMs: number;
  outcome: { ok: boolean; failure?: InvocationFailure | undefined; message?: string | undefined; result?: unknown };
  logs: LogLine[];
  outbound: OutboundCall[];
}

/** An invocation as it is recorded, with its event and the request that caused it. */
export interface RecordedInvocation extends Invocation {
  event: {
    method: string;
    path: string;
    params: Record<string, string[]>;
    headers: Record<string, string>;
    user?: { id: string; name: string } | undefined;
    httpAware: boolean;
    body: RecordedBody;
  };
  traceId: string;
  /** The number of outbound calls that failed. */
  outboundFailures: number;
  /** The invocation that it repeats. */
  replayOf?: string | undefined;
  /** The request to the gateway, if it was one. */
  request?:
    | {
        method: string;
        target: string;
        status?: number | undefined;
        durationMs: number;
        request: RecordedSide;
        response?: RecordedSide | undefined;
      }
    | undefined;
}

/** Headers as sent, with credentials hidden, and the body. */
export interface RecordedSide {
  headers: [name: string, value: string][];
  body?: RecordedBody | undefined;
}

/** The reasons of a failure: `error` is thrown by the handler or passed to its callback, `load` that the code could not be loaded. */
export type InvocationFailure =
  | 'error'
  | 'timeout'
  | 'crash'
  | 'load'
  | 'too-large'
  | 'invalid-result'
  | 'deleted'
  | 'busy'
  | 'runtime'
  | 'interrupted'
  | 'pending';

export interface LogLine {
  at: string;
  stream: 'stdout' | 'stderr';
  text: string;
  executionId?: string | undefined;
}

/** A recorded body: text, or base64 if it is not text. */
export interface RecordedBody {
  sizeBytes: number;
  /** Only the beginning was recorded. */
  isCut?: boolean | undefined;
  text?: string | undefined;
  base64?: string | undefined;
}

/** A connection that carries no HTTP. */
export interface OutboundConnection {
  host: string;
  port: number;
  transport: 'tcp' | 'tls' | 'udp' | 'dns';
  sentBytes: number;
  receivedBytes: number;
}

/** One HTTP call that a lambda made; or one connection, with method `TCP`, `TLS`, `UDP` or `DNS` and a URL such as `tcp://db.example:5432`. */
export interface OutboundCall {
  startedAt: string;
  method: string;
  url: string;
  durationMs: number;
  status?: number | undefined;
  error?: string | undefined;
  traceId?: string | undefined;
  /** Absent if the body is empty. */
  request?: RecordedBody | undefined;
  response?: RecordedBody | undefined;
  /** The mock that responded instead of the host. */
  caughtBy?: 'crm' | 'mail' | undefined;
  /** Present for a connection without HTTP, for example to a database. */
  connection?: OutboundConnection | undefined;
  /** An outbound rule with `block`, or the setting `outbound.default`, refused it. */
  blocked?: true | undefined;
  /** It was sent to a host outside this machine. */
  leftMachine?: true | undefined;
  /** The call followed the mock CRM's redirect to `retURL`; the mock answered it with a page of its own. */
  afterRedirect?: true | undefined;
  /** A form that reached no CRM, or was not caught, and what to do. */
  warning?: string | undefined;
  /** The outbound rules that matched. */
  rules?: { id: string; text: string }[] | undefined;
}

/** Filter of invocations; an absent member matches all. */
export interface InvocationFilter {
  /** ID, path or unique name of the lambda. */
  lambda?: string;
  /** Only successful, or only failed invocations. */
  ok?: boolean;
  trigger?: Invocation['trigger'];
}

export interface Invocations {
  /** The newest matching invocation, or undefined. */
  find(filter?: InvocationFilter): Promise<RecordedInvocation | undefined>;
  /** The newest 100 matching invocations, newest first. */
  list(filter?: InvocationFilter): Promise<RecordedInvocation[]>;
  /** The newest matching invocation; waits for the first one (default: 10 seconds) and rejects with code `TIMEOUT`. */
  waitFor(filter?: InvocationFilter, options?: { timeoutMs?: number }): Promise<RecordedInvocation>;
}

/** A form that the mock CRM received. */
export interface Lead {
  id: string;
  receivedAt: string;
  /** The CRM organization the form was meant for. */
  oid: string;
  /** All fields, in the order sent. */
  fields: { name: string; value: string }[];
  /** The fields under the names of the web form's payload: `email`, `firstName`, ... */
  mapped: Record<string, string>;
  /** The invocation that sent it. */
  executionId?: string | undefined;
}

/** A rule for calls to a host; the other members depend on the action, as in the REST API. */
export interface OutboundRule {
  /** A host such as `api.example` or `*.example:8443`, or `{crm}`. */
  host: string;
  action: 'catch' | 'pass' | 'block' | 'delay' | 'fail' | 'answer';
  delayMs?: number | undefined;
  status?: number | undefined;
  error?: 'ECONNREFUSED' | 'ECONNRESET' | 'ENOTFOUND' | 'ETIMEDOUT' | undefined;
  headers?: Record<string, string> | undefined;
  /** Text is sent as it is, any other value as JSON. */
  body?: unknown;
  /** The absolute path of a file to send instead of `body`. */
  file?: string | undefined;
  /** The number of calls to answer. Later calls are left to the following rules. */
  times?: number | undefined;
  /** The number of calls to leave to the following rules first. */
  after?: number | undefined;
  enabled?: boolean | undefined;
}

export interface OutboundRules {
  /** The rules, in the order in which they are matched. */
  list(): Promise<OutboundRule[]>;
  /** Adds a rule before the others, from the next call on. */
  add(rule: OutboundRule): Promise<void>;
  /**
   * Answers the next call to a host, and leaves later ones alone, so that a retry succeeds. A second `once` for the host answers the call
   * after that, unless another rule was added in between. The host 'crm' is `{crm}`.
   */
  once(host: string, answer?: Pick<OutboundRule, 'status' | 'headers' | 'body' | 'file'>): Promise<void>;
  /** Removes all rules. */
  clear(): Promise<void>;
}

/** A rule that makes a service of the platform fail: it has a `status`, `cut`, or only a `delayMs`. */
export interface FaultRule {
  /** `resources` is `/meta`, `scm` the mock GitLab, `crm` the mock CRM, `smtp` the mock mail server. */
  service: 'resources' | 'security' | 'gateway' | 'scm' | 'crm' | 'smtp';
  method?: string | undefined;
  /** Path without the query, in which `*` matches any part. */
  path?: string | undefined;
  /** Status of the response, from 400 to 599; for `smtp`, the code of the reply. */
  status?: number | undefined;
  delayMs?: number | undefined;
  /** Closes the connection instead of a response. */
  cut?: true | undefined;
  /** The number of requests to which the rule applies. Later ones are left to the following rules. */
  times?: number | undefined;
  /** The number of requests to leave to the following rules first. */
  after?: number | undefined;
  /** From 1 to 100: the rule applies to this share of the requests, and leaves the others to the following rules. */
  percent?: number | undefined;
  /** Decides which requests `percent` chooses: the same ones for the same seed. Random if absent; the created rule has it. */
  seed?: number | undefined;
}

export interface CreatedFaultRule extends FaultRule {
  /** The value of the header `X-Terrarium-Fault` of responses to which the rule applied. */
  id: string;
  /** The number of requests that matched. */
  matched: number;
  /** The number of requests to which the rule applied. */
  applied: number;
}

export interface Faults {
  list(): Promise<CreatedFaultRule[]>;
  /** Adds a rule after the others, from the next request on. */
  add(rule: FaultRule): Promise<CreatedFaultRule>;
  remove(id: string): Promise<void>;
  /** Deletes all rules; resolves to their number. */
  clear(): Promise<number>;
}

/** The clock of tokens, sessions, rate limits, asynchronous results, periodic runs, records, and of `Date` in lambdas. */
export interface Clock {
  now(): Promise<Date>;
  /** Advances the clock, for example by `24h` (the units are s, m, h and d), or to a later date. Resolves to the new time. */
  advance(time: string | Date): Promise<Date>;
  /** Sets the clock to the machine's time. */
  reset(): Promise<void>;
}

/** Filter of leads; an absent member matches all. */
export interface LeadFilter {
  /** Email address, not case-sensitive. */
  email?: string;
  /** Received at or after this time. */
  since?: Date | string;
}

export interface Leads {
  /** Oldest first. */
  list(filter?: LeadFilter): Promise<Lead[]>;
  /** The newest matching lead; waits for the first one (default: 10 seconds) and rejects with code `TIMEOUT`. */
  waitFor(filter?: LeadFilter, options?: { timeoutMs?: number }): Promise<Lead>;
  /** Deletes all leads; resolves to their number. */
  clear(): Promise<number>;
}

/** The codes of errors; others are those of the operating system, such as `EADDRINUSE`. */
export type ErrorCode =
  | 'SETTING'
  | 'SEED'
  | 'DATA'
  | 'NOT_FOUND'
  | 'AMBIGUOUS'
  | 'TIMEOUT'
  | 'REFUSED'
  | 'STOPPED'
  | 'TERRARIUM_OLD_NODE';

export interface MailAddress {
  name: string;
  address: string;
}

/** A mail that the mock mail server received. */
export interface MailSummary {
  id: string;
  receivedAt: string;
  /** The addresses of the SMTP commands MAIL FROM and RCPT TO, hidden copies included. */
  envelope: { from: string; to: string[] };
  subject: string;
  from: MailAddress[];
  to: MailAddress[];
  cc: MailAddress[];
  /** The start of the text. */
  excerpt: string;
  attachments: { name: string; type: string; sizeBytes: number }[];
  /** Size of the source. */
  sizeBytes: number;
  /** The reason why only the source is known. */
  problem?: string | undefined;
  /** The invocation that sent it. */
  executionId?: string | undefined;
}

/** A mail with its contents. */
export interface Mail extends MailSummary {
  text: string;
  /** With images of the mail in place of links to them. */
  html?: string | undefined;
}

/** Filter of mails; an absent member matches all. */
export interface MailFilter {
  /** A recipient, not case-sensitive. */
  to?: string;
  /** Part of the subject, not case-sensitive. */
  subject?: string;
  /** Received at or after this time. */
  since?: Date | string;
}

export interface Mails {
  /** The newest 1,000 mails, oldest first. */
  list(filter?: MailFilter): Promise<MailSummary[]>;
  /** The newest matching mail; waits for the first one (default: 10 seconds) and rejects with code `TIMEOUT`. */
  waitFor(filter?: MailFilter, options?: { timeoutMs?: number }): Promise<Mail>;
  /** Deletes all mails; resolves to their number. */
  clear(): Promise<number>;
}

/**
 * Values of an error's `code`: `SETTING` (an option is invalid), `SEED` (the seed is invalid), `DATA` (the data folder is in use or
 * damaged), `NOT_FOUND`, `AMBIGUOUS`, `TIMEOUT`, `REFUSED` (the platform rejected the request, with `status`), `STOPPED` (the platform
 * was stopped), `TERRARIUM_OLD_NODE`; or the code of the operating system, such as `EADDRINUSE`.
 */
export interface TerrariumError extends Error {
  code: ErrorCode | `E${string}`;
  /** The HTTP status of a rejected request. */
  status?: number;
  /** The code of a rejected request, such as `name_taken`: `reason` of the REST API. */
  reason?: string;
}

/**
 * Starts a platform; several can run in one process.
 *
 * @throws TerrariumError
 */
export type StartEmulator = (options?: TerrariumOptions, hooks?: LibraryHooks) => Promise<Terrarium>;
