import { once } from 'node:events';
import { chmod } from 'node:fs/promises';
import {
  createServer,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type RequestOptions,
  type ServerResponse,
} from 'node:http';
import { type Duplex, finished, type Readable, type Writable } from 'node:stream';
import { json } from 'node:stream/consumers';
import { z } from 'zod';
import { jsonIn } from '../../model/json.ts';
import { LABEL, marksOf, ownedBy, type WorldMark } from '../containers/docker/labels.ts';
import { type EngineRequest, findEngineRequest, newContainer, Refusal, rebuild } from './engine-requests.ts';
import { joinBuildKit } from './join-buildkit.ts';
import { copyArchive, MadeImages, type MadeImagesOptions, PROJECT_LABEL, partsOf } from './made-images.ts';
import { askEngine, NO_TIME_LIMITS, passOn, passOnUpgrade } from './platform-route.ts';

/** The version of the engine's API that the broker speaks, if the engine does. */
const API_MINOR = 44;
const MAX_BODY_BYTES = 1_000_000;
const OWN_NETWORK: readonly unknown[] = [undefined, null, '', 'default', 'bridge'];
/** The headers of a request that the engine gets: credentials of registries, and what identifies the session of a build. */
const HEADER = /^(?:user-agent|x-registry-(?:auth|config)|x-docker-expose-session-[\w-]+)$/;

const versions = z.object({ ApiVersion: z.string(), MinAPIVersion: z.string().optional() });
const labels = z.record(z.string(), z.string());
/** Filters of a list, in both forms that engines take. */
const filters = z.record(z.string(), z.union([z.array(z.string()), z.record(z.string(), z.boolean())]));

export interface BrokerOptions extends Omit<MadeImagesOptions, 'askEngine'> {
  /** The path of the socket that is made, in a private folder. */
  path: string;
  /** The engine: a socket or an address. */
  engine: Pick<RequestOptions, 'socketPath' | 'hostname' | 'port'>;
  world: WorldMark;
  /** The network of the job, in which its containers are, too. */
  network: string;
}

/**
 * Opens a socket of the container engine for a job. It takes the requests of a table, sends the engine what it has read of them in one version
 * of its API, and shows and changes only what the run has made there. Everything else is refused with a sentence.
 */
export async function openDockerBroker(options: BrokerOptions): Promise<{ close(): void }> {
  const calls = new JobCalls(options);
  const checked = (req: IncomingMessage, body: () => Promise<unknown>) =>
    calls.checked(req, body).catch((failure) => {
      if (failure instanceof Refusal) return answer(failure.status, failure.message);
      const isUnread = failure instanceof SyntaxError || failure instanceof URIError;
      return answer(isUnread ? 400 : 502, `the job's request could not be passed on: ${failure.message}`);
    });
  const onward = (req: IncomingMessage, allowed: Allowed): RequestOptions => {
    const { path, body, copy } = allowed;
    const headers: OutgoingHttpHeaders = Object.fromEntries(
      Object.entries(req.headers).filter(([name]) => HEADER.test(name)),
    );
    // Of a form, the engine would read more members of the query.
    if (isArchive(allowed)) {
      headers['content-type'] = 'application/x-tar';
      if (!copy && req.headers['content-length'] !== undefined)
        headers['content-length'] = req.headers['content-length'];
    } else {
      if (body.length > 0) headers['content-type'] = 'application/json';
      headers['content-length'] = String(body.length);
    }
    return { ...options.engine, method: req.method, path, headers, agent: false };
  };
  const server = createServer(NO_TIME_LIMITS, (req, res) => {
    void checked(req, () => limitedJson(req))
      .then((result) => {
        if ('status' in result) return respond(req, res, result);
        if (PROTOCOLS.includes(result.call))
          return respond(req, res, answer(400, `'${req.url}' needs an upgraded connection`));
        if (!isArchive(result)) req.resume();
        passOn(req, res, onward(req, result), isArchive(result) ? { copy: result.copy } : { body: result.body });
        result.onSent?.(new Promise((resolve) => void finished(res, () => resolve())));
      })
      // Such as headers that Node.js does not send.
      .catch(() => res.destroy());
  });
  server.on('upgrade', (req, socket, head) => {
    // The engine reads the body of such a request before it changes the protocol.
    const received = firstBytes(socket, head, Number(req.headers['content-length'] ?? 0));
    void checked(req, async () => JSON.parse(String((await received).body)))
      .then(async (result) => {
        const { rest } = await received;
        if ('status' in result) respondToUpgrade(socket, result);
        else if (!result.request.isUpgrade)
          respondToUpgrade(socket, answer(403, `jobs cannot upgrade '${result.path}' of the container engine`));
        else {
          const { upgrade = 'tcp' } = req.headers;
          const target = onward(req, result);
          target.headers = { ...Object(target.headers), connection: 'Upgrade', upgrade };
          const join = (client: Duplex, engine: Duplex) => joinBuildKit(client, engine, calls.images, options.project);
          passOnUpgrade({ socket, head: rest }, target, {
            body: result.body,
            ...(result.call === BUILDKIT && { join }),
          });
        }
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

const BUILDKIT = 'POST /grpc';
/** The calls that are only the upgrade of their connection. */
const PROTOCOLS = [BUILDKIT, 'POST /session'];

/** A request that is allowed, before it is written for the engine. */
interface Checked {
  path: string;
  value?: unknown;
  /** Called when it has been sent, with its end. */
  onSent?: (ended: Promise<void>) => void;
  /** Copies an archive that is not passed on as it is. */
  copy?: (source: Readable, target: Writable) => Promise<void>;
}

interface Allowed extends Checked, Pick<Row, 'call' | 'request'> {
  /** Empty if it has none, or if it is an archive. */
  body: Buffer;
}

const isArchive = ({ request }: Pick<Row, 'request'>) => request.body === 'archive';

interface OwnResponse {
  status: number;
  /** JSON, unless it has other headers. */
  text: string;
  headers?: Record<string, string>;
}

const answer = (status: number, message: string): OwnResponse => ({ status, text: JSON.stringify({ message }) });

function respond(req: IncomingMessage, res: ServerResponse, { status, text, headers }: OwnResponse): void {
  req.resume();
  res.writeHead(status, headers ?? { 'Content-Type': 'application/json' }).end(text);
}

function respondToUpgrade(socket: Duplex, { status, text }: OwnResponse): void {
  const lines = ['Content-Type: application/json', `Content-Length: ${Buffer.byteLength(text)}`, 'Connection: close'];
  socket.end(`HTTP/1.1 ${status} Refused\r\n${lines.join('\r\n')}\r\n\r\n${text}`);
}

async function limitedJson(req: IncomingMessage): Promise<unknown> {
  let size = 0;
  req.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) req.destroy(new Error(`its body is larger than ${MAX_BODY_BYTES} bytes`));
  });
  return json(req);
}

/** Reads the body of a request that changes the protocol of its connection. */
async function firstBytes(socket: Duplex, head: Buffer, length: number): Promise<{ body: Buffer; rest: Buffer }> {
  let received = head;
  while (received.length < length && length <= MAX_BODY_BYTES) {
    const [chunk] = await once(socket, 'data');
    received = Buffer.concat([received, chunk]);
  }
  socket.pause();
  return { body: received.subarray(0, length), rest: received.subarray(length) };
}

type Row = NonNullable<ReturnType<typeof findEngineRequest>>;

class JobCalls {
  readonly #options: BrokerOptions;
  readonly images: MadeImages;
  #version: Promise<string> | undefined;

  constructor(options: BrokerOptions) {
    this.#options = options;
    this.images = new MadeImages({ ...options, askEngine: (path) => this.#ask(path) });
  }

  async checked(req: IncomingMessage, body: () => Promise<unknown>): Promise<Allowed | OwnResponse> {
    const url = new URL(req.url ?? '/', 'http://engine.invalid');
    const call = `${req.method} ${decodeURIComponent(url.pathname).replace(/^\/v\d+\.\d+(?=\/)/, '')}`;
    const row = findEngineRequest(call);
    if (!row) return answer(403, `jobs cannot use '${call}' of the container engine`);
    const { request } = row;
    const query = queryOf(url, row.call, request);
    const ownResponse = await this.#ownAnswer(row.call, query);
    if (ownResponse) return ownResponse;
    const allowed = await this.#allow(row, query, body);
    if ('status' in allowed) return allowed;
    const search = query.size > 0 ? `?${query}` : '';
    const path = `/v${await this.#apiVersion()}${allowed.path}${search}`;
    const text = allowed.value === undefined ? '' : JSON.stringify(allowed.value);
    return { ...allowed, call: row.call, request, path, body: Buffer.from(text) };
  }

  /** Responds in place of the engine to requests about versions and images. */
  async #ownAnswer(call: string, query: URLSearchParams): Promise<OwnResponse | undefined> {
    if (call.endsWith(' /_ping')) {
      const headers = { 'Api-Version': await this.#apiVersion(), Ostype: 'linux', 'Builder-Version': '2' };
      return { status: 200, text: call.startsWith('HEAD') ? '' : 'OK', headers };
    }
    if (call === 'GET /version') {
      const version = Object(await this.#ask('/version'));
      return { status: 200, text: JSON.stringify({ ...version, ApiVersion: await this.#apiVersion() }) };
    }
    if (call !== 'GET /images/json') return undefined;
    const list = await this.#ask(`/images/json?${query}`);
    return { status: 200, text: JSON.stringify(this.images.madeOf(list)) };
  }

  /** Checks a request against what the run has made; changes its query. */
  async #allow(row: Row, query: URLSearchParams, body: () => Promise<unknown>): Promise<Checked | OwnResponse> {
    const { call, name, subject } = row;
    const path = call.replace(/^\w+ /, '');
    const withName = (reference: string) => path.replace(/\{\w+\}/, reference);
    if (subject === 'container' || subject === 'exec') {
      const id = await this.#ownId(subject, name);
      if (id === undefined) return answer(404, `this run has no ${subject} ${name}`);
      return { path: withName(id), value: await this.#body(row, body) };
    }
    if (call === 'DELETE /images/{image}') return this.#removeImage(name, withName);
    if (subject === 'madeImage') return this.#allowForMadeImage(call, name, query, withName);
    if (subject === 'image') return { path: withName(name) };
    if (call === 'GET /containers/json' || call === 'GET /networks') this.#filterByRun(query);
    if (call === 'GET /images/get') await this.#requireAllMade(query);
    if (call === 'POST /build') await this.#prepareBuild(query);
    if (call === 'POST /images/load') return this.#loadImages(path);
    if (call === 'POST /images/create') return this.#createImage(path, query);
    const value = await this.#body(row, body);
    return {
      path,
      value: call === 'POST /containers/create' ? this.#containerOfRun(newContainer.parse(value)) : value,
    };
  }

  async #body({ call, request: { body: schema } }: Row, body: () => Promise<unknown>): Promise<unknown> {
    if (schema === undefined || schema === 'archive') return undefined;
    const rebuilt = rebuild(schema, await body());
    if ('refused' in rebuilt && call === 'POST /containers/create')
      throw new Refusal(403, `containers of jobs cannot have '${rebuilt.refused}'`);
    if ('refused' in rebuilt)
      throw new Refusal(403, `jobs cannot use '${call}' of the container engine with '${rebuilt.refused}'`);
    return rebuilt.value;
  }

  async #ask(path: string): Promise<unknown> {
    return askEngine({ ...this.#options.engine, method: 'GET', path: `/v${await this.#apiVersion()}${path}` });
  }

  #apiVersion(): Promise<string> {
    this.#version ??= askEngine({ ...this.#options.engine, method: 'GET', path: '/version' }).then((described) => {
      const { ApiVersion, MinAPIVersion = '1.0' } = versions.parse(described);
      const [newest = 0, oldest = 0] = [ApiVersion, MinAPIVersion].map((version) => Number(version.split('.')[1]));
      return `1.${Math.max(Math.min(newest, API_MINOR), oldest)}`;
    });
    this.#version.catch(() => {
      this.#version = undefined;
    });
    return this.#version;
  }

  /** The whole id of what the run has made: a name could belong to another container by the time of the request. */
  async #ownId(subject: 'container' | 'exec', name: string): Promise<string | undefined> {
    if (subject === 'exec') {
      const { ID, ContainerID } = Object(await this.#ask(`/exec/${name}/json`));
      const isOwn = typeof ContainerID === 'string' && (await this.#ownId('container', ContainerID));
      return isOwn ? String(ID) : undefined;
    }
    const { Id, Config } = Object(await this.#ask(`/containers/${name}/json`));
    return Object(Object(Config).Labels)[LABEL.world] === this.#options.world.worldId ? String(Id) : undefined;
  }

  #filterByRun(query: URLSearchParams): void {
    const { success, data } = filters.safeParse(jsonIn(query.get('filters') || '{}'));
    if (!success) throw new Refusal(400, 'the filters cannot be read');
    const lists = Object.entries(data).map(([name, values]) => [
      name,
      Array.isArray(values) ? values : Object.keys(values),
    ]);
    const { label = [], ...otherFilters }: Record<string, string[]> = Object.fromEntries(lists);
    const runFilter = ownedBy(this.#options.world.worldId);
    query.set('filters', JSON.stringify({ ...otherFilters, label: [...label, ...runFilter.label] }));
  }

  async #requireMade(reference: string): Promise<string> {
    const found = await this.images.find(reference);
    if (!found.image) throw new Refusal(404, `No such image: ${reference}`);
    if (!this.images.isMade(found))
      throw new Refusal(
        403,
        `this run did not make the image '${reference}', so that jobs can run it and build on it only`,
      );
    return found.name;
  }

  /** Names each image with its tag: without one, the engine saves all images of the repository. */
  async #requireAllMade(query: URLSearchParams): Promise<void> {
    const references = query.getAll('names');
    query.delete('names');
    for (const name of references) query.append('names', await this.#requireMade(name));
  }

  async #allowForMadeImage(
    call: string,
    reference: string,
    query: URLSearchParams,
    withName: (reference: string) => string,
  ): Promise<Checked> {
    if (call.endsWith('/push')) {
      // The engine takes name and tag apart, and pushes all tags of the repository without one.
      const name = await this.#requireMade(withTag(reference, query.get('tag') ?? ''));
      const [, repository = name, tag = 'latest'] = /^(.+):([^/:]+)$/.exec(name) ?? [];
      query.set('tag', tag);
      return { path: withName(repository) };
    }
    const name = await this.#requireMade(reference);
    if (!call.endsWith('/tag')) return { path: withName(name) };
    const target = withTag(query.get('repo') ?? '', query.get('tag') ?? '');
    const source = await this.images.find(name);
    await this.images.requireClaim(target);
    const onSent = (ended: Promise<void>) => this.images.note(target, ended, ({ Id }) => Id === source.image?.Id);
    return { path: withName(name), onSent };
  }

  /** A base image that a job removes when it cleans up stays, and the job does not fail. */
  async #removeImage(
    reference: string,
    withName: (reference: string) => string,
  ): Promise<{ path: string } | OwnResponse> {
    const found = await this.images.find(reference);
    if (!found.image) return answer(404, `No such image: ${reference}`);
    return this.images.isMade(found) ? { path: withName(found.name) } : { status: 200, text: '[]' };
  }

  async #prepareBuild(query: URLSearchParams): Promise<void> {
    for (const name of query.getAll('t')) await this.images.requireClaim(name);
    const requestedLabels = labels.catch({}).parse(jsonIn(query.get('labels') || '{}'));
    query.set('labels', JSON.stringify({ ...requestedLabels, [PROJECT_LABEL]: this.#options.project }));
    // It would replace the base image.
    query.delete('pull');
    const isBuildKit = query.get('version') === '2';
    if (!isBuildKit && OWN_NETWORK.includes(query.get('networkmode'))) query.set('networkmode', this.#options.network);
  }

  /** Pulls or imports an image whose name is new or the project's own. */
  async #createImage(path: string, query: URLSearchParams): Promise<Checked | OwnResponse> {
    const [from, tag] = [query.get('fromImage') ?? '', query.get('tag') ?? ''];
    if (from === '') {
      const repository = query.get('repo') ?? '';
      if (repository !== '') await this.images.requireClaim(withTag(repository, tag));
      query.append('changes', `LABEL ${PROJECT_LABEL}=${this.#options.project}`);
      return { path };
    }
    query.delete('fromSrc');
    const { name, ...parts } = partsOf(withTag(from, tag));
    const before = await this.images.find(name);
    if (before.image && !this.images.isMade(before))
      return {
        status: 200,
        text: `${JSON.stringify({ status: `Status: The image of this machine is used: ${name}` })}\n`,
      };
    // Without a tag, the engine would pull all of them.
    query.set('fromImage', parts.repository);
    query.set('tag', parts.tag);
    const onSent = (ended: Promise<void>) =>
      this.images.note(name, ended, ({ RepoDigests }) =>
        (RepoDigests ?? []).some((digest) => digest.startsWith(`${parts.repository}@`)),
      );
    return { path, onSent };
  }

  /** Loads images whose names are new or the project's own. */
  #loadImages(path: string): Checked {
    const claimed = new Set<string>();
    const copy = (source: Readable, target: Writable) =>
      copyArchive(source, target, async (name) => {
        // Two files of the archive can have it; its end is awaited from then on.
        if (claimed.has(name)) return;
        await this.images.requireClaim(name);
        claimed.add(name);
        this.images.note(name, ended, () => true);
      });
    let end = () => {};
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    return { path, copy, onSent: (whenSent) => void whenSent.then(end) };
  }

  #containerOfRun(request: z.infer<typeof newContainer>): object {
    const { network, world } = this.#options;
    const { NetworkMode } = request.HostConfig ?? {};
    const mode = OWN_NETWORK.includes(NetworkMode) ? network : NetworkMode;
    if (mode !== network && mode !== 'none') throw new Refusal(403, "containers of jobs cannot have 'NetworkMode'");
    const endpoints = Object.entries(request.NetworkingConfig?.EndpointsConfig ?? {});
    const isForeign = ([name]: [string, unknown]) =>
      name !== mode && name !== NetworkMode && !OWN_NETWORK.includes(name);
    if (endpoints.some(isForeign)) throw new Refusal(403, "containers of jobs cannot have 'EndpointsConfig'");
    const aliases = endpoints.flatMap(([, endpoint]) => endpoint?.Aliases ?? []);
    const { NetworkingConfig: _networks, ...options } = request;
    return {
      ...options,
      Labels: { ...request.Labels, ...marksOf(world) },
      HostConfig: { ...request.HostConfig, NetworkMode: mode },
      ...(aliases.length > 0 && { NetworkingConfig: { EndpointsConfig: { [String(mode)]: { Aliases: aliases } } } }),
    };
  }
}

/** Reads the query: each member once, except those that name several images or changes. */
function queryOf(url: URL, call: string, { query: forms = {} }: EngineRequest): URLSearchParams {
  const query = new URLSearchParams();
  for (const [name, value] of url.searchParams) {
    if (value === '') continue;
    const isAllowed = Object.hasOwn(forms, name) && forms[name]?.test(value);
    if (!isAllowed) throw new Refusal(403, `jobs cannot use '${call}' of the container engine with '${name}=${value}'`);
    if (SEVERAL.has(name)) query.append(name, value);
    else query.set(name, value);
  }
  return query;
}

const SEVERAL = new Set(['changes', 'extrahosts', 'names', 't']);

/** The name of an image with a tag or digest that was sent apart. */
function withTag(name: string, tag: string): string {
  if (tag === '') return name;
  return tag.includes(':') ? `${name}@${tag}` : `${name}:${tag}`;
}
