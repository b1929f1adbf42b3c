import {
  createServer,
  type IncomingMessage,
  type RequestOptions,
  // biome-ignore lint/style/noRestrictedImports: passes on what a job sends, for as long as the job runs
  request,
  type Server,
  type ServerResponse,
} from 'node:http';
import { BlockList, isIPv4 } from 'node:net';
import { type Duplex, pipeline, type Readable, type Writable } from 'node:stream';
import { json } from 'node:stream/consumers';
import { listenAt } from '../../api/server/listening.ts';

export interface JobNetwork {
  /** `172.18.0.0/16` */
  subnet: string;
  /** The address of this machine in it. */
  gateway: string;
}

/** The name that the network of an engine in a virtual machine passes on to loopback of this machine. */
export const LOOPBACK_FROM_MACHINE = 'host.docker.internal';

/** The route by which a job in a network of its own reaches the platform. */
export interface PlatformRoute {
  /** The text with addresses that are valid in the network in place of those of the platform. */
  translate(text: string): string;
  close(): void;
}

const LOOPBACK = /^(?:127\.[\d.]+|(?:[\w-]+\.)*localhost|\[::1\])$/;

/**
 * Opens a forwarder for each address of the platform, on the gateway address of the network: it answers only clients in that network,
 * and leads only to those addresses. Rejects if the gateway is not an address of this machine.
 *
 * @param network undefined for one in a virtual machine: then the forwarders are on loopback, as the platform itself
 */
export async function openPlatformRoute(
  network: JobNetwork | undefined,
  urls: readonly string[],
): Promise<PlatformRoute> {
  const { gateway, subnet } = network ?? { gateway: '127.0.0.1', subnet: '127.0.0.0/8' };
  const name = network ? gateway : LOOPBACK_FROM_MACHINE;
  const clients = new BlockList();
  const [first = '', prefix = ''] = subnet.split('/');
  clients.addSubnet(first, Number(prefix));
  const isClient = (address = '') =>
    isIPv4(address) && (address !== gateway || network === undefined) && clients.check(address);
  const servers: Server[] = [];
  const close = () => {
    for (const server of servers) {
      server.close();
      server.closeAllConnections();
    }
  };
  const replacements: { pattern: RegExp; address: string }[] = [];
  const translate = (text: string) =>
    replacements.reduce((changed, { pattern, address }) => changed.replace(pattern, address), text);
  try {
    for (const [port, host] of hostsByPort(urls)) {
      const server = createServer(NO_TIME_LIMITS);
      server.on('connection', (socket) => {
        if (!isClient(socket.remoteAddress)) socket.destroy();
      });
      server.on('request', (req, res) => passOn(req, res, onward(req, { port, host, name }), { translate }));
      server.on('upgrade', (req, socket, head) => passOnUpgrade({ socket, head }, onward(req, { port, host, name })));
      const { port: ownPort } = await listenAt(server, { host: gateway, port: 0 });
      servers.push(server);
      // However a variable writes the loopback address.
      const names = `(?<![\\w.-])(?:127\\.[\\d.]+|(?:[\\w-]+\\.)*localhost|\\[::1\\])`;
      replacements.push({ pattern: new RegExp(`${names}:${port}(?!\\d)`, 'g'), address: `${name}:${ownPort}` });
    }
  } catch (failure) {
    close();
    throw failure;
  }
  return { translate, close };
}

/** Returns the hosts of the addresses on loopback that use HTTP, by port. */
function hostsByPort(urls: readonly string[]): Map<string, string> {
  const found = urls
    .map((url) => new URL(url))
    .filter((url) => url.protocol === 'http:' && LOOPBACK.test(url.hostname));
  return new Map(found.map(({ port, host }) => [port, host]));
}

/** Returns the options of the same request to the platform, under the name by which it knows itself. */
function onward(
  req: IncomingMessage,
  { port, host, name }: { port: string; host: string; name: string },
): RequestOptions {
  const { method = 'GET', url: path = '/' } = req;
  const isOurs = req.headers.host === `${name}:${req.socket.localPort}`;
  const headers = { ...req.headers, ...(isOurs && { host }) };
  // Names below localhost are not known to every resolver.
  const hostname = new URL(`http://${host}`).hostname.replace(/^\[|\]$/g, '').replace(/^.*localhost$/, 'localhost');
  return { hostname, port, method, path, headers, agent: false };
}

const ASK_TIMEOUT_MS = 10_000;
const FOLLOWED = ['location', 'link'];

/**
 * The limits of servers for jobs: none, because uploads take as long as they take, and a client may call again at any
 * time.
 */
export const NO_TIME_LIMITS = { requestTimeout: 0, headersTimeout: 0, keepAliveTimeout: 0 };

interface PassOnOptions {
  translate?(text: string): string;
  /** In place of the body of the request. */
  body?: Buffer | undefined;
  /** Copies the body of the request to the engine, in place of passing it on as it is. */
  copy?: ((source: Readable, target: Writable) => Promise<void>) | undefined;
}

export function passOn(
  req: IncomingMessage,
  res: ServerResponse,
  options: RequestOptions,
  { translate = (text) => text, body, copy }: PassOnOptions,
): void {
  // Not to be closed with its response: that loses the response if the end of the request is still being written.
  const { expect: _expect, ...requestHeaders } = Object(options.headers);
  const headers = { ...requestHeaders, connection: 'keep-alive' };
  const outgoing = request({ ...options, headers }, (answer) => {
    const { connection: _connection, 'keep-alive': _keepAlive, ...responseHeaders } = answer.headers;
    const changed = Object.entries(responseHeaders).map(([name, value]) => [
      name,
      FOLLOWED.includes(name) && typeof value === 'string' ? translate(value) : value,
    ]);
    res.writeHead(answer.statusCode ?? 502, Object.fromEntries(changed));
    // What a command follows, such as a log, comes in pieces with pauses.
    res.flushHeaders();
    pipeline(answer, res, () => undefined);
  });
  outgoing.on('error', (failure) => {
    const { message } = failure;
    // Its sender may read the response only after it.
    req.resume();
    if (res.headersSent) return;
    const { status } = Object(failure);
    const reason = status === undefined ? `the job's request could not be passed on: ${message}` : message;
    // In the form in which a container engine gives its reasons.
    const text = JSON.stringify({ message: reason });
    res.writeHead(status ?? 502, { 'content-type': 'application/json' }).end(text);
  });
  res.once('close', () => outgoing.destroy());
  if (body) outgoing.end(body);
  else if (copy) copy(req, outgoing).catch((failure) => outgoing.destroy(failure));
  else req.pipe(outgoing);
}

interface UpgradeOptions {
  body?: Buffer;
  /** In place of passing on everything in both directions. */
  join?(socket: Duplex, engine: Duplex): void;
}

/** Passes on a request that turns its connection into another protocol; a body before that is part of it. */
export function passOnUpgrade(
  { socket, head }: { socket: Duplex; head: Buffer },
  options: RequestOptions,
  { body, join = joinBoth }: UpgradeOptions = {},
): void {
  const outgoing = request(options);
  socket.on('error', () => outgoing.destroy());
  outgoing.once('error', () => socket.destroy());
  outgoing.once('response', (answer) => {
    // It was refused: the connection ends with the response.
    socket.write(headOf(answer, { connection: 'close' }));
    pipeline(answer, socket, () => undefined);
  });
  outgoing.once('upgrade', (answer, other, rest) => {
    socket.write(headOf(answer, {}));
    if (rest.length > 0) other.unshift(rest);
    if (head.length > 0) socket.unshift(head);
    join(socket, other);
  });
  outgoing.end(body);
}

function joinBoth(socket: Duplex, engine: Duplex): void {
  pipeline(socket, engine, () => undefined);
  pipeline(engine, socket, () => undefined);
}

function headOf({ statusCode, statusMessage, headers }: IncomingMessage, more: Record<string, string>): string {
  const { 'transfer-encoding': _chunked, ...forwardedHeaders } = headers;
  const lines = Object.entries({ ...forwardedHeaders, ...more }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${statusCode} ${statusMessage}\r\n${lines.join('')}\r\n`;
}

/** The JSON of a response; undefined unless it was successful. */
export function askEngine(options: RequestOptions): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const outgoing = request({ ...options, timeout: ASK_TIMEOUT_MS, agent: false }, (answer) => {
      json(answer).then((value) => resolve(answer.statusCode === 200 ? value : undefined), reject);
    });
    outgoing.once('timeout', () => outgoing.destroy(new Error('the container engine does not respond')));
    outgoing.once('error', reject);
    outgoing.end();
  });
}
