import type { Uuid } from './record.ts';

export type ExchangePlane = 'control' | 'gateway';

/** The steps of the gateway for a request (D-154), in order; a refused request does not reach later steps. */
export type ExchangeStep = 'route' | 'auth' | 'limit' | 'body' | 'upstream';

export const MAX_CAPTURED_BYTES = 256 * 1024;

export interface CapturedBody {
  bytes: Uint8Array;
  sizeBytes: number;
}

/** Position of a stored body: position, stored bytes, size, and 1 if it is complete although these differ. */
export type BodyPlace = readonly [at: number, keptBytes: number, sizeBytes: number, isWhole?: 1];

/** The bodies that a request shares with its invocation, and their positions. The record that is stored first fills it in. */
export interface SharedBodies {
  request?: StoredBody;
  response?: StoredBody;
}

interface StoredBody {
  bytes: Uint8Array;
  position: BodyPlace;
}

/** One HTTP request with its response, passed to the recorder when both are over. */
export interface ExchangeRecord {
  plane: ExchangePlane;
  atMs: number;
  /** From arrival until the response was written to the socket. */
  durationMs: number;
  upstreamMs: number;
  /** End of each step, milliseconds after arrival. */
  steps: readonly { name: ExchangeStep; afterMs: number }[];
  method: string;
  target: string;
  peer: string;
  requestHeaders: readonly string[];
  requestBody: CapturedBody | undefined;
  /** Undefined if the client disconnected before the response. */
  status: number | undefined;
  /** Header names and values alternating, without those that the HTTP server adds. */
  responseHeaders: readonly string[];
  responseBody: CapturedBody | undefined;
  isComplete: boolean;
  endpointId: Uuid | undefined;
  executionId: Uuid | undefined;
  bodies?: SharedBodies | undefined;
  /** The trace of the request or a new one. Undefined: the trace of its invocation, if any. */
  traceId: string | undefined;
  userId: Uuid | undefined;
  apiKey?: string | undefined;
  /** Number of the rejected request that it repeats. */
  replayOf?: number | undefined;
}

/** The recorded part of a body in memory. Not a copy: the recorder copies it. */
export function captured(body: string | Uint8Array): CapturedBody {
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body;
  const isLarge = bytes.length > MAX_CAPTURED_BYTES;
  return { bytes: isLarge ? bytes.subarray(0, MAX_CAPTURED_BYTES) : bytes, sizeBytes: bytes.length };
}

export class BodyCapture {
  readonly #chunks: Uint8Array[] = [];
  #keptBytes = 0;
  #sizeBytes = 0;

  add(chunk: Uint8Array): void {
    this.#sizeBytes += chunk.length;
    const remainingBytes = MAX_CAPTURED_BYTES - this.#keptBytes;
    if (remainingBytes <= 0) return;
    const keptChunk = Uint8Array.from(chunk.subarray(0, remainingBytes));
    this.#chunks.push(keptChunk);
    this.#keptBytes += keptChunk.length;
  }

  get body(): CapturedBody | undefined {
    if (this.#sizeBytes === 0) return undefined;
    const [first] = this.#chunks;
    const bytes = first && this.#chunks.length === 1 ? first : Buffer.concat(this.#chunks);
    return { bytes, sizeBytes: this.#sizeBytes };
  }
}
