import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { ClientHttp2Stream, Http2ServerResponse } from 'node:http2';
import type { RequestOptions } from 'node:https';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { fillAnswer, needsRequestBody } from '../../../model/answer-template.ts';
import { FORM_HEADER, isCrmForm, pathnameOf, type RequestHead } from '../../../model/crm-form.ts';
import { EXECUTION_HEADER } from '../../../model/execution-header.ts';
import type { OutboundAnswer, OutboundTarget, OutboundVerdict } from '../../../model/outbound-rule.ts';
import type { OutboundRoutes } from '../process/protocol.ts';
import type { CallNumbers } from './call-numbers.ts';
import type { ConnectOptions } from './call-target.ts';
import { messageOf } from './error-text.ts';
import { type OpenStream, reportElsewhere } from './http2-calls.ts';
import { failureOf, type OutboundCalls } from './outbound-calls.ts';
import { platformNow } from './platform-date.ts';
import { NEEDS_HTTP, NO_TUNNEL, ruleError, unsuitableRuleError } from './rule-error.ts';
import { sniff } from './stream-hooks.ts';
import { pairsIn } from './trace-headers.ts';

// Captured at start, because a lambda may replace the globals of its own process.
const { setImmediate, setTimeout, Promise: NativePromise } = globalThis;
const makeUuid = randomUUID;

export interface MockedConnection {
  /** With `isCrm` only for the lambda's own CRM, to whose mock all requests go. */
  target: OutboundTarget;
  /** The reason why the connection was led here. */
  verdict: OutboundVerdict;
  /** The verdict is for the one request of this connection, which its rules have counted. */
  isSettled?: true;
  isTls: boolean;
  /** The options of the original connection, for a request that goes to its host after all. */
  options: ConnectOptions;
  /** Decides on a request, without some rules. */
  decide(head: RequestHead, skippedIds?: ReadonlySet<string>): OutboundVerdict;
  /** Sends a request by HTTP/2 to its host by the session that the lambda has made for it. */
  openStream?: OpenStream;
}

/** A connection that the lambda has made to the server below, with its socket at the lambda. */
interface GuestConnection extends MockedConnection {
  socket: Socket;
}

/** Headers of one connection, which say nothing about the next, and those that only this process writes. */
const HOP_BY_HOP = new Set([
  ...['connection', 'keep-alive', 'transfer-encoding', 'proxy-connection', 'upgrade', 'te'],
  ...[EXECUTION_HEADER, FORM_HEADER],
]);
/** The error code of HTTP/2 for a stream that fails for no more specific reason. */
const INTERNAL_ERROR = 2;
/** The flag of headers that nothing follows. */
const END_STREAM = 1;
const MAX_INSERTED_BODY_BYTES = 1024 * 1024;
const HTTP2_START = 'PRI * HTTP/2';
const REDIRECT_PAGE = `<!DOCTYPE html><title>Mock CRM</title>
<p>The mock CRM redirected here after it received the form. The page itself was not requested: nothing left this machine.</p>
`;

const AFTER_REDIRECT: OutboundVerdict = { action: 'catch', delayMs: 0, rules: [] };

interface Destination {
  name: string;
  isMock?: true;
  isTls: boolean;
  options: RequestOptions;
  headers: IncomingHttpHeaders;
}

/** A server in the lambda's process for calls that must not reach their host: repeats them at the mock CRM, or answers itself. Without TLS. */
export class MockResponses {
  readonly #calls: OutboundCalls;
  /** The expected connections by their local port; all others are closed. */
  readonly #guests = new Map<number, GuestConnection>();
  readonly #unwatched: <T>(make: () => T) => T;
  readonly #callNumbers: CallNumbers | undefined;
  #routes: Pick<OutboundRoutes, 'mock' | 'crm' | 'namedForms'> = { namedForms: [] };
  /** Addresses to which the mock CRM has redirected the current invocation, and which it has not requested since. */
  readonly #redirects = new Set<string>();
  #redirectedExecutionId: string | undefined;
  #proxy: Server | undefined;
  #port: number | undefined;

  /** @param unwatched makes a connection to which no rule applies */
  constructor(calls: OutboundCalls, unwatched: <T>(make: () => T) => T, callNumbers?: CallNumbers) {
    this.#callNumbers = callNumbers;
    this.#calls = calls;
    this.#unwatched = unwatched;
  }

  start(routes: OutboundRoutes): void {
    this.#routes = routes;
    this.#proxy ??= this.#listen();
  }

  whenReady(then: (port: number) => void): void {
    if (this.#port === undefined) this.#proxy?.once('listening', () => this.whenReady(then));
    else then(this.#port);
  }

  get hasRedirects(): boolean {
    return this.#redirects.size > 0;
  }

  /** Tells whether a request follows a redirect of the mock CRM in the same invocation (D-200). */
  isAfterRedirect({ url }: RequestHead, executionId = this.#calls.executionId()): boolean {
    if (!this.hasRedirects || this.#redirectedExecutionId !== executionId) return false;
    return this.#redirects.has(withoutHash(url));
  }

  #rememberRedirect(location: string | undefined, url: string, executionId: string | undefined): void {
    if (location === undefined || !URL.canParse(location, url)) return;
    if (this.#redirectedExecutionId !== executionId) this.#redirects.clear();
    this.#redirectedExecutionId = executionId;
    this.#redirects.add(withoutHash(new URL(location, url).href));
  }

  /** That connection is about to be made to it, maybe in place of one that the lambda writes to. */
  expect(socket: Socket, connection: MockedConnection, inPlaceOf = socket): void {
    socket.prependOnceListener('connect', () => {
      const port = socket.localPort ?? 0;
      this.#guests.set(port, { ...connection, socket: inPlaceOf });
      socket.once('close', () => this.#guests.delete(port));
    });
  }

  #listen(): Server {
    const http = require('node:http') as typeof import('node:http');
    const server = http.createServer({ keepAliveTimeout: 0, requestTimeout: 0 }, (request, response) =>
      this.#take(request, response),
    );
    server.headersTimeout = 0;
    server.on('clientError', (error: NodeJS.ErrnoException, socket) => this.#rejectMalformed(error, socket as Socket));
    server.on('connect', (_request, socket) => this.#failAs(NO_TUNNEL, socket as Socket));
    let http2: Server | undefined;
    const proxy = createServer((socket) => {
      // The waiting client keeps the process alive by its own end of the connection.
      socket.unref().on('error', () => {});
      socket.once('readable', () => {
        const first: Buffer | null = socket.read();
        if (!first || !this.#guests.has(socket.remotePort ?? 0)) return socket.destroy();
        socket.unshift(first);
        const isHttp2 = first.toString('latin1', 0, HTTP2_START.length) === HTTP2_START;
        if (isHttp2) http2 ??= this.#http2();
        (isHttp2 ? http2 : server)?.emit('connection', socket);
      });
    });
    proxy.listen(0, '127.0.0.1', () => {
      // As: a listening TCP server has such an address.
      this.#port = (proxy.address() as AddressInfo).port;
      proxy.unref();
    });
    return proxy;
  }

  /** Responds to a request that cannot be parsed. Bytes after one that can, because its Content-Length is too small, have no response. */
  #rejectMalformed({ code, message }: NodeJS.ErrnoException, socket: Socket): void {
    // As: Node's own note of the response that is under way.
    const { _httpMessage: response } = socket as Socket & { _httpMessage?: ServerResponse | null };
    if (response) {
      response.shouldKeepAlive = false;
      return;
    }
    // Each further part of the request is malformed, too.
    if (!socket.writable) return;
    const { verdict, socket: caller } = this.#guests.get(socket.remotePort ?? 0) ?? {};
    const call = caller && this.#calls.carriedBy(caller);
    // As: Node's own note of the request that is under way. Its method may be unknown to the parser.
    const isHttp = call ?? (caller as { _httpMessage?: object | null } | undefined)?._httpMessage;
    if (code === 'HPE_INVALID_METHOD' && verdict?.rules.length && !isHttp) return void this.#failAs(NEEDS_HTTP, socket);
    if (call && verdict?.action === 'catch') this.#calls.report(call, { caughtBy: 'crm' });
    const reason = code === 'HPE_INVALID_URL' ? 'its path must begin with a slash' : message;
    const text = `the request is not valid in HTTP: ${reason}\n`;
    const head = `Content-Type: text/plain; charset=utf-8\r\nContent-Length: ${text.length}`;
    const status = code === 'HPE_HEADER_OVERFLOW' ? '431 Request Header Fields Too Large' : '400 Bad Request';
    socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\n${head}\r\n\r\n${text}`);
  }

  /** Lets the connection fail that is for another protocol than its rule. */
  #failAs(advice: string, { remotePort = 0 }: Socket): void {
    const { socket, verdict, target } = this.#guests.get(remotePort) ?? {};
    if (socket && verdict && target) socket.destroy(unsuitableRuleError(verdict, target, advice));
  }

  #http2(): Server {
    const http2 = require('node:http2') as typeof import('node:http2');
    // As: requests and responses of HTTP/2 are converted to those of HTTP/1.
    const server = http2.createServer((request, response) => this.#take(request as never, response as never));
    return server.on('sessionError', () => {}) as unknown as Server;
  }

  #take(request: IncomingMessage, response: ServerResponse): void {
    const connection = this.#guests.get(request.socket.remotePort ?? 0);
    if (!connection) return void request.socket.destroy();
    response.on('error', () => {});
    request.on('error', () => {});
    void this.#answer(connection, request, response);
  }

  async #answer(connection: GuestConnection, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { socket, target } = connection;
    const isHttp2 = request.httpVersionMajor === 2;
    const { method = 'GET', headers } = request;
    const url = urlOf(connection, request);
    const head = { method, url, contentType: headers['content-type'] };
    const isForm = isCrmForm(head, this.#routes.namedForms);
    // As: of a header that is sent once Node makes one text.
    const trace = headers.traceparent as string | undefined;
    const call = this.#calls.answering(isHttp2 ? undefined : socket, head, trace);
    const isAfterRedirect = this.isAfterRedirect(head, this.#calls.executionIdOf(call));
    const { isSettled } = connection;
    const matched = isSettled ? connection.verdict : connection.decide(head);
    const settle = () => this.settle((skippedIds) => connection.decide(head, skippedIds), matched);
    const verdict = isAfterRedirect ? AFTER_REDIRECT : isSettled ? matched : await settle();
    const { action, rules, delayMs } = verdict;
    const caughtBy = action === 'catch' && {
      caughtBy: 'crm' as const,
      ...(isAfterRedirect && { afterRedirect: true as const }),
    };
    if (isAfterRedirect) this.#redirects.delete(withoutHash(url));
    const hasOtherRules = verdict !== matched && !isAfterRedirect;
    const leftMachine = action === 'pass' && target.isOutside === true;
    if (action !== 'pass' || hasOtherRules || leftMachine) {
      this.#calls.report(call, { ...caughtBy, leftMachine, ...((rules.length > 0 || hasOtherRules) && { rules }) });
    }
    // With HTTP/1, the lambda's end of the connection reports it.
    if (isHttp2) response.on('close', () => this.#calls.report(call, { ended: true }));
    // The next request to that host needs a new connection.
    else if (isSettled || (!target.isCrm && (action === 'catch' || action === 'pass')))
      response.shouldKeepAlive = false;
    if (delayMs > 0) await new NativePromise((resolve) => setTimeout(resolve, delayMs));
    if (isHttp2) this.#reportBodies(call, request, response);
    const error = ruleError(verdict, target);
    if (error) return this.#fail(call, socket, error);
    if (isAfterRedirect) {
      request.resume();
      response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(REDIRECT_PAGE);
      this.#calls.report(call, { status: 200 });
      return;
    }
    if (action === 'pass' && isHttp2) return this.#forwardHttp2(call, connection, request, response);
    if (action === 'catch' || action === 'pass') {
      const to =
        action === 'pass' ? hostOf(connection) : this.#mockFor(request, isForm, this.#calls.executionIdOf(call));
      if (to) this.#forward(call, connection, request, response, to);
      else this.#fail(call, socket, new Error('there is no mock CRM to catch the call'));
      return;
    }
    if (verdict.answer) return this.#answerAs(verdict, call, socket, request, response);
    const status = verdict.status ?? 500;
    const text = `Answered by an outbound rule: ${rules.at(-1)?.text ?? 'the configuration'}\n`;
    request.resume();
    response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(text);
    this.#calls.report(call, { status });
  }

  /** Counts the call, and skips rules that do not apply to it because of its number. */
  async settle(
    decideWithout: (skippedIds: ReadonlySet<string>) => OutboundVerdict,
    matched: OutboundVerdict,
  ): Promise<OutboundVerdict> {
    const skippedIds = new Set<string>();
    let verdict = matched;
    for (;;) {
      const { after = 0, times = Number.POSITIVE_INFINITY } = verdict.answer ?? {};
      const rule = verdict.rules.at(-1);
      if (!rule || !this.#callNumbers || (after === 0 && times === Number.POSITIVE_INFINITY)) return verdict;
      const number = await this.#callNumbers.next(rule.id);
      if (number > after && number <= after + times) return verdict;
      skippedIds.add(rule.id);
      verdict = decideWithout(skippedIds);
    }
  }

  async #answerAs(
    { status = 200, answer: ruleAnswer = {} }: OutboundVerdict,
    call: object,
    socket: Socket,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    try {
      const { method = '', url: target = '', headers } = request;
      const body = needsRequestBody(ruleAnswer) ? await bodyOf(request) : '';
      const answer = fillAnswer(ruleAnswer, { nowMs: platformNow(), makeUuid, method, target, headers, body });
      const content = await contentOf(answer);
      const names = Object.keys(answer.headers ?? {}).map((name) => name.toLowerCase());
      const type = names.includes('content-type') ? {} : { 'content-type': typeOf(answer) };
      request.resume();
      response.writeHead(status, { ...type, ...answer.headers }).end(content);
      this.#calls.report(call, { status });
    } catch (thrown) {
      this.#fail(call, socket, new Error(`the outbound rule cannot answer: ${messageOf(thrown)}`));
    }
  }

  #mockFor({ url = '/' }: IncomingMessage, isForm: boolean, executionId: string | undefined): Destination | undefined {
    const { mock, crm } = this.#routes;
    if (!mock) return undefined;
    const { host, port, caPem: ca } = mock;
    const headers = {
      ...(executionId !== undefined && { [EXECUTION_HEADER]: executionId }),
      ...((isForm || crm?.formPaths.includes(pathnameOf(url))) && { [FORM_HEADER]: 'named' }),
    };
    // The certificate names the mock, not the CRM; that it is this very one is proof enough.
    const tls = ca && { ca, checkServerIdentity: () => undefined };
    return {
      name: `the mock CRM at ${host}:${port}`,
      isTls: ca !== undefined,
      isMock: true,
      options: { host, port, ...tls },
      headers,
    };
  }

  #forward(
    call: object,
    connection: GuestConnection,
    request: IncomingMessage,
    response: ServerResponse,
    to: Destination,
  ): void {
    const { socket, target } = connection;
    const url = urlOf(connection, request);
    const { method = 'GET', url: path = '/', httpVersionMajor } = request;
    const host = String(request.headers[':authority'] ?? target.hostname);
    const headers = { host, ...plainHeaders(request.headers), ...to.headers };
    const answer = (incoming: IncomingMessage): void => {
      const { statusCode: status = 502, statusMessage = '' } = incoming;
      this.#calls.report(call, { status });
      if (to.isMock && status >= 300 && status < 400) {
        this.#rememberRedirect(incoming.headers.location, url, this.#calls.executionIdOf(call));
      }
      const answerHeaders = plainHeaders(incoming.headers);
      if (httpVersionMajor === 2) response.writeHead(status, answerHeaders);
      else response.writeHead(status, statusMessage, answerHeaders);
      incoming.on('error', () => socket.destroy()).pipe(response);
    };
    // Not at the top: a lambda that makes no call needs neither.
    const http = (to.isTls ? require('node:https') : require('node:http')) as typeof import('node:http');
    const options: RequestOptions = { ...to.options, method, path, headers, agent: false };
    const outgoing = this.#unwatched(() => http.request(options, answer));
    this.#calls.hide(outgoing);
    outgoing.on('error', (error) => {
      if (!response.headersSent) this.#fail(call, socket, new Error(`${to.name} did not respond: ${messageOf(error)}`));
    });
    response.on('close', () => outgoing.destroy());
    request.pipe(outgoing);
  }

  /** Repeats a request at its host by HTTP/2, because some hosts, such as those of gRPC, know no other version. */
  #forwardHttp2(call: object, connection: GuestConnection, request: IncomingMessage, response: ServerResponse): void {
    // As: the response is one of HTTP/2.
    const { stream } = response as unknown as Http2ServerResponse;
    if (stream.destroyed) return;
    const fail = (error: unknown): void =>
      this.#fail(call, connection.socket, new Error(`${hostOf(connection).name} did not respond: ${messageOf(error)}`));
    let upstream: ClientHttp2Stream;
    try {
      connection.openStream ??= this.#connectHttp2(connection, fail);
      upstream = connection.openStream(request.headers, { endStream: stream.endAfterHeaders });
    } catch (error) {
      // The session of the lambda has ended while the call waited for its verdict.
      return void fail(error);
    }
    let hasTrailers = true;
    upstream.on('response', (headers, flags) => {
      const status = Number(headers[':status']);
      this.#calls.report(call, { status });
      if (stream.destroyed || stream.closed) return void upstream.resume();
      // Clients of gRPC read a status in headers only if nothing follows them.
      if (flags & END_STREAM) stream.respond({ ':status': status, ...plainHeaders(headers) }, { endStream: true });
      else response.writeHead(status, plainHeaders(headers));
      // Node lets nothing follow the headers of a response that cannot have a body, such as one with status 204.
      hasTrailers = !stream.writableEnded;
      if (hasTrailers) upstream.pipe(response, { end: false });
      else upstream.resume();
    });
    // As: Node's types leave out that these are the headers of a message.
    upstream.on('trailers', (trailers) => response.addTrailers(trailers as OutgoingHttpHeaders));
    upstream.on('end', () => {
      if (!upstream.rstCode && stream.headersSent) response.end();
    });
    upstream.on('error', (error) => this.#calls.report(call, failureOf(error)));
    upstream.on('close', () => {
      // A stream that is canceled, or whose connection closes, has no error.
      if (upstream.rstCode || !stream.writableEnded) return stream.close(upstream.rstCode || INTERNAL_ERROR);
      if (stream.readableEnded) return;
      // The host needs no more of the request. A reset must not overtake the trailers.
      const stopUpload = () => setImmediate(() => stream.close());
      if (hasTrailers && !stream.sentTrailers) stream.once('wantTrailers', stopUpload);
      else stopUpload();
    });
    response.on('close', () => upstream.close(stream.rstCode));
    request.pipe(upstream);
  }

  #connectHttp2(connection: GuestConnection, fail: (error: Error) => void): OpenStream {
    const { isTls, name, options } = hostOf(connection);
    const { connect } = (isTls ? require('node:tls') : require('node:net')) as typeof import('node:net');
    const http2 = require('node:http2') as typeof import('node:http2');
    // As: a request takes the options of its connection.
    const socket = this.#unwatched(() => connect({ ...options, ...(isTls && { ALPNProtocols: ['h2'] }) } as never));
    reportElsewhere(socket);
    const session = http2.connect(`http://${name}`, { createConnection: () => socket });
    session.on('error', (error) => {
      if (session.connecting) fail(error);
    });
    const openStream: OpenStream = (...request) => session.request(...request);
    for (const end of ['goaway', 'close'])
      session.once(end, () => {
        if (connection.openStream === openStream) Reflect.deleteProperty(connection, 'openStream');
      });
    connection.socket.once('close', () => session.close());
    // The waiting client keeps the process alive by its own end of the connection.
    session.unref();
    return openStream;
  }

  #fail(call: object, socket: Socket, error: Error): void {
    this.#calls.report(call, { ...failureOf(error), ended: true });
    socket.destroy(error);
  }

  /** Reports the bodies of a call by HTTP/2, whose stream is not to be read on the lambda's end. */
  #reportBodies(call: object, request: IncomingMessage, response: ServerResponse): void {
    // As: the response is one of HTTP/2.
    const { stream } = response as unknown as Http2ServerResponse;
    request.on('data', (part: Buffer) => this.#calls.takeBody(call, 'request', part, pairsIn(request.headers)));
    sniff(stream, {
      outgoing: (part) => this.#calls.takeBody(call, 'response', part(), pairsIn(response.getHeaders())),
      received: () => {},
    });
  }
}

/** Reads the request's body. Throws if it is too long to be inserted into a response. */
async function bodyOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  let sizeBytes = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    sizeBytes += part.length;
    if (sizeBytes > MAX_INSERTED_BODY_BYTES)
      throw new Error(`it inserts the request's body, which is longer than ${MAX_INSERTED_BODY_BYTES} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts).toString();
}

async function contentOf({ body, file }: OutboundAnswer): Promise<string | Buffer> {
  if (file !== undefined) return (require('node:fs/promises') as typeof import('node:fs/promises')).readFile(file);
  return typeof body === 'string' ? body : body === undefined ? '' : JSON.stringify(body);
}

const TYPES: Readonly<Record<string, string>> = {
  json: 'application/json',
  html: 'text/html; charset=utf-8',
  xml: 'application/xml',
  txt: 'text/plain; charset=utf-8',
};

function typeOf({ body, file }: OutboundAnswer): string {
  if (file !== undefined)
    return TYPES[/\.([a-z]+)$/i.exec(file)?.[1]?.toLowerCase() ?? ''] ?? 'application/octet-stream';
  return TYPES[body === undefined || typeof body === 'string' ? 'txt' : 'json'] ?? '';
}

/** The address in its normal form: clients of HTTP/2 also name the usual port. */
function withoutHash(url: string): string {
  const page = url.replace(/#.*/s, '');
  return URL.canParse(page) ? new URL(page).href : page;
}

function plainHeaders(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const isPlain = (name: string) => !name.startsWith(':') && !HOP_BY_HOP.has(name);
  return Object.fromEntries(Object.entries(headers).filter(([name]) => isPlain(name)));
}

function urlOf({ isTls, target }: MockedConnection, request: IncomingMessage): string {
  const host = request.headers[':authority'] ?? request.headers.host ?? target.hostname;
  return `${isTls ? 'https' : 'http'}://${String(host)}${request.url ?? '/'}`;
}

function hostOf({ target: { hostname, port }, isTls, options: allOptions }: MockedConnection): Destination {
  const { createConnection: _made, socket: _given, ALPNProtocols: _offered, ...otherOptions } = allOptions;
  // Parts of the connection's first request. Each request has its credentials in its headers.
  const { auth: _credentials, onread: _reader, ...options } = otherOptions;
  // As: a request takes the options of its connection.
  const name = hostname.includes(':') ? `[${hostname}]` : hostname;
  return { name: `${name}:${port}`, isTls, options: options as RequestOptions, headers: {} };
}
