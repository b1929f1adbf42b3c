import { Agent, type IncomingMessage } from 'node:http';
import { Agent as TlsAgent } from 'node:https';
import type { Readable } from 'node:stream';
import { inspect } from 'node:util';
import Docker from 'dockerode';
import { EngineRefusal, EngineUnreachable, type RefusalKind } from '../engine-errors.ts';
import { CALL_LIMIT_MS, failBrokenAnswers, limitCalls } from './call-limits.ts';
import { closedSocketReason } from './closed-socket.ts';
import type { DockerAddress } from './docker-address.ts';

/** Connections kept for the next request: each costs the daemon a little, a new one costs every request more. */
const KEPT_CONNECTIONS = 8;

/** A daemon as dockerode speaks to it. Connects with the first request; every call has a time-out. */
export class DockerConnection {
  readonly address: DockerAddress;
  readonly docker: Docker;
  readonly #agent: Agent | TlsAgent;
  readonly #giveUpCalls: () => void;

  constructor(address: DockerAddress) {
    this.address = address;
    const { transport } = address;
    const tls = transport.kind === 'tcp' ? transport.tls : undefined;
    const keep = { keepAlive: true, maxFreeSockets: KEPT_CONNECTIONS };
    this.#agent = tls ? new TlsAgent({ ...keep, ...tls }) : new Agent(keep);
    failBrokenAnswers(this.#agent);
    sayLittle(this.#agent);
    this.docker = new Docker(optionsFor(transport, this.#agent));
    this.#giveUpCalls = limitCalls(this.docker.modem);
  }

  /** Does something with the daemon; what it rejects with becomes EngineUnreachable or EngineRefusal. */
  async ask<T>(work: (docker: Docker) => Promise<T>): Promise<T> {
    try {
      return await work(this.docker);
    } catch (failure) {
      throw this.toEngineError(failure);
    }
  }

  /** The same where to be refused for such a reason, or for any unless one is named, is as good: undefined then. */
  async askTolerantly<T>(work: (docker: Docker) => Promise<T>, ...kinds: RefusalKind[]): Promise<T | undefined> {
    try {
      return await this.ask(work);
    } catch (failure) {
      if (failure instanceof EngineRefusal && (kinds.length === 0 || kinds.includes(failure.kind))) return undefined;
      throw failure;
    }
  }

  /**
   * A plain answer as it comes, for one that may be too long to be held as a whole. It fails when nothing comes for a while.
   *
   * @param path with a `?` at its end, behind which the query is put
   */
  read(path: string, query: object): Promise<Readable> {
    const statusCodes = { 200: true, 400: 'bad parameter', 404: 'no such thing', 409: 'conflict', 500: 'server error' };
    return this.ask(
      (docker) =>
        new Promise((resolve, reject) => {
          docker.modem.dial({ path, method: 'GET', isStream: true, options: query, statusCodes }, (failure, answer) => {
            if (failure) return reject(failure);
            const stream = answer as IncomingMessage; // as: what is asked for as a stream is one
            stream.setTimeout(CALL_LIMIT_MS, () => {
              stream.destroy(Object.assign(new Error('nothing came any more'), { code: 'ETIMEDOUT' }));
            });
            resolve(stream);
          });
        }),
    );
  }

  /** What a failure of dockerode, of Node's sockets, or of the daemon means. */
  toEngineError(failure: unknown): EngineUnreachable | EngineRefusal {
    if (failure instanceof EngineUnreachable || failure instanceof EngineRefusal) return failure;
    const { statusCode, code, json, message } = Object(failure);
    if (typeof statusCode === 'number') {
      const said = String(Object(json).message ?? message ?? `status ${statusCode}`).trim();
      return new EngineRefusal(kindOf(statusCode, said), said, { cause: failure });
    }
    const why = this.#closedSocket(code) ?? REASONS[String(code)] ?? String(message ?? failure);
    const text = `no container engine answers at ${this.address.url} (${why}): start Docker or Podman, or set containers.engine or the provider's config.url to where it is`;
    return new EngineUnreachable(text, { cause: failure });
  }

  #closedSocket(code: unknown): string | undefined {
    const { transport } = this.address;
    const isClosed = transport.kind === 'socket' && (code === 'EACCES' || code === 'EPERM');
    return isClosed ? closedSocketReason(transport.path) : undefined;
  }

  /** Lets go of the daemon: what it was asked and has not answered fails. The next question connects anew. */
  close(): void {
    this.#giveUpCalls();
    this.#agent.destroy();
  }
}

/** Its type does not know that the modem takes an agent and hands it to node:http. By ssh it makes one of its own. */
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

/**
 * docker-modem describes each request with all that hangs on it, for a log that nobody reads: the agent's sockets and whatever they lead
 * to are two thirds of the processor time of a request, and of the first ones ten milliseconds and more.
 */
function sayLittle(agent: Agent): void {
  Object.defineProperty(agent, inspect.custom, { value: () => '[Agent]' });
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such socket',
  ECONNREFUSED: 'nothing listens there',
  ENOTFOUND: 'the host is unknown',
  ECONNRESET: 'the connection broke off',
  ETIMEDOUT: 'it accepts, and does not answer',
};

function kindOf(statusCode: number, said: string): RefusalKind {
  if (/no such image|pull access denied|manifest|invalid reference format/i.test(said)) return 'image';
  if (statusCode === 404) return 'missing';
  if (statusCode === 409 || statusCode === 304) return 'conflict';
  return statusCode === 400 || statusCode === 422 || /OCI runtime|port is already allocated|mount/i.test(said)
    ? 'definition'
    : 'fault';
}
