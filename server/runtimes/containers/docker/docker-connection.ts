import { Agent, type ClientRequest, type IncomingMessage } from 'node:http';
import { Agent as TlsAgent } from 'node:https';
import type { Readable } from 'node:stream';
import { inspect } from 'node:util';
import Docker from 'dockerode';
import { z } from 'zod';
import { isThisKernel } from '../../../system/this-system.ts';
import { Turns } from '../../../system/turns.ts';
import { EngineRefusal, EngineUnreachable, type RefusalKind } from '../engine.ts';
import { closedSocketReason, type DockerAddress, type DockerUser } from './docker-address.ts';

/** Nothing is said before the registry has answered, and between two pieces of progress. */
const PULL_LIMIT_MS = 120_000;
/** For the whole of a plain answer, for the head of a streamed one; what streams on is looked after by the beats of its engine. */
const CALL_LIMITS = {
  callMs: 60_000,
  /** A daemon that is well says so within seconds, also on a busy machine; of its version Podman asks other programs, which takes longer. */
  beatMs: 10_000,
  pullMs: PULL_LIMIT_MS,
  /** Copies the files of a pipeline job. */
  archiveMs: 3_600_000,
  /** Time for a connection over ssh to begin: some requests are answered much later. */
  beginMs: 2_000,
};
type CallLimits = typeof CALL_LIMITS;

type Modem = Docker['modem'];

/** Gives every call of a modem a timeout; it fails with ETIMEDOUT. @returns ends the calls that wait for their answer, now: ECONNRESET */
function limitCalls(modem: Modem, limits: CallLimits): () => void {
  const dial = modem.dial.bind(modem);
  const waiting = new Set<(code: string) => void>();
  modem.dial = (options, callback) => {
    const abort = new AbortController();
    const end: NonNullable<typeof callback> = (failure, answer) => {
      clearTimeout(timer);
      if (waiting.delete(giveUp)) callback?.(failure, answer);
    };
    const giveUp = (code: string) => {
      if (!waiting.has(giveUp)) return;
      end(canceled(code), null);
      abort.abort();
    };
    waiting.add(giveUp);
    // A stop is answered when the container has ended, which has `t` seconds for it.
    const limitMs = limits[limitOf(options.path)] + (Number(Object(options.options).t) || 0) * 1_000;
    // What has arrived while this process was busy is read first.
    const timer = setTimeout(() => setImmediate(giveUp, 'ETIMEDOUT'), limitMs).unref();
    dial({ ...options, abortSignal: abort.signal }, end);
  };
  return () => {
    for (const giveUp of waiting) giveUp('ECONNRESET');
  };
}

/** A server of ssh drops some connections while ten others begin, and each request over ssh is a connection. */
const SSH_BEGINNINGS = 8;

/** @returns ends the calls that wait for their turn: ECONNRESET */
function beginInTurns(modem: Modem, { beginMs }: CallLimits): () => void {
  const dial = modem.dial.bind(modem);
  const turns = new Turns(SSH_BEGINNINGS);
  let closing = new AbortController();
  modem.dial = (options, callback) => {
    const { signal } = closing;
    const begin = () =>
      new Promise<void>((resolve) => {
        signal.throwIfAborted();
        setTimeout(resolve, beginMs).unref();
        dial(options, (failure, answer) => {
          resolve();
          callback?.(failure, answer);
        });
      });
    turns.run(begin).catch((failure: Error) => callback?.(failure, null));
  };
  return () => {
    closing.abort(canceled('ECONNRESET'));
    closing = new AbortController();
  };
}

const canceled = (code: string) => Object.assign(new Error('the call was canceled'), { code });

function limitOf(path: string): keyof CallLimits {
  if (/^\/_ping\b/.test(path)) return 'beatMs';
  if (/^\/containers\/[^/]+\/archive\b/.test(path)) return 'archiveMs';
  return path.startsWith('/images/create') ? 'pullMs' : 'callMs';
}

/**
 * The modem waits for the end of a plain answer and hears of nothing else: one that breaks off fails its request here.
 * Deno sends a request again when the kept connection that it was sent on closes, even if it was aborted: here it fails, as in Node.js.
 */
function failBrokenAnswers(agent: Agent): void {
  // The method through which an agent gets every request; its types omit it.
  const through = agent as Agent & { addRequest(request: ClientRequest, ...rest: unknown[]): void };
  const addRequest = through.addRequest.bind(agent);
  const sentRequests = new WeakSet<ClientRequest>();
  through.addRequest = (request, ...rest) => {
    if (sentRequests.has(request)) {
      request.emit('error', Object.assign(new Error('the connection was closed'), { code: 'ECONNRESET' }));
      return;
    }
    sentRequests.add(request);
    request.prependOnceListener('response', (response: IncomingMessage) => {
      // The modem would follow a redirect, without a listener for errors, to any host that the engine names.
      delete response.headers.location;
      // No engine sends one: another server does, or a filter before an engine, which forbids a request.
      if (response.statusCode !== 403 && /^text\/html\b/.test(response.headers['content-type'] ?? '')) {
        request.emit('error', Object.assign(new Error('the response is a web page'), { code: WEB_PAGE }));
        response.destroy();
        return;
      }
      response.once('close', () => {
        if (response.complete) return;
        request.emit('error', Object.assign(new Error('the response is incomplete'), { code: 'ECONNRESET' }));
      });
    });
    addRequest(request, ...rest);
  };
}

/** The code of the failure of a request that is answered with a web page. */
const WEB_PAGE = 'WEB_PAGE';

/** Connections kept for the next request: each costs the daemon a little, a new one costs every request more. */
const KEPT_CONNECTIONS = 8;

export interface ConnectionOptions {
  /** The setting that changes the address, for messages. */
  addressSetting?: string;
  limits?: Partial<CallLimits>;
  /** Images are pulled with what `docker login` has stored for this user. */
  user?: DockerUser;
}

export class DockerConnection {
  readonly address: DockerAddress;
  readonly limits: CallLimits;
  readonly user: DockerUser;
  /** As the address suggests, until the daemon has said on which kernel it runs. */
  isOwnKernel: boolean;
  /** Such as `linux/amd64`; undefined until the daemon has said it. */
  platform: string | undefined;
  readonly docker: Docker;
  readonly #agent: Agent | TlsAgent;
  readonly #giveUpCalls: () => void;
  readonly #dropWaiting: (() => void) | undefined;
  readonly #addressSetting: string;

  constructor(
    address: DockerAddress,
    {
      addressSetting = "containers.engine or the provider's config.url",
      limits = {},
      user = { env: {}, homeDir: undefined },
    }: ConnectionOptions = {},
  ) {
    this.address = address;
    this.limits = { ...CALL_LIMITS, ...limits };
    this.user = user;
    this.#addressSetting = addressSetting;
    this.isOwnKernel = address.isOwnKernel;
    const { transport } = address;
    const tls = transport.kind === 'tcp' ? transport.tls : undefined;
    const keep = { keepAlive: true, maxFreeSockets: KEPT_CONNECTIONS };
    this.#agent = tls ? new TlsAgent({ ...keep, ...tls }) : new Agent(keep);
    failBrokenAnswers(this.#agent);
    sayLittle(this.#agent);
    this.docker = new Docker(optionsFor(transport, this.#agent));
    this.#giveUpCalls = limitCalls(this.docker.modem, this.limits);
    this.#dropWaiting = transport.kind === 'ssh' ? beginInTurns(this.docker.modem, this.limits) : undefined;
  }

  /** Asks the daemon what it is, and on which kernel it runs. */
  async identify(): Promise<{ isPodman: boolean; version: string }> {
    await this.ask((docker) => docker.ping()); // what hangs is found out sooner
    const answer = await this.askFor(engineVersion, (client) => client.version());
    const { Version: version, Components, KernelVersion: kernel, Platform, Os: os, Arch: architecture } = answer;
    this.isOwnKernel =
      this.address.isOwnKernel && isThisKernel({ ...(kernel && { kernel }), product: Platform?.Name ?? '' });
    this.platform = os && architecture && `${os}/${architecture}`;
    // Podman speaks Docker's language, and says so.
    return { version, isPodman: (Components ?? []).some(({ Name }) => Name.startsWith('Podman')) };
  }

  /** Runs work with the daemon. Turns its failures into EngineUnreachable or EngineRefusal. */
  async ask<T>(work: (docker: Docker) => Promise<T>): Promise<T> {
    try {
      return await work(this.docker);
    } catch (failure) {
      throw this.toEngineError(failure);
    }
  }

  /** Like `ask`, for an answer that is read: one of another shape is not an engine's. */
  askFor<T>(shape: z.ZodType<T>, work: (docker: Docker) => Promise<unknown>): Promise<T> {
    return this.ask(async (docker) => shape.parse(await work(docker)));
  }

  /** Returns undefined if the daemon refuses for one of these reasons, or for any reason if none is named. */
  async askTolerantly<T>(work: (docker: Docker) => Promise<T>, ...kinds: RefusalKind[]): Promise<T | undefined> {
    try {
      return await this.ask(work);
    } catch (failure) {
      if (failure instanceof EngineRefusal && (kinds.length === 0 || kinds.includes(failure.kind))) return undefined;
      throw failure;
    }
  }

  /** For a plain answer that may be too long for memory. `path` ends with `?`. Fails when nothing comes for a while. */
  read(path: string, query: object): Promise<Readable> {
    const statusCodes = { 200: true, 400: 'bad parameter', 404: 'no such thing', 409: 'conflict', 500: 'server error' };
    return this.ask(
      (docker) =>
        new Promise((resolve, reject) => {
          docker.modem.dial({ path, method: 'GET', isStream: true, options: query, statusCodes }, (failure, answer) => {
            if (failure) return reject(failure);
            const stream = answer as IncomingMessage; // as: what is asked for as a stream is one
            stream.setTimeout(this.limits.callMs, () => {
              stream.destroy(Object.assign(new Error('the stream timed out'), { code: 'ETIMEDOUT' }));
            });
            resolve(stream);
          });
        }),
    );
  }

  toEngineError(failure: unknown): EngineUnreachable | EngineRefusal {
    if (failure instanceof EngineUnreachable || failure instanceof EngineRefusal) return failure;
    const { statusCode, code, json, message } = Object(failure);
    if (isOwnFault(failure)) {
      const reason = `the request to the container engine cannot be made (${message}). Change the definition of the container.`;
      return new EngineRefusal('definition', reason, { cause: failure });
    }
    if (typeof statusCode === 'number') {
      // The modem's own words come before the reason of the engine.
      const engineReason = String(Object(json).message ?? message)
        .replace(/^\(HTTP code \d+\) [\w ]+ - ?/, '')
        .trim();
      const reason = engineReason || `it responds with status ${statusCode} and no reason. See its log.`;
      return new EngineRefusal(kindOf(statusCode, reason), reason, { cause: failure });
    }
    const why =
      shapeReason(failure) ??
      closedSocketReason(this.address, code) ??
      REASONS[String(code)] ??
      String(message ?? failure);
    const text = `no container engine responds at ${this.address.url} (${why}). Start Docker or Podman, or set ${this.#addressSetting} to its address.`;
    return new EngineUnreachable(text, { cause: failure });
  }

  /** Closes the connection: pending requests to the daemon fail. The next request connects again. */
  close(): void {
    this.#dropWaiting?.();
    this.#giveUpCalls();
    this.#agent.destroy();
  }
}

/** Its types do not say that the modem passes an agent to node:http. For ssh it creates its own agent. */
function optionsFor(
  transport: DockerAddress['transport'],
  agent: Agent | TlsAgent,
): Docker.DockerOptions & { agent?: Agent | TlsAgent } {
  if (transport.kind === 'socket') return { socketPath: transport.path, agent };
  const { host, port } = transport;
  if (transport.kind === 'tcp')
    return { host, port, protocol: transport.tls ? 'https' : 'http', ...transport.tls, agent };
  const { user, agent: keys } = transport;
  // The modem makes a URL of its host: without a protocol, an invalid one, which Node.js 25 rejects. ssh connects to the host name.
  const sshOptions = { hostname: host, ...(keys !== undefined && { agent: keys }) };
  return { protocol: 'ssh', host: 'ssh://engine', port, ...(user !== undefined && { username: user }), sshOptions };
}

/** docker-modem describes each request for an unused log, with the agent's sockets: two thirds of a request's processor time. */
function sayLittle(agent: Agent): void {
  Object.defineProperty(agent, inspect.custom, { value: () => '[Agent]' });
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'the socket does not exist',
  ECONNREFUSED: 'connection refused',
  ENOTFOUND: 'the host name cannot be resolved',
  ECONNRESET: 'the connection was closed',
  ETIMEDOUT: 'it accepts connections, but does not respond',
  [WEB_PAGE]: 'it responds with a web page',
};

/** The members of the answer to `GET /version` that are read. Podman lists itself as a component. */
const engineVersion = z.looseObject({
  Version: z.string(),
  KernelVersion: z.string().optional(),
  Os: z.string().optional(),
  Arch: z.string().optional(),
  Platform: z.looseObject({ Name: z.string().optional() }).nullish(),
  Components: z.array(z.looseObject({ Name: z.string() })).nullish(),
});

function shapeReason(failure: unknown): string | undefined {
  if (!(failure instanceof z.ZodError)) return undefined;
  const [{ path, message } = { path: [], message: '' }] = failure.issues;
  return `it sends an answer that no container engine sends: ${[path.join('.'), message].filter(Boolean).join(': ')}`;
}

/** Tells the errors of this process that built the request, or read the answer, from those of the engine and the way to it. */
function isOwnFault(failure: unknown): boolean {
  return failure instanceof TypeError || failure instanceof RangeError || failure instanceof URIError;
}

function kindOf(statusCode: number, reason: string): RefusalKind {
  if (/no such image|pull access denied|manifest|invalid reference format/i.test(reason)) return 'image';
  if (/bind source path does not exist/i.test(reason)) return 'folder';
  if (statusCode === 404) return 'missing';
  if (statusCode === 409 || statusCode === 304) return 'conflict';
  return statusCode === 400 || statusCode === 422 || /OCI runtime|port is already allocated|mount/i.test(reason)
    ? 'definition'
    : 'fault';
}
