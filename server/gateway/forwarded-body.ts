import type { ClientRequest } from 'node:http';
import { tooLarge } from '../api/server/whole-body.ts';
import type { PlatformError } from '../model/errors.ts';
import type { ContainerRequest } from './container-request.ts';
import { continueBody, hasBody } from './request.ts';

/** Maximum size of an idempotent request's body that is kept in order to repeat it. */
const KEPT_BYTES = 64 * 1024;

/** Idempotent methods (RFC 9110, 9.2.2). */
const IDEMPOTENT: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE', 'TRACE']);

export interface BodyProgress {
  /** Waiting for the instance: to read more of the body, or to respond. */
  onInstancesTurn(): void;
  onClientsTurn(): void;
  onTooLarge(error: PlatformError): void;
}

/** The body of a request to an instance, which can be sent to a second one if the request is idempotent. */
export class ForwardedBody {
  readonly #call: ContainerRequest;
  readonly #isIdempotent: boolean;
  /** The part that was read so far; undefined once it cannot be sent again. */
  #replayBytes: Buffer[] | undefined = [];
  #sizeBytes = 0;
  #isRead: boolean;

  constructor(call: ContainerRequest) {
    const { request } = call;
    this.#call = call;
    this.#isIdempotent = IDEMPOTENT.has(request.method ?? '');
    this.#isRead = call.body !== undefined || !hasBody(request);
    if (call.body) {
      this.#replayBytes = [Buffer.from(call.body)];
      call.recording.request.add(call.body);
    }
  }

  get isRepeatable(): boolean {
    if (this.#isIdempotent) return this.#replayBytes !== undefined;
    return this.#sizeBytes === 0 && !this.#isRead;
  }

  get isRead(): boolean {
    return this.#isRead;
  }

  /** Reads and discards the rest, so that the client can finish sending and read its response. */
  discard(): void {
    this.#replayBytes = undefined;
    this.#call.request.resume();
  }

  /** Sends the body until it ends or the returned function is called. Applies back-pressure to the client. */
  sendTo(upstream: ClientRequest, progress: BodyProgress): () => void {
    const { request, response, maxBodyBytes } = this.#call;
    for (const chunk of this.#replayBytes ?? []) upstream.write(chunk);
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
    continueBody(request, response);
    const send = (chunk: Buffer) => {
      this.#sizeBytes += chunk.length;
      if (this.#sizeBytes > maxBodyBytes) {
        stop();
        progress.onTooLarge(tooLarge(maxBodyBytes));
        return;
      }
      this.#call.recording.request.add(chunk);
      this.#keep(chunk);
      if (upstream.write(chunk)) return;
      request.pause();
      progress.onInstancesTurn();
    };
    const resume = () => {
      progress.onClientsTurn();
      request.resume();
    };
    const stop = () => {
      clearImmediate(head);
      request.pause();
      request.off('data', send).off('end', end);
      upstream.off('drain', resume);
    };
    upstream.on('drain', resume);
    request.on('data', send).on('end', end);
    request.resume();
    // Sends the headers in one packet with the body if the body has already arrived; otherwise the instance does not wait for it.
    const head = setImmediate(() => this.#sizeBytes > 0 || upstream.flushHeaders());
    return stop;
  }

  #keep(chunk: Buffer): void {
    if (this.#isIdempotent && this.#sizeBytes <= KEPT_BYTES) this.#replayBytes?.push(chunk);
    else this.#replayBytes = undefined;
  }
}

export function pairsOf(lines: readonly string[]): [string, string][] {
  const pairs: [string, string][] = [];
  for (let at = 0; at < lines.length; at += 2) pairs.push([lines[at] ?? '', lines[at + 1] ?? '']);
  return pairs;
}
