import { Agent, type ClientRequest, type IncomingMessage } from 'node:http';
import { Agent as TlsAgent } from 'node:https';
import type { Readable } from 'node:stream';
import { inspect } from 'node:util';
import Docker from 'dockerode';
import { isThisKernel } from '../../../system/this-system.ts';
import { EngineRefusal, EngineUnreachable, type RefusalKind } from '../engine.ts';
import { closedSocketReason, type DockerAddress } from './docker-address.ts';

/** For the whole of a plain answer, for the head of a streamed one; what streams on is looked after by the beats of its engine. */
const CALL_LIMIT_MS = 60_000;
/** A daemon that is well says so within seconds, also on a busy machine; of its version Podman asks other programs, which takes longer. */
const BEAT_LIMIT_MS = 10_000;
/** Nothing is said before the registry has answered. */
const PULL_LIMIT_MS = 120_000;

/** Copies the files of a pipeline job. */
const ARCHIVE_LIMIT_MS = 3_600_000;

type Modem = Docker['modem'];

/** Gives every call of a modem a timeout; it fails with ETIMEDOUT. @returns ends the calls that wait for their answer, now: ECONNRESET */
function limitCalls(modem: Modem): () => void {
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
      end(Object.assign(new Error('the call was canceled'), { code }), null);
      abort.abort();
    };
    waiting.add(giveUp);
    // What has arrived while this process was busy is read first.
    const timer = setTimeout(() => setImmediate(giveUp, 'ETIMEDOUT'), limitOf(options.path)).unref();
    dial({ ...options, abortSignal: abort.signal }, end);
  };
  return () => {
    for (const giveUp of waiting) giveUp('ECONNRESET');
  };
}

function limitOf(path: string): number {
  if (/^\/_ping\b/.test(path)) return BEAT_LIMIT_MS;
  if (/^\/containers\/[^/]+\/archive\b/.test(path)) return ARCHIVE_LIMIT_MS;
  return path.startsWith('/images/create') ? PULL_LIMIT_MS : CALL_LIMIT_MS;
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
      response.once('close', () => {
        if (response.complete) return;
        request.emit('error', Object.assign(new Error('the response is incomplete'), { code: 'ECONNRESET' }));
      });
    });
    addRequest(request, ...rest);
  };
}

/** Connections kept for the next request: each costs the daemon a little, a new one costs every request more. */
const KEPT_CONNECTIONS = 8;

export class DockerConnection {
  readonly address: DockerAddress;
  /** As the address suggests, until the daemon has said on which kernel it runs. */
  isOwnKernel: boolean;
  readonly docker: Docker;
  readonly #agent: Agent | TlsAgent;
  readonly #giveUpCalls: () => void;
  readonly #addressSetting: string;

  /** @param addressSetting the setting that changes the address, for messages */
  constructor(address: DockerAddress, addressSetting = "containers.engine or the provider's config.url") {
    this.address = address;
    this.#addressSetting = addressSetting;
    this.isOwnKernel = address.isOwnKernel;
    const { transport } = address;
    const tls = transport.kind === 'tcp' ? transport.tls : undefined;
    const keep = { keepAlive: true, maxFreeSockets: KEPT_CONNECTIONS };
    this.#agent = tls ? new TlsAgent({ ...keep, ...tls }) : new Agent(keep);
    failBrokenAnswers(this.#agent);
    sayLittle(this.#agent);
    this.docker = new Docker(optionsFor(transport, this.#agent));
    this.#giveUpCalls = limitCalls(this.docker.modem);
  }

  /** Asks the daemon what it is, and on which kernel it runs. */
  async identify(): Promise<{ isPodman: boolean; version: string }> {
    await this.ask((docker) => docker.ping()); // what hangs is found out sooner
    const {
      Version: version,
      Components,
      KernelVersion: kernel,
      Platform,
    } = await this.ask((client) => client.version());
    this.isOwnKernel = this.address.isOwnKernel && isThisKernel({ kernel, product: Platform?.Name });
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
            stream.setTimeout(CALL_LIMIT_MS, () => {
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
      const reason = String(Object(json).message ?? message ?? `status ${statusCode}`).trim();
      return new EngineRefusal(kindOf(statusCode, reason), reason, { cause: failure });
    }
    const why = closedSocketReason(this.address, code) ?? REASONS[String(code)] ?? String(message ?? failure);
    const text = `no container engine responds at ${this.address.url} (${why}). Start Docker or Podman, or set ${this.#addressSetting} to its address.`;
    return new EngineUnreachable(text, { cause: failure });
  }

  /** Closes the connection: pending requests to the daemon fail. The next request connects again. */
  close(): void {
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
  const sshOptions = keys === undefined ? {} : { sshOptions: { agent: keys } };
  return { protocol: 'ssh', host, port, ...(user !== undefined && { username: user }), ...sshOptions };
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
};

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
