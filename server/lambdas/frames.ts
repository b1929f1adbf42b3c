// Imported, not global: a lambda may replace the globals of its own process.
import { Buffer } from 'node:buffer';
import type { Writable } from 'node:stream';

/** One message between the emulator and a lambda's process: a small JSON head and a body whose bytes are never touched. */
export interface Frame {
  type: number;
  head: unknown;
  body: Buffer;
}

/** Opens every frame, so that anything else on the channel is noticed at once. */
const MAGIC = 0x54524d31;
/** Magic, type, length of the head, length of the body. */
const PREFIX_BYTES = 4 + 1 + 4 + 4;
/** A head says what the body is; it never carries the body. */
const HEAD_LIMIT_BYTES = 4 * 1024 * 1024;
/** Up to here one copy is cheaper than a second write. */
const COPY_LIMIT_BYTES = 16 * 1024;
const NOTHING = Buffer.alloc(0);

// For the same reason taken at start.
const { parse, stringify } = JSON;

/** What arrived is not a frame, or a frame larger than allowed: the other side is broken, or someone else wrote to the channel. */
export class FrameError extends Error {
  override readonly name = 'FrameError';
}

/** Writes one frame. The head has to be JSON; the body goes as it is. Throws what `JSON.stringify` throws. */
export function writeFrame(channel: Writable, type: number, head: unknown, body: Uint8Array = NOTHING): void {
  const headText = stringify(head);
  const headBytes = Buffer.byteLength(headText);
  const copied = body.length <= COPY_LIMIT_BYTES ? body : NOTHING;
  const start = Buffer.allocUnsafe(PREFIX_BYTES + headBytes + copied.length);
  start.writeUInt32BE(MAGIC, 0);
  start.writeUInt8(type, 4);
  start.writeUInt32BE(headBytes, 5);
  start.writeUInt32BE(body.length, 9);
  start.write(headText, PREFIX_BYTES);
  start.set(copied, PREFIX_BYTES + headBytes);
  channel.write(start);
  if (copied !== body) channel.write(body);
}

/** Puts frames together from whatever pieces the channel delivers. Holds at most one frame of the allowed size. */
export class FrameReader {
  readonly #bodyLimitBytes: number;
  #chunks: Buffer[] = [];
  #size = 0;
  /** Bytes without which nothing more can be told. */
  #needed = PREFIX_BYTES;

  constructor(bodyLimitBytes: number) {
    this.#bodyLimitBytes = bodyLimitBytes;
  }

  /** The frames that this piece completes. Throws {@link FrameError}; the reader is of no use after that. */
  *push(chunk: Buffer): Generator<Frame> {
    this.#chunks.push(chunk);
    this.#size += chunk.length;
    while (this.#size >= this.#needed) {
      const [only] = this.#chunks;
      const bytes = only?.length === this.#size ? only : Buffer.concat(this.#chunks);
      const headEnd = PREFIX_BYTES + this.#headBytes(bytes);
      const end = headEnd + this.#bodyBytes(bytes);
      const isComplete = bytes.length >= end;
      const rest = isComplete ? bytes.subarray(end) : bytes;
      this.#chunks = [rest];
      this.#size = rest.length;
      this.#needed = isComplete ? PREFIX_BYTES : end;
      if (isComplete) {
        yield {
          type: bytes.readUInt8(4),
          head: readHead(bytes.toString('utf8', PREFIX_BYTES, headEnd)),
          body: copyOf(bytes.subarray(headEnd, end)),
        };
      }
    }
  }

  #headBytes(bytes: Buffer): number {
    if (bytes.readUInt32BE(0) !== MAGIC) throw new FrameError('what arrived does not begin like a frame');
    const length = bytes.readUInt32BE(5);
    if (length > HEAD_LIMIT_BYTES) throw new FrameError(`a frame's head of ${length} bytes is too long`);
    return length;
  }

  #bodyBytes(bytes: Buffer): number {
    const length = bytes.readUInt32BE(9);
    if (length > this.#bodyLimitBytes) throw new FrameError(`a frame's body of ${length} bytes is too long`);
    return length;
  }
}

/** In memory of its own: a slice, or a place in Node's pool, would keep far more alive for as long as the body is kept. */
function copyOf(bytes: Buffer): Buffer {
  const copy = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(copy);
  return copy;
}

function readHead(text: string): unknown {
  try {
    return parse(text);
  } catch {
    throw new FrameError('the head of a frame is not JSON');
  }
}
