import { type Agent, type ClientRequest, request as clientRequest, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { PlatformError } from '../model/errors.ts';
import type { ContainerRequest } from './container-request.ts';
import { type ForwardedBody, pairsOf } from './forwarded-body.ts';
import { answerLines, requestLines } from './forwarded-headers.ts';
import type { ServingInstance } from './round-robin.ts';

const MAX_HEADERS_BYTES = 64 * 1024;

export type Silence =
  /** The connection could not be established: nothing was sent. */
  | 'unreachable'
  /** A reused connection was closed, most likely before anything was sent. */
  | 'stale'
  /** The instance closed the connection or sent invalid HTTP. */
  | 'broken'
  | 'late';

/** An instance sent no response, and nothing was sent to the client. */
export class Unanswered extends Error {
  readonly silence: Silence;

  constructor(silence: Silence, cause: Error) {
    super(cause.message, { cause });
    this.silence = silence;
  }
}

export interface SwitchedConnection {
  answer: IncomingMessage;
  socket: Socket;
  head: Buffer;
}

export interface CallOptions {
  instance: ServingInstance;
  call: ContainerRequest;
  body: ForwardedBody;
  /** False: a new connection for this request only. */
  agent: Agent | false;
  /** Timeout for the instance to connect, to read more of the body, and to start the response. */
  answerTimeoutMs: number;
  /** Called with the connection of an instance that accepts a WebSocket; if not set, an upgrade is an error. */
  onSwitch?(switched: SwitchedConnection): void;
}

/** Resolves when sent, disconnected or switched. Rejects with Unanswered or PlatformError while nothing is sent; cuts what is cut. */
export function callInstance(options: CallOptions): Promise<void> {
  return new Promise((resolve, reject) => new InstanceCall(options, resolve, reject));
}

class InstanceCall {
  readonly #options: CallOptions;
  readonly #resolve: () => void;
  readonly #reject: (reason: Error) => void;
  readonly #upstream: ClientRequest;
  #timer: NodeJS.Timeout | undefined;
  #stopBody = () => {};
  #isConnected = false;
  #hasAnswer = false;
  #isOver = false;

  constructor(options: CallOptions, resolve: () => void, reject: (reason: Error) => void) {
    this.#options = options;
    this.#resolve = resolve;
    this.#reject = reject;
    const { call, instance, agent } = options;
    call.response.on('close', this.#onClientDone);
    this.#upstream = clientRequest({
      host: instance.host,
      port: instance.port,
      method: call.request.method ?? 'GET',
      path: call.target,
      headers: requestLines(call),
      agent,
      maxHeaderSize: MAX_HEADERS_BYTES,
    });
    this.#wait();
    this.#follow(this.#upstream);
  }

  #follow(upstream: ClientRequest): void {
    // Nothing of the body is read before there is a connection, so that another instance can still be tried.
    upstream.on('socket', (socket) => {
      if (socket.connecting) socket.once('connect', () => this.#sendBody());
      else this.#sendBody();
    });
    upstream.on('response', (answer) => this.#passAnswer(answer));
    upstream.on('error', (fault) => this.#fail(fault));
    // After an unrequested protocol switch node:http closes without an error.
    upstream.on('close', () => this.#fail(new Error('the connection was closed')));
    const { onSwitch } = this.#options;
    if (!onSwitch) return;
    upstream.on('upgrade', (answer, duplex, head) => {
      const socket = duplex as Socket; // TCP, no other Duplex
      this.#end();
      try {
        onSwitch({ answer, socket, head });
        this.#resolve();
      } catch (cause) {
        socket.destroy();
        this.#reject(this.#unusable(cause));
      }
    });
  }

  #sendBody(): void {
    if (this.#isOver) return;
    this.#isConnected = true;
    this.#stopBody = this.#options.body.sendTo(this.#upstream, {
      onInstancesTurn: () => this.#wait(),
      onClientsTurn: () => clearTimeout(this.#timer),
      onTooLarge: (error) => {
        this.#options.body.discard();
        if (this.#hasAnswer) this.#abort();
        else this.#fail(error);
      },
    });
  }

  #wait(): void {
    clearTimeout(this.#timer);
    if (this.#hasAnswer) return;
    const { answerTimeoutMs } = this.#options;
    this.#timer = setTimeout(() => {
      this.#fail(new Unanswered('late', new Error(`no response within ${answerTimeoutMs / 1000} s`)));
    }, answerTimeoutMs);
  }

  #passAnswer(answer: IncomingMessage): void {
    const { call } = this.#options;
    const { response } = call;
    clearTimeout(this.#timer);
    const head = answerLines(answer, call);
    try {
      response.writeHead(answer.statusCode ?? 0, answer.statusMessage ?? '', head);
    } catch (cause) {
      this.#fail(this.#unusable(cause));
      return;
    }
    this.#hasAnswer = true;
    call.recording.responseHeaders = head;
    answer.on('error', () => this.#abort());
    let hasBegun = false;
    answer.on('data', (chunk: Buffer) => {
      hasBegun = true;
      call.recording.response.add(chunk);
      if (!response.write(chunk)) answer.pause();
    });
    response.on('drain', () => answer.resume());
    answer.on('end', () => {
      if (answer.rawTrailers.length > 0) response.addTrailers(pairsOf(answer.rawTrailers));
      response.end();
    });
    // Sends the headers in one packet with the body if the body has already arrived; otherwise the client does not wait for it.
    setImmediate(() => hasBegun || this.#isOver || response.flushHeaders());
  }

  #unusable(cause: unknown): PlatformError {
    const reason = cause instanceof Error ? cause.message : 'its headers are not valid';
    const message = `${named(this.#options.call)} returned a response that cannot be forwarded: ${reason}`;
    return new PlatformError('container_failed', message, { cause });
  }

  /** An incomplete response must not look complete. */
  #abort(): void {
    if (!this.#isOver) this.#options.call.response.destroy();
  }

  readonly #onClientDone = () => {
    const { call, body } = this.#options;
    this.#end();
    // A connection that completed both messages can be reused.
    if (!call.response.writableFinished || !body.isRead) this.#upstream.destroy();
    if (!body.isRead) body.discard();
    this.#resolve();
  };

  #fail(fault: Error): void {
    if (this.#isOver || this.#hasAnswer) return;
    this.#end();
    this.#upstream.destroy();
    this.#reject(fault instanceof Unanswered || fault instanceof PlatformError ? fault : this.#unanswered(fault));
  }

  #unanswered(fault: NodeJS.ErrnoException): Unanswered {
    if (!this.#isConnected) return new Unanswered('unreachable', fault);
    const isClosed = fault.code === 'ECONNRESET' || fault.code === 'EPIPE';
    return new Unanswered(isClosed && this.#upstream.reusedSocket ? 'stale' : 'broken', fault);
  }

  #end(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#stopBody();
    this.#options.call.response.off('close', this.#onClientDone);
  }
}

export function named({ containerName }: ContainerRequest): string {
  return `container '${containerName}'`;
}
