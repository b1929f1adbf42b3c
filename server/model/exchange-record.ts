import type { Uuid } from './ids.ts';

/** The listener that a request came to: the management API, or the public endpoints. */
export type ExchangePlane = 'control' | 'gateway';

/** What the gateway does on a request's way (D-154), in this order; a request that is refused gets no further. */
export type ExchangeStep = 'route' | 'auth' | 'limit' | 'body' | 'upstream';

/** So much of a body is kept to be looked at. */
export const MAX_CAPTURED_BYTES = 256 * 1024;

/** A body, or the beginning of one. */
export interface CapturedBody {
  /** At most MAX_CAPTURED_BYTES. */
  bytes: Uint8Array;
  /** Of the whole body. */
  sizeBytes: number;
}

/** One HTTP request and its answer, told to the recorder once both are over. */
export interface ExchangeRecord {
  plane: ExchangePlane;
  /** Arrival, epoch milliseconds. */
  atMs: number;
  /** From arrival until the answer was handed to the system. */
  durationMs: number;
  /** Part of it that a lambda or container took. */
  upstreamMs: number;
  /** When each step was done, milliseconds after arrival. */
  steps: readonly { name: ExchangeStep; afterMs: number }[];
  method: string;
  /** The request target as sent. */
  target: string;
  /** Address of the client. */
  peer: string;
  /** Names and values alternating, as sent. */
  requestHeaders: readonly string[];
  /** Undefined when it was not read. */
  requestBody: CapturedBody | undefined;
  /** Undefined when the client went away before an answer. */
  status: number | undefined;
  /** Names and values alternating; without those that the HTTP server itself adds. */
  responseHeaders: readonly string[];
  responseBody: CapturedBody | undefined;
  /** Was the whole answer sent? */
  isComplete: boolean;
  endpointId: Uuid | undefined;
  executionId: Uuid | undefined;
  /** The trace that it came with, or that began with it. Undefined: that of its invocation, if it led to one. */
  traceId: string | undefined;
  userId: Uuid | undefined;
}

/** What is recorded of a body that is at hand. No copy: whoever keeps it makes one. */
export function captured(body: string | Uint8Array): CapturedBody {
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body;
  const isLarge = bytes.length > MAX_CAPTURED_BYTES;
  return { bytes: isLarge ? bytes.subarray(0, MAX_CAPTURED_BYTES) : bytes, sizeBytes: bytes.length };
}

/** Keeps the beginning of a body that streams by. */
export class BodyCapture {
  readonly #chunks: Uint8Array[] = [];
  #keptBytes = 0;
  #sizeBytes = 0;

  /** One more part; what is beyond the limit is counted only. */
  add(chunk: Uint8Array): void {
    this.#sizeBytes += chunk.length;
    const room = MAX_CAPTURED_BYTES - this.#keptBytes;
    if (room <= 0) return;
    const kept = Uint8Array.from(chunk.subarray(0, room));
    this.#chunks.push(kept);
    this.#keptBytes += kept.length;
  }

  /** What has come by so far; undefined: nothing. */
  get body(): CapturedBody | undefined {
    if (this.#sizeBytes === 0) return undefined;
    const [first] = this.#chunks;
    if (first && this.#chunks.length === 1) return { bytes: first, sizeBytes: this.#sizeBytes };
    const bytes = new Uint8Array(this.#keptBytes);
    let at = 0;
    for (const chunk of this.#chunks) {
      bytes.set(chunk, at);
      at += chunk.length;
    }
    return { bytes, sizeBytes: this.#sizeBytes };
  }
}
