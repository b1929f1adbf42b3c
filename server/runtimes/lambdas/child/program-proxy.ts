import { AsyncLocalStorage } from 'node:async_hooks';
import { once } from 'node:events';
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import {
  createServer,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  request as requestHttp,
  ServerResponse,
} from 'node:http';
import { request as requestHttps } from 'node:https';
import { type AddressInfo, connect, isIP, type Socket } from 'node:net';
import { dirname, join } from 'node:path';
import { type Duplex, pipeline } from 'node:stream';
import { connect as connectTls, rootCertificates, TLSSocket } from 'node:tls';
import { hostnameIn } from '../../../model/crm-form.ts';
import { monotonicMs } from '../../../system/clock.ts';
import { type CertificateAuthority, createAuthority } from './certificate-authority.ts';
import type { OutboundCalls } from './outbound-calls.ts';
import { NO_EXECUTION, type ProxyOrder } from './program-variables.ts';
import { SERVER_FIRST_PORTS, SERVER_FIRST_TLS_PORTS } from './rule-error.ts';

/** The first byte of a TLS handshake. */
const TLS_HANDSHAKE = 0x16;
/** A client that sends nothing for this time waits for the server. */
const SILENCE_MS = 500;
/** At other ports the client usually speaks first, but it may take its time: on a busy machine, reading certificates can last seconds. */
const LONG_SILENCE_MS = 5_000;
/** Here it always does. */
const HTTPS_PORT = 443;
/** They belong to one connection, not to the request. */
const CONNECTION_HEADERS = new Set(
  'connection,expect,keep-alive,proxy-authenticate,proxy-authorization,proxy-connection,te,trailer,upgrade'.split(','),
);

/** A connection that a program has to a host through the proxy. */
interface Tunnel {
  /** The start of the URLs of its requests. */
  origin: string;
  executionId: string;
  /** The number of its record, which the records of its requests replace. */
  record: number;
}

/** The parts of its thread that the proxy uses. */
interface ProxyThread {
  calls: Pick<OutboundCalls, 'open' | 'update'>;
  /** True for the error of a blocked call. */
  isRefusal(error: unknown): boolean;
}

/**
 * Starts the proxy for programs that a lambda starts (D-217), in a thread: it works while the lambda waits for a program. It makes their calls by Node's
 * clients, so the rules, mocks and records of this thread apply. Sets the port in `order.port`, or -1 if it cannot start.
 * @returns the execution id of the invocation that has started the program whose call is being made
 */
export function startProgramProxy(
  { port, password, caFile }: ProxyOrder,
  { calls, isRefusal }: ProxyThread,
): () => string | undefined {
  const executions = new AsyncLocalStorage<string>();
  const tunnels = new WeakMap<object, Tunnel>();
  const announce = (value: number): void => {
    Atomics.store(port, 0, value);
    Atomics.notify(port, 0);
  };

  const executionIn = ({ headers }: IncomingMessage): string | undefined => {
    const [scheme, encoded = ''] = (headers['proxy-authorization'] ?? '').split(' ');
    if (scheme?.toLowerCase() !== 'basic') return undefined;
    const [user, ...rest] = Buffer.from(encoded, 'base64').toString().split(':');
    return rest.join(':') === password ? user : undefined;
  };

  const serveInTunnel = (request: IncomingMessage, response: ServerResponse, protocol?: string): void => {
    const tunnel = tunnels.get(request.socket);
    if (!tunnel) return void response.destroy();
    const { executionId, origin, record } = tunnel;
    calls.update(record, { carriesHttp: true, ended: true });
    executions.run(executionId, () => forward(request, response, origin + request.url, isRefusal, protocol));
  };
  const inTunnel = createServer((request, response) => serveInTunnel(request, response));
  inTunnel.on('upgrade', (request: IncomingMessage, stream: Duplex, head: Buffer) => {
    // As: the connections of a server of node:http are sockets.
    const socket = stream as Socket;
    // Node does not read the body of such a request.
    if (hasBody(request) && request.headers['content-length'] !== '0') return void socket.end(BODY_WITH_UPGRADE);
    if (head.length > 0) socket.unshift(head);
    const response = new ServerResponse(request);
    response.assignSocket(socket);
    // The server does this for its own responses only.
    socket.on('drain', () => response.emit('drain'));
    response.shouldKeepAlive = false;
    response.once('finish', () => socket.end());
    serveInTunnel(request, response, request.headers.upgrade);
  });

  const proxy = createServer((request, response) => {
    const executionId = executionIn(request);
    if (executionId === undefined) return void response.writeHead(407, UNKNOWN_CLIENT).end(UNKNOWN_TEXT);
    executions.run(executionId, () => forward(request, response, String(request.url), isRefusal));
  });

  proxy.on('connect', (request: IncomingMessage, stream: Duplex, head: Buffer) => {
    // As: the connections of a server of node:http are sockets.
    const socket = stream as Socket;
    socket.on('error', () => socket.destroy());
    const executionId = executionIn(request);
    if (executionId === undefined) return void socket.end(UNKNOWN_ANSWER);
    const address = `http://${request.url}`;
    if (!URL.canParse(address)) return void socket.end('HTTP/1.1 400 Bad Request\r\n\r\n');
    const target = new URL(address);
    const port = Number(target.port || 80);
    if (head.length > 0) socket.unshift(head);
    socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
    const host = hostnameIn(target);
    const at = `${target.hostname}:${port}`;
    const open = async (): Promise<void> => {
      if ((await firstByte(socket, silenceLimit(port, SERVER_FIRST_PORTS))) !== TLS_HANDSHAKE)
        return relay(socket, connect({ host, port }));
      const record = calls.open({ atMs: monotonicMs(), method: 'TLS', url: `tls://${at}` });
      await acceptTls(socket, host, port, { origin: `https://${at}`, executionId, record });
    };
    executions.run(executionId, open).catch(() => socket.destroy());
  });

  let authority: CertificateAuthority;
  const acceptTls = async (socket: Socket, host: string, port: number, tunnel: Tunnel): Promise<void> => {
    const connection = { host, port, transport: 'tls' as const, sentBytes: 0, receivedBytes: 0 };
    const secureContext = await authority.contextFor(host);
    const secure = new TLSSocket(socket, { isServer: true, secureContext, ALPNProtocols: ['http/1.1'] });
    tunnels.set(secure, tunnel);
    let isTrusted = false;
    secure.on('error', ({ code, message }: NodeJS.ErrnoException) => {
      const isRejected = !isTrusted || code?.includes('ALERT');
      const error = isRejected ? `${message.trim()} (${REJECTED_CERTIFICATE})` : message;
      calls.update(tunnel.record, { connection, error, ended: true });
      socket.destroy();
    });
    secure.on('close', () => calls.update(tunnel.record, { connection, ended: true }));
    await once(secure, 'secure');
    isTrusted = true;
    if ((await firstByte(secure, silenceLimit(port, SERVER_FIRST_TLS_PORTS))) !== undefined)
      return void inTunnel.emit('connection', secure);
    if (!secure.readable) {
      // A program that rejects the certificate just ends the connection.
      calls.update(tunnel.record, { connection, error: `no request was sent (${REJECTED_CERTIFICATE})` });
      return void secure.destroy();
    }
    // The record of the connection to the host replaces this one.
    calls.update(tunnel.record, { carriesHttp: true, ended: true });
    relay(secure, connectTls({ host, port, servername: isIP(host) ? '' : host }));
  };

  // A client that leaves early must not end the thread.
  for (const server of [proxy, inTunnel]) server.on('clientError', (_error, socket) => socket.destroy());
  const listen = async (): Promise<void> => {
    authority = await createAuthority();
    removeStale(caFile);
    writeFileSync(caFile, [...rootCertificates, authority.certPem].join('\n'), { mode: 0o600 });
    // As: a listening TCP server has such an address.
    proxy.listen(0, '127.0.0.1', () => announce((proxy.address() as AddressInfo).port));
  };
  listen().catch(() => announce(-1));
  return () => {
    const executionId = executions.getStore();
    return executionId === NO_EXECUTION ? undefined : executionId;
  };
}

/** Removes the files that earlier processes of the lambda have left, because a process that is killed leaves its own. */
function removeStale(caFile: string): void {
  const folder = dirname(caFile);
  for (const name of readdirSync(folder)) {
    const pid = /^terrarium-proxy-(\d+)-/.exec(name)?.[1];
    if (pid !== undefined && !isRunning(Number(pid))) rmSync(join(folder, name), { force: true });
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

const REJECTED_CERTIFICATE =
  "the program seems not to accept the certificate of Terrarium's proxy. To leave the calls of the lambda's programs alone, set its variable HTTPS_PROXY to an empty text";
const UNKNOWN_TEXT =
  'This proxy is for programs that a lambda starts: they get its address and password in HTTP_PROXY.\n';
const UNKNOWN_CLIENT = { 'proxy-authenticate': 'Basic realm="Terrarium"', 'content-type': 'text/plain' };
const BODY_WITH_UPGRADE =
  'HTTP/1.1 501 Not Implemented\r\nConnection: close\r\nContent-Type: text/plain\r\n\r\nThe proxy does not pass on a request that has a body and changes the protocol.\n';
const UNKNOWN_ANSWER = `HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm="Terrarium"\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`;

/**
 * Sends a request to its host, and the host's response to the program.
 *
 * @param protocol the one to which the program asks to change the connection, such as `websocket`
 */
function forward(
  request: IncomingMessage,
  response: ServerResponse,
  address: string,
  isRefusal: (error: unknown) => boolean,
  protocol?: string,
): void {
  const refuse = (status: number, text: string): void => {
    if (response.headersSent) response.destroy();
    else response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(`${text}\n`);
  };
  if (!URL.canParse(address) || !/^https?:/.test(address)) {
    refuse(400, `the proxy accepts http and https URLs only, not '${address}'`);
    return;
  }
  const url = new URL(address);
  const isTls = url.protocol === 'https:';
  const outgoing = (isTls ? requestHttps : requestHttp)({
    host: hostnameIn(url),
    port: Number(url.port || (isTls ? 443 : 80)),
    path: url.pathname + url.search,
    method: request.method,
    headers: { ...forwardedHeaders(request.rawHeaders), ...(protocol && { connection: 'Upgrade', upgrade: protocol }) },
    agent: false,
  });
  outgoing.on('upgrade', (incoming, upstream, head) => {
    const { socket } = response;
    if (!socket) return upstream.destroy();
    response.detachSocket(socket);
    const lines = incoming.rawHeaders.map((text, index) => (index % 2 === 0 ? `${text}: ` : `${text}\r\n`));
    socket.write(`HTTP/1.1 101 ${incoming.statusMessage}\r\n${lines.join('')}\r\n`, 'latin1');
    if (head.length > 0) upstream.unshift(head);
    relay(socket, upstream);
  });
  outgoing.on('response', (incoming) => {
    response.writeHead(incoming.statusCode ?? 502, incoming.statusMessage, headerLines(incoming.rawHeaders));
    pipeline(incoming, response, () => {});
  });
  outgoing.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'ECONNRESET') response.destroy();
    else refuse(isRefusal(error) ? 403 : 502, error.message);
  });
  response.on('close', () => outgoing.destroy());
  // At once, so that the record of the request starts while the invocation is known that it belongs to.
  if (hasBody(request)) request.pipe(outgoing).flushHeaders();
  else outgoing.end();
}

function hasBody({ headers }: IncomingMessage): boolean {
  return 'content-length' in headers || 'transfer-encoding' in headers;
}

/** The lines of a message without those of its connection; names and values alternating. */
function headerLines(rawHeaders: readonly string[]): string[] {
  return rawHeaders.filter(
    (_line, index) => !CONNECTION_HEADERS.has(rawHeaders[index - (index % 2)]?.toLowerCase() ?? ''),
  );
}

/** As an object: node:http reports the headers of a request only then. */
function forwardedHeaders(rawHeaders: readonly string[]): OutgoingHttpHeaders {
  const lines = headerLines(rawHeaders);
  const headers: Record<string, string[]> = {};
  for (let at = 0; at < lines.length; at += 2) {
    const [name = '', value = ''] = lines.slice(at, at + 2);
    headers[name] = [...(headers[name] ?? []), value];
  }
  return Object.fromEntries(
    Object.entries(headers).map(([name, values]) => [name, values.length === 1 ? values[0] : values]),
  );
}

/** Connects the client without looking at what is sent, which may be no HTTP. */
function relay(socket: Socket, upstream: Socket): void {
  upstream.on('error', () => socket.destroy());
  socket.on('close', () => upstream.destroy());
  socket.pipe(upstream).pipe(socket);
}

/** The time after which a client that sends nothing waits for the server; undefined if none does. */
function silenceLimit(port: number, serverFirstPorts: ReadonlySet<number>): number | undefined {
  if (port === HTTPS_PORT) return undefined;
  return serverFirstPorts.has(port) ? SILENCE_MS : LONG_SILENCE_MS;
}

/** The first byte that a client sends, which stays unread; undefined if it sends nothing for the time. */
function firstByte(socket: Socket, silenceMs: number | undefined): Promise<number | undefined> {
  return new Promise((resolve) => {
    const conclude = (): void => {
      clearTimeout(timer);
      socket.off('readable', conclude);
      // As: a socket without an encoding reads bytes.
      const part = socket.read() as Buffer | null;
      if (part) socket.unshift(part);
      resolve(part?.[0]);
    };
    const timer = silenceMs === undefined ? undefined : setTimeout(conclude, silenceMs);
    socket.on('readable', conclude);
  });
}
