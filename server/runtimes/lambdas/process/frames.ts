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
const PREFIX_BYTES = 4 + 1 + 4 + 4;
/** A head says what the body is; it never carries the body. */
const HEAD_LIMIT_BYTES = 4 * 1024 * 1024;
/** Up to here one copy is cheaper than a second piece of one write. */
const COPY_LIMIT_BYTES = 2 * 1024;
const SMALL_BYTES = 1024;
const NO_BYTES = Buffer.alloc(0);

// For the same reason taken at start.
const { parse, stringify } = JSON;
const { byteLength } = Buffer;

/** The error for bytes that are not a frame, or one larger than allowed: the other side is broken, or someone else wrote to the channel. */
export class FrameError extends Error {
  override readonly name = 'FrameError';
}

/** Writes one frame. The head must be JSON; a body is bytes, or text in UTF-8. Throws the errors of `JSON.stringify`. */
export function writeFrame(channel: Writable, type: number, head: unknown, body?: Uint8Array | string): void {
  writeFrameOf(channel, type, stringify(head), body);
}

export function writeFrameOf(
  channel: Writable,
  type: number,
  headText: string,
  body: Uint8Array | string = NO_BYTES,
): void {
  const headBytes = byteLength(headText);
  const bodyAt = PREFIX_BYTES + headBytes;
  const bodyBytes = typeof body === 'string' ? byteLength(body) : body.length;
  const isCopied = typeof body === 'string' || bodyBytes <= COPY_LIMIT_BYTES;
  const start = Buffer.allocUnsafe(isCopied ? bodyAt + bodyBytes : bodyAt);
  start.writeUInt32BE(MAGIC, 0);
  start.writeUInt8(type, 4);
  start.writeUInt32BE(headBytes, 5);
  start.writeUInt32BE(bodyBytes, 9);
  start.write(headText, PREFIX_BYTES);
  if (typeof body === 'string') start.write(body, bodyAt);
  else if (isCopied) start.set(body, bodyAt);
  if (isCopied) {
    channel.write(start);
    return;
  }
  channel.cork();
  channel.write(start);
  channel.write(body);
  channel.uncork();
}

/** Assembles frames from the pieces that the channel delivers. Buffers at most one frame of the allowed size. */
export class FrameReader {
  readonly #bodyLimitBytes: number;
  #chunks: Buffer[] = [];
  #at = 0;
  #size = 0;
  #needed = PREFIX_BYTES;

  constructor(bodyLimitBytes: number) {
    this.#bodyLimitBytes = bodyLimitBytes;
  }

  /** The frames that this piece completes. Throws {@link FrameError}; the reader is of no use after that. */
  *push(chunk: Buffer): Generator<Frame> {
    this.#chunks.push(chunk);
    this.#size += chunk.length;
    while (this.#size >= this.#needed) {
      const bytes = this.#joined();
      const from = this.#at;
      const headAt = from + PREFIX_BYTES;
      const bodyAt = headAt + this.#headBytes(bytes, from);
      const end = bodyAt + this.#bodyBytes(bytes, from);
      if (bytes.length < end) {
        this.#needed = end - from;
        continue;
      }
      this.#size -= end - from;
      this.#needed = PREFIX_BYTES;
      this.#at = this.#size === 0 ? 0 : end;
      if (this.#size === 0) this.#chunks = [];
      yield {
        type: bytes.readUInt8(from + 4),
        head: readHead(bytes.toString('utf8', headAt, bodyAt)),
        body: end === bodyAt ? NO_BYTES : ownBody(bytes.subarray(bodyAt, end)),
      };
    }
  }

  #joined(): Buffer {
    const [first = NO_BYTES] = this.#chunks;
    if (this.#chunks.length === 1) return first;
    const bytes = Buffer.concat([first.subarray(this.#at), ...this.#chunks.slice(1)]);
    this.#chunks = [bytes];
    this.#at = 0;
    return bytes;
  }

  #headBytes(bytes: Buffer, from: number): number {
    if (bytes.readUInt32BE(from) !== MAGIC) throw new FrameError('the data does not start with a frame');
    const length = bytes.readUInt32BE(from + 5);
    if (length > HEAD_LIMIT_BYTES) throw new FrameError(`a frame's head of ${length} bytes is too long`);
    return length;
  }

  #bodyBytes(bytes: Buffer, from: number): number {
    const length = bytes.readUInt32BE(from + 9);
    if (length > this.#bodyLimitBytes) throw new FrameError(`a frame's body of ${length} bytes is too long`);
    return length;
  }
}

/** A copy, if a slice would keep a much larger buffer alive: the chunk it arrived in, or Node's pool. */
function ownBody(bytes: Buffer): Buffer {
  const keptBytes = bytes.buffer.byteLength;
  if (keptBytes <= SMALL_BYTES || keptBytes <= 2 * bytes.length) return bytes;
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
