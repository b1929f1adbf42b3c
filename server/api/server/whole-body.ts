import type { IncomingMessage } from 'node:http';
import { PlatformError } from '../../model/errors.ts';
import { countBody } from './bytes-in-flight.ts';

/** The memory of an incomplete body grows by this step. */
const STEP_BYTES = 256 * 1024;

/** The client disconnected before its request was complete, so no response is possible. */
export class ClientDisconnected extends Error {}

export function tooLarge(maxBytes: number): PlatformError {
  return new PlatformError('body_too_large', `the request body is larger than ${maxBytes} bytes`);
}

/** Throws 413 when the request announces a body over the limit. */
export function refuseLargeBody(request: IncomingMessage, maxBytes: number): void {
  if (Number(request.headers['content-length']) > maxBytes) throw tooLarge(maxBytes);
}

/** Throws 413 above the limit, and ClientDisconnected. */
export async function readWholeBody(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  refuseLargeBody(request, maxBytes);
  countBody(request);
  const body = new IncompleteBody(maxBytes);
  try {
    await new Promise<void>((resolve, reject) => {
      let sizeBytes = 0;
      request.on('data', (chunk: Buffer) => {
        sizeBytes += chunk.length;
        if (sizeBytes > maxBytes) reject(tooLarge(maxBytes));
        else body.append(chunk);
      });
      request.on('end', resolve);
      const onAbort = () => request.complete || reject(new ClientDisconnected());
      request.on('error', onAbort);
      request.on('close', onAbort);
    });
    return body.copy();
  } finally {
    body.release();
  }
}

/** From its second chunk on, a body is in one memory that the system gets back at once: small pieces would stay with the process. */
class IncompleteBody {
  readonly #maxBytes: number;
  #first: Buffer | undefined;
  #memory: ArrayBuffer | undefined;
  #sizeBytes = 0;
  #isReleased = false;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  append(chunk: Buffer): void {
    if (this.#isReleased) return;
    if (this.#sizeBytes === 0) this.#first = chunk;
    else this.#put(chunk, this.#sizeBytes);
    this.#sizeBytes += chunk.length;
  }

  #put(chunk: Buffer, at: number): void {
    if (!this.#memory) {
      this.#memory = new ArrayBuffer(0, { maxByteLength: this.#maxBytes });
      if (this.#first) this.#put(this.#first, 0);
      this.#first = undefined;
    }
    const neededBytes = at + chunk.length;
    if (neededBytes > this.#memory.byteLength)
      this.#memory.resize(Math.min(Math.ceil(neededBytes / STEP_BYTES) * STEP_BYTES, this.#maxBytes));
    new Uint8Array(this.#memory).set(chunk, at);
  }

  /** A copy, because the memory is used by nothing else. */
  copy(): Buffer {
    if (!this.#memory) return this.#first ?? Buffer.alloc(0);
    return Buffer.from(new Uint8Array(this.#memory, 0, this.#sizeBytes));
  }

  release(): void {
    this.#isReleased = true;
    this.#first = undefined;
    this.#memory?.resize(0);
    this.#memory = undefined;
  }
}
