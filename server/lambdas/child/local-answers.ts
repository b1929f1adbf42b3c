import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { EXECUTION_HEADER } from '../../model/execution-header.ts';
import type { OutboundTarget, OutboundVerdict } from '../../model/outbound-rule.ts';
import type { StandInAddress } from '../protocol.ts';
import { messageOf } from './error-text.ts';
import type { OutboundCalls } from './outbound-calls.ts';

// Taken at start: a lambda may replace the globals of its own process.
const { setTimeout, Promise: NativePromise } = globalThis;

/** A connection that was led here. */
interface Guest {
  target: OutboundTarget;
  verdict: OutboundVerdict;
  /** Does the lambda take it for one with TLS? */
  isTls: boolean;
}

/** Headers of one connection; they say nothing about the next. */
const HOP_BY_HOP = new Set(['connection', 'keep-alive', 'transfer-encoding', 'proxy-connection', 'upgrade', 'te']);
/** How every connection of HTTP/2 begins. */
const HTTP2_START = 'PRI * HTTP/2';

/**
 * A server in the lambda's own process, for it alone, that answers the calls which are not to reach their host: it repeats them at
 * the CRM stand-in, or makes up an answer. It speaks HTTP/1 and HTTP/2, both without TLS.
 */
export class LocalAnswers {
  readonly #calls: OutboundCalls;
  readonly #executionId: () => string | undefined;
  /** By the port that a connection comes from; all others are sent away. */
  readonly #guests = new Map<number, Guest & { socket: Socket }>();
  readonly #unwatched: <T>(make: () => T) => T;
  #standIn: StandInAddress | undefined;
  #door: Server | undefined;
  #port: number | undefined;

  /**
   * @param executionId the invocation that runs, if one does
   * @param unwatched makes a connection that no rule is asked about
   */
  constructor(calls: OutboundCalls, executionId: () => string | undefined, unwatched: <T>(make: () => T) => T) {
    this.#calls = calls;
    this.#executionId = executionId;
    this.#unwatched = unwatched;
  }

  /** Where it listens on 127.0.0.1, once it has started. */
  get port(): number | undefined {
    return this.#port;
  }

  /** Begins to listen, if it does not yet. */
  start(standIn: StandInAddress | undefined): void {
    this.#standIn = standIn;
    this.#door ??= this.#listen();
  }

  /** Tells the port as soon as it is known. */
  whenReady(then: (port: number) => void): void {
    this.#door?.once('listening', () => then(this.#port ?? 0));
  }

  /** That connection is about to be made to it. */
  expect(socket: Socket, guest: Guest): void {
    socket.prependOnceListener('connect', () => {
      const port = socket.localPort ?? 0;
      this.#guests.set(port, { ...guest, socket });
      socket.once('close', () => this.#guests.delete(port));
    });
  }

  #listen(): Server {
    const http = require('node:http') as typeof import('node:http');
    const server = http.createServer({ keepAliveTimeout: 0, requestTimeout: 0 }, (request, response) =>
      this.#take(request, response),
    );
    server.headersTimeout = 0;
    let http2: Server | undefined;
    const door = createServer((socket) => {
      // Whoever waits for an answer keeps the process alive by his end of it.
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
    door.listen(0, '127.0.0.1', () => {
      // As: a listening TCP server has such an address.
      this.#port = (door.address() as AddressInfo).port;
      door.unref();
    });
    return door;
  }

  #http2(): Server {
    const http2 = require('node:http2') as typeof import('node:http2');
    // As: requests and answers of HTTP/2 are made to look like those of HTTP/1.
    const server = http2.createServer((request, response) => this.#take(request as never, response as never));
    return server.on('sessionError', () => {}) as unknown as Server;
  }

  #take(request: IncomingMessage, response: ServerResponse): void {
    const guest = this.#guests.get(request.socket.remotePort ?? 0);
    if (!guest) return void request.socket.destroy();
    response.on('error', () => {});
    request.on('error', () => {});
    void this.#answer(guest, request, response);
  }

  async #answer(guest: Guest & { socket: Socket }, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { verdict, socket } = guest;
    const { action, rules, delayMs } = verdict;
    const isHttp2 = request.httpVersionMajor === 2;
    const { method = 'GET', headers } = request;
    // As: of a header that is sent once Node makes one text.
    const trace = headers.traceparent as string | undefined;
    const call = this.#calls.answering(isHttp2 ? undefined : socket, method, urlOf(guest, request), trace);
    if (action === 'catch') this.#calls.tell(call, { caughtBy: 'crm' });
    // Of HTTP/1 the lambda's end of the connection tells.
    if (isHttp2) response.on('close', () => this.#calls.tell(call, { ended: true }));
    if (delayMs > 0) await new NativePromise((resolve) => setTimeout(resolve, delayMs));
    if (isHttp2) this.#readAlong(call, 'request', request);
    if (action === 'catch') return this.#repeat(call, guest, request, response);
    const status = verdict.status ?? 500;
    const text = `Answered by an outbound rule: ${rules.at(-1)?.text ?? 'the configuration'}\n`;
    request.resume();
    response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(text);
    this.#calls.tell(call, { status });
  }

  /** Repeats a request at the stand-in, body and answer streamed. */
  #repeat(
    call: object,
    { socket, target }: Guest & { socket: Socket },
    request: IncomingMessage,
    response: ServerResponse,
  ): void {
    const standIn = this.#standIn;
    const fail = (reason: string): void => {
      this.#calls.tell(call, { error: reason, ended: true });
      socket.destroy(new Error(reason));
    };
    if (!standIn) {
      fail('there is no CRM stand-in to catch the call');
      return;
    }
    const { host, port, caPem } = standIn;
    const id = this.#executionId();
    const headers = {
      host: request.headers[':authority'] ?? target.hostname,
      ...plainHeaders(request.headers),
      ...(id !== undefined && { [EXECUTION_HEADER]: id }),
    };
    const options = {
      host,
      port,
      method: request.method ?? 'GET',
      path: request.url ?? '/',
      headers,
      agent: false as const,
    };
    const answer = (incoming: IncomingMessage): void => {
      const { statusCode: status = 502, statusMessage = '' } = incoming;
      this.#calls.tell(call, { status });
      if (request.httpVersionMajor === 2) this.#readAlong(call, 'response', incoming);
      const answerHeaders = plainHeaders(incoming.headers);
      if (request.httpVersionMajor === 2) response.writeHead(status, answerHeaders);
      else response.writeHead(status, statusMessage, answerHeaders);
      incoming.on('error', () => socket.destroy()).pipe(response);
    };
    const outgoing = this.#send(options, caPem, answer);
    outgoing.on('error', (error) => {
      if (!response.headersSent) fail(`the CRM stand-in at ${host}:${port} did not answer: ${messageOf(error)}`);
    });
    response.on('close', () => outgoing.destroy());
    request.pipe(outgoing);
  }

  /** A stream of HTTP/2 is not to be read on the lambda's end. */
  #readAlong(call: object, of: 'request' | 'response', message: IncomingMessage): void {
    const headers = Object.entries(message.headers).flatMap(([name, value]) => [name, String(value)]);
    message.on('data', (part: Buffer) => this.#calls.takeBody(call, of, part, headers));
  }

  #send(options: object, caPem: string | undefined, answer: (incoming: IncomingMessage) => void) {
    const { http, https } = own();
    const outgoing = this.#unwatched(() =>
      caPem
        ? // The certificate names the stand-in, not the CRM; that it is this very one is proof enough.
          https.request({ ...options, ca: caPem, checkServerIdentity: () => undefined }, answer)
        : http.request(options, answer),
    );
    this.#calls.hide(outgoing);
    return outgoing;
  }
}

/** Not at the top: a lambda that calls nobody needs neither. */
function own() {
  return {
    http: require('node:http') as typeof import('node:http'),
    https: require('node:https') as typeof import('node:https'),
  };
}

function plainHeaders(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const isPlain = (name: string) => !name.startsWith(':') && name !== EXECUTION_HEADER && !HOP_BY_HOP.has(name);
  return Object.fromEntries(Object.entries(headers).filter(([name]) => isPlain(name)));
}

function urlOf({ isTls, target }: Guest, request: IncomingMessage): string {
  const host = request.headers[':authority'] ?? request.headers.host ?? target.hostname;
  return `${isTls ? 'https' : 'http'}://${String(host)}${request.url ?? '/'}`;
}
