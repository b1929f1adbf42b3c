import type { ClientRequest } from 'node:http';
import type { PlatformError } from '../model/errors.ts';
import type { ContainerRequest } from './container-request.ts';
import { hasBody, tooLarge } from './request-body.ts';

/** How long an instance may think about `Expect: 100-continue` before the body is sent unasked (RFC 9110, 10.1.1). */
const CONTINUE_WAIT_MS = 1_000;

/** So much of an idempotent request's body is kept, to be sent a second time. */
const KEPT_BYTES = 64 * 1024;

/** Methods that may be repeated without harm (RFC 9110, 9.2.2). */
const IDEMPOTENT: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE', 'TRACE']);

/** Told of how the sending goes. */
export interface BodyProgress {
  /** It is the instance's turn: to take more of the body, or to answer. */
  onInstancesTurn(): void;
  /** It is the client's turn again: to send more of the body. */
  onClientsTurn(): void;
  /** The body is over the limit; no more of it is sent. */
  onTooLarge(error: PlatformError): void;
}

/** The body of a request on its way to an instance; to a second one, where that does no harm. */
export class ForwardedBody {
  readonly #call: ContainerRequest;
  readonly #isIdempotent: boolean;
  /** What was read so far; undefined once it can't be sent again. */
  #kept: Buffer[] | undefined = [];
  #sizeBytes = 0;
  #isRead: boolean;
  #isWanted: boolean;

  constructor(call: ContainerRequest) {
    const { request } = call;
    this.#call = call;
    this.#isIdempotent = IDEMPOTENT.has(request.method ?? '');
    this.#isRead = !hasBody(request);
    this.#isWanted = request.headers.expect === undefined || request.httpVersion !== '1.1';
  }

  /** May the request be sent again after an instance was sent it, and gave no sign of life? */
  get isRepeatable(): boolean {
    if (this.#isIdempotent) return this.#kept !== undefined;
    return this.#sizeBytes === 0 && !this.#isRead;
  }

  /** Was the whole body read from the client? */
  get isRead(): boolean {
    return this.#isRead;
  }

  /** Sends the body until it ends or the returned function is called. Back-pressure reaches the client. */
  sendTo(upstream: ClientRequest, progress: BodyProgress): () => void {
    if (this.#isWanted) return this.#pump(upstream, progress);
    progress.onInstancesTurn();
    let stop = () => {};
    const begin = () => {
      cancel();
      this.#isWanted = true;
      if (!this.#call.response.headersSent) this.#call.response.writeContinue();
      stop = this.#pump(upstream, progress);
    };
    const timer = setTimeout(begin, CONTINUE_WAIT_MS);
    const cancel = () => {
      clearTimeout(timer);
      upstream.off('continue', begin);
    };
    upstream.once('continue', begin);
    return () => {
      cancel();
      stop();
    };
  }

  /** Reads the rest and throws it away, so that the client can finish sending and read its answer. */
  discard(): void {
    this.#kept = undefined;
    this.#call.request.resume();
  }

  #pump(upstream: ClientRequest, progress: BodyProgress): () => void {
    const { request, maxBodyBytes } = this.#call;
    for (const chunk of this.#kept ?? []) upstream.write(chunk);
    const end = () => {
      this.#isRead = true;
      if (request.rawTrailers.length > 0) upstream.addTrailers(pairsOf(request.rawTrailers));
      upstream.end();
      progress.onInstancesTurn();
    };
    if (this.#isRead) {
      end();
      return () => {};
    }
    progress.onClientsTurn();
    const send = (chunk: Buffer) => {
      this.#sizeBytes += chunk.length;
      if (this.#sizeBytes > maxBodyBytes) {
        stop();
        progress.onTooLarge(tooLarge(maxBodyBytes));
        return;
      }
      this.#call.witness.sent(chunk);
      this.#keep(chunk);
      if (upstream.write(chunk)) return;
      request.pause();
      progress.onInstancesTurn();
    };
    const goOn = () => {
      progress.onClientsTurn();
      request.resume();
    };
    const stop = () => {
      clearImmediate(head);
      request.pause();
      request.off('data', send).off('end', end);
      upstream.off('drain', goOn);
    };
    upstream.on('drain', goOn);
    request.on('data', send).on('end', end);
    request.resume();
    // In one packet with the body if that is here already; otherwise the instance need not wait for it.
    const head = setImmediate(() => this.#sizeBytes > 0 || upstream.flushHeaders());
    return stop;
  }

  #keep(chunk: Buffer): void {
    if (this.#isIdempotent && this.#sizeBytes <= KEPT_BYTES) this.#kept?.push(chunk);
    else this.#kept = undefined;
  }
}

/** Raw lines, names and values alternating, as pairs. */
export function pairsOf(lines: readonly string[]): [string, string][] {
  const pairs: [string, string][] = [];
  for (let at = 0; at < lines.length; at += 2) pairs.push([lines[at] ?? '', lines[at + 1] ?? '']);
  return pairs;
}
