import { subscribe } from 'node:diagnostics_channel';
import { request as httpRequest, type Server } from 'node:http';
import { type Duplex, duplexPair } from 'node:stream';
import { buffer } from 'node:stream/consumers';

/**
 * Requests to servers of this process without TCP and `fetch`, which take longer than most answers. They are real requests otherwise:
 * node:http writes and parses them on both ends. The first request that a server gets comes by TCP, and makes it known here.
 */

/** Servers of this process that have had a request, by their port. */
const servers = new Map<number, Server>();

const portOf = (server: Server): number | undefined => {
  const address = server.address();
  return typeof address === 'object' ? address?.port : undefined;
};

subscribe('http.server.request.start', (message) => {
  // As: that is what node:http publishes on this channel.
  const { server } = message as { server: Server };
  const port = portOf(server);
  if (port !== undefined) servers.set(port, server);
});

/** The server of this process at the address, unless there is none or it has had no request yet. */
function serverAt({ protocol, hostname, port }: URL): Server | undefined {
  if (protocol !== 'http:' || (hostname !== '127.0.0.1' && hostname !== 'localhost')) return undefined;
  const server = servers.get(Number(port));
  return server && portOf(server) === Number(port) ? server : undefined;
}

/** A connection to the server: the client's end. */
function connectionTo(server: Server): Duplex {
  const [clientEnd, serverEnd] = duplexPair();
  const socketMembers = { remoteAddress: '127.0.0.1', localPort: portOf(server), setTimeout: () => serverEnd };
  server.emit('connection', Object.assign(serverEnd, socketMembers));
  // As with sockets, closing one end closes the other.
  serverEnd.once('close', () => clientEnd.destroy());
  return clientEnd.once('close', () => serverEnd.destroy());
}

export interface Init {
  method: string;
  headers?: Record<string, string>;
  body?: string | URLSearchParams | Uint8Array;
}

/** The members of a `Response` that tests use. */
type Answer = Pick<Response, 'ok' | 'status' | 'headers' | 'text'> & { body: { cancel(): Promise<void> } | null };

/** As `fetch` with `redirect: 'manual'`, and to a server of this process without TCP. */
export async function fetchInProcess(address: string, init: Init): Promise<Answer> {
  const url = new URL(address);
  const server = serverAt(url);
  if (!server) return fetch(address, { ...init, redirect: 'manual' });
  const { method, body } = init;
  const request = httpRequest(url, {
    method,
    headers: withDefaults(init.headers ?? {}, { accept: '*/*', 'user-agent': 'node', ...headersOfBody(method, body) }),
    createConnection: () => connectionTo(server),
  });
  const answered = new Promise<Answer>((resolve, reject) => {
    request.once('error', reject).once('response', (response) => {
      const headers = new Headers();
      const { rawHeaders } = response;
      for (let at = 0; at < rawHeaders.length; at += 2) headers.append(rawHeaders[at] ?? '', rawHeaders[at + 1] ?? '');
      const text = async () => new TextDecoder().decode(await buffer(response));
      const cancel = async () => void response.destroy();
      const { statusCode: status = 0 } = response;
      resolve({ ok: status >= 200 && status < 300, status, headers, text, body: { cancel } });
    });
  });
  request.end(body instanceof URLSearchParams ? body.toString() : body);
  return answered;
}

/** Returns the headers that `fetch` adds for a body. */
function headersOfBody(method: string, body: Init['body']): Record<string, string> {
  if (body === undefined) return method === 'GET' || method === 'HEAD' ? {} : { 'content-length': '0' };
  const sizeBytes = Buffer.byteLength(body instanceof URLSearchParams ? body.toString() : body);
  const types = { 'content-length': String(sizeBytes) };
  if (body instanceof Uint8Array) return types;
  const type = body instanceof URLSearchParams ? 'application/x-www-form-urlencoded' : 'text/plain';
  return { ...types, 'content-type': `${type};charset=UTF-8` };
}

/** The headers, and those of the defaults, in lower case, that are not among them. */
function withDefaults(headers: Record<string, string>, defaults: Record<string, string>): Record<string, string> {
  const names = new Set(Object.keys(headers).map((name) => name.toLowerCase()));
  const missing = Object.entries(defaults).filter(([name]) => !names.has(name));
  return { ...headers, ...Object.fromEntries(missing) };
}
