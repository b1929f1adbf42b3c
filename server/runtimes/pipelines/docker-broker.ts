import { once } from 'node:events';
import { chmod } from 'node:fs/promises';
import { createServer, type IncomingMessage, type RequestOptions, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { json } from 'node:stream/consumers';
import { isJsonObject, type JsonObject } from '../../model/json.ts';
import { ENGINE_LABEL } from './engine-command.ts';
import { askEngine, NO_TIME_LIMITS, passOn, passOnUpgrade } from './pass-on.ts';

/** What every job may ask of the engine: about it, about images, and to build, pull and push them. */
const OPEN = [
  /^(?:GET|HEAD) \/_ping$/,
  /^GET \/(?:version|info)$/,
  /^POST \/(?:auth|build|build\/cancel|build\/prune|session|grpc|images\/create|images\/load)$/,
  /^GET \/(?:images\/.+\/(?:json|history|get)|distribution\/.+\/json)$/,
  /^POST \/images\/.+\/(?:push|tag)$/,
];
/** Containers belong to a run by their label, and commands to their containers. */
const OWNED = /^(?<method>\w+) \/(?<kind>containers|exec)\/(?<id>(?!prune$)[^/]+)(?:\/[^/]+)?$/;
/** Settings of containers that do not lead out of them; any other must be empty. */
const ALLOWED_SETTINGS = new Set(
  'AutoRemove CapDrop ConsoleSize CpuPeriod CpuQuota CpuShares CpusetCpus Dns DnsOptions DnsSearch ExtraHosts Init Memory MemoryReservation MemorySwap MemorySwappiness NanoCpus NetworkMode PidsLimit ReadonlyRootfs RestartPolicy ShmSize Tmpfs Ulimits'.split(
    ' ',
  ),
);
/** Members of a request that the broker sets. The engine reads names in any case, so others of these names are left out. */
const SET = ['HOSTCONFIG', 'LABELS', 'NETWORKINGCONFIG'];
const OWN_NETWORK: readonly unknown[] = [undefined, null, '', 'default', 'bridge'];

export interface BrokerOptions {
  /** The path of the socket that is made, in a private folder. */
  path: string;
  /** The engine: a socket or an address. */
  engine: Pick<RequestOptions, 'socketPath' | 'hostname' | 'port'>;
  /** Of the run. */
  mark: string;
  /** The network of the job, in which its containers are, too. */
  network: string;
}

/**
 * Opens a socket of the container engine for a job. It shows only what the run has made there. What would lead out of a
 * container is refused with a sentence.
 */
export async function openDockerBroker(options: BrokerOptions): Promise<{ close(): void }> {
  const calls = new JobCalls(options);
  const checked = (req: IncomingMessage) =>
    calls.checked(req).catch((failure) => refusal(400, `the request cannot be read: ${failure}`));
  const onward = (req: IncomingMessage, { path, body }: Allowed): RequestOptions => {
    const { 'transfer-encoding': _chunked, ...headers } = req.headers;
    const sent = body ? { ...headers, 'content-length': String(body.length) } : req.headers;
    return { ...options.engine, method: req.method, path, headers: sent, agent: false };
  };
  const server = createServer(NO_TIME_LIMITS, (req, res) => {
    void checked(req)
      .then((result) => {
        if ('status' in result) respond(res, result);
        else passOn(req, res, onward(req, result), { body: result.body });
      })
      // Such as headers that Node.js does not send.
      .catch(() => res.destroy());
  });
  server.on('upgrade', (req, socket, head) => {
    // The engine reads the body of such a request before it changes the protocol.
    const length = Number(req.headers['content-length'] ?? 0);
    void checked(req)
      .then((result) => {
        if ('status' in result) respondToUpgrade(socket, result);
        else passOnUpgrade({ socket, head: head.subarray(length) }, onward(req, result), head.subarray(0, length));
      })
      .catch(() => socket.destroy());
  });
  server.listen(options.path);
  await once(server, 'listening');
  // The folder is private; in the container, any user of the image may use the socket.
  await chmod(options.path, 0o666);
  return {
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** A request as it goes to the engine, with its body if that was read. */
interface Allowed {
  path: string;
  body?: Buffer;
}

/** A response that does not come from the engine. */
interface OwnResponse {
  status: number;
  /** JSON. */
  text: string;
}

const refusal = (status: number, message: string): OwnResponse => ({ status, text: JSON.stringify({ message }) });

function respond(res: ServerResponse, { status, text }: OwnResponse): void {
  res.writeHead(status, { 'Content-Type': 'application/json' }).end(text);
}

function respondToUpgrade(socket: Duplex, { status, text }: OwnResponse): void {
  const lines = ['Content-Type: application/json', `Content-Length: ${Buffer.byteLength(text)}`, 'Connection: close'];
  socket.end(`HTTP/1.1 ${status} Refused\r\n${lines.join('\r\n')}\r\n\r\n${text}`);
}

/** What a job asks of the engine. */
class JobCalls {
  readonly #options: BrokerOptions;
  /** Names of images that the job has built, pulled or tagged. */
  readonly #images = new Set<string>();

  constructor(options: BrokerOptions) {
    this.#options = options;
  }

  async checked(req: IncomingMessage): Promise<Allowed | OwnResponse> {
    const url = new URL(req.url ?? '/', 'http://engine.invalid');
    const call = `${req.method} ${decodeURIComponent(url.pathname).replace(/^\/v\d+\.\d+/, '')}`;
    const refused = refusal(403, `jobs cannot use '${call}' of the container engine`);
    if (call.includes('..')) return refused;
    if (/^(?:host|container:)/.test(url.searchParams.get('networkmode') ?? ''))
      return refusal(403, 'builds of jobs cannot use the network of the machine or of a container');
    this.#noteImages(call, url.searchParams);
    const path = `${url.pathname}${url.search}`;
    if (OPEN.some((one) => one.test(call))) return { path };
    const [, removed] = /^DELETE \/images\/(.+)$/.exec(call) ?? [];
    if (removed !== undefined && this.#images.has(withTag(removed))) return { path };
    if (/^GET \/(?:containers\/json|networks)$/.test(call)) {
      const sent: unknown = JSON.parse(url.searchParams.get('filters') ?? '{}');
      const label = [`${ENGINE_LABEL}=${this.#options.mark}`];
      url.searchParams.set('filters', JSON.stringify({ ...Object(sent), label }));
      return { path: `${url.pathname}${url.search}` };
    }
    if (call === 'GET /images/json') return this.#imagesMade(path);
    if (call === 'POST /containers/create') return this.#containerToCreate(path, Object(await json(req)));
    const { kind = '', id = '' } = OWNED.exec(call)?.groups ?? {};
    if (kind === '') return refused;
    if (!(await this.#isOwn(kind, id))) return refusal(404, `this run has no ${kind.replace(/s$/, '')} ${id}`);
    if (!/^POST \/containers\/[^/]+\/exec$/.test(call)) return { path };
    const asked: unknown = await json(req);
    const kept = Object.entries(Object(asked)).filter(([name]) => name.toLowerCase() !== 'privileged');
    return { path, body: Buffer.from(JSON.stringify(Object.fromEntries(kept))) };
  }

  #ask(path: string): Promise<unknown> {
    return askEngine({ ...this.#options.engine, method: 'GET', path });
  }

  async #isOwn(kind: string, id: string): Promise<boolean> {
    const found = Object(await this.#ask(`/${kind}/${id}/json`));
    if (kind === 'exec') return typeof found.ContainerID === 'string' && this.#isOwn('containers', found.ContainerID);
    return Object(Object(found.Config).Labels)[ENGINE_LABEL] === this.#options.mark;
  }

  #noteImages(call: string, query: URLSearchParams): void {
    const isTag = /^POST \/images\/.+\/tag$/.test(call);
    const image = query.get(isTag ? 'repo' : 'fromImage') ?? '';
    const tag = query.get('tag') ?? '';
    if (call === 'POST /build') for (const name of query.getAll('t')) this.#images.add(withTag(name));
    else if (image !== '' && (isTag || call === 'POST /images/create'))
      this.#images.add(withTag(tag ? `${image}:${tag}` : image));
  }

  async #imagesMade(path: string): Promise<OwnResponse> {
    const all = await this.#ask(path);
    const made = (Array.isArray(all) ? all : []).flatMap((one: unknown) => {
      const RepoTags = [Object(one).RepoTags ?? []].flat().filter((name) => this.#images.has(String(name)));
      return RepoTags.length > 0 ? [{ ...Object(one), RepoTags, RepoDigests: [] }] : [];
    });
    return { status: 200, text: JSON.stringify(made) };
  }

  #containerToCreate(path: string, asked: JsonObject): Allowed | OwnResponse {
    const { network, mark } = this.#options;
    const host = isJsonObject(asked.HostConfig) ? asked.HostConfig : {};
    const mode = OWN_NETWORK.includes(host.NetworkMode) ? network : host.NetworkMode;
    const [refusedSetting] =
      Object.entries({ ...host, NetworkMode: mode === network || mode === 'none' ? '' : mode }).find(
        ([setting, value]) => !isEmpty(value) && (setting === 'NetworkMode' || !ALLOWED_SETTINGS.has(setting)),
      ) ?? [];
    if (refusedSetting !== undefined) return refusal(403, `containers of jobs cannot have '${refusedSetting}'`);
    const kept = Object.entries(asked).filter(([name]) => !SET.includes(name.toLowerCase().toUpperCase()));
    const changed = {
      ...Object.fromEntries(kept),
      Labels: { ...Object(asked.Labels), [ENGINE_LABEL]: mark },
      HostConfig: { ...host, NetworkMode: mode },
    };
    return { path, body: Buffer.from(JSON.stringify(changed)) };
  }
}

/** As the engine lists it. */
const withTag = (name: string) => (/:[^/]+$/.test(name) ? name : `${name}:latest`);

function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null ? Object.values(value).every(isEmpty) : !value;
}
