import { crc32 } from 'node:zlib';

/** One record as bytes: a head of fixed size, JSON, and a tail of bytes as they were. */
const CRC_FROM = 8;
const HEAD = { length: 0, crc: 4, seq: 8, atMs: 16, key: 24, group: 32, referred: 40, mark: 48, tail: 50 } as const;
export const FRAME_HEAD_BYTES = 52;

/** The head of a record, its texts as numbers (`numberOf`). */
export interface FrameHead {
  seq: number;
  atMs: number;
  key: number;
  group: number;
  mark: number;
  /** Where the last bytes end that it refers to in another log. */
  referred: number;
}

/** Makes frames, all in the same memory. */
export class FrameWriter {
  #scratch = Buffer.allocUnsafeSlow(16 * 1024);

  /** Good until the next call. @param tail at most 65535 bytes */
  write(head: FrameHead, json: string, tail: Uint8Array): Buffer {
    const most = FRAME_HEAD_BYTES + json.length * 3 + tail.length;
    if (most > this.#scratch.length) this.#scratch = Buffer.allocUnsafeSlow(2 * most);
    const frame = this.#scratch;
    const tailAt = FRAME_HEAD_BYTES + frame.write(json, FRAME_HEAD_BYTES);
    frame.set(tail, tailAt);
    const length = tailAt + tail.length;
    frame.writeUInt32LE(length, HEAD.length);
    frame.writeDoubleLE(head.seq, HEAD.seq);
    frame.writeDoubleLE(head.atMs, HEAD.atMs);
    frame.writeDoubleLE(head.key, HEAD.key);
    frame.writeDoubleLE(head.group, HEAD.group);
    frame.writeDoubleLE(head.referred, HEAD.referred);
    frame.writeUInt16LE(head.mark, HEAD.mark);
    frame.writeUInt16LE(tail.length, HEAD.tail);
    const whole = frame.subarray(0, length);
    frame.writeUInt32LE(crc32(whole.subarray(CRC_FROM)), HEAD.crc);
    return whole;
  }
}

/**
 * What a frame holds; undefined when it is none any more. The tail is good as long as the bytes are. Its checksum was looked at when
 * its file was opened.
 */
export function readFrame(frame: Buffer): { json: unknown; tail: Buffer } | undefined {
  const tailAt = frame.length - frame.readUInt16LE(HEAD.tail);
  try {
    return { json: JSON.parse(frame.toString('utf8', FRAME_HEAD_BYTES, tailAt)), tail: frame.subarray(tailAt) };
  } catch {
    return undefined;
  }
}

/**
 * Calls for each frame from the beginning of some bytes on.
 *
 * @returns where the first one begins that is not whole; the length of the bytes when there is none, but perhaps zeros
 */
export function scanFrames(bytes: Buffer, found: (head: FrameHead, at: number, lengthBytes: number) => void): number {
  let at = 0;
  while (at + FRAME_HEAD_BYTES <= bytes.length) {
    const length = bytes.readUInt32LE(at + HEAD.length);
    if (length < FRAME_HEAD_BYTES || at + length > bytes.length) break;
    const frame = bytes.subarray(at, at + length);
    if (!isWhole(frame)) break;
    found(headIn(frame), at, length);
    at += length;
  }
  return bytes.subarray(at).every((byte) => byte === 0) ? bytes.length : at;
}

function isWhole(frame: Buffer): boolean {
  return frame.length >= FRAME_HEAD_BYTES && frame.readUInt32LE(HEAD.crc) === crc32(frame.subarray(CRC_FROM));
}

function headIn(frame: Buffer): FrameHead {
  return {
    seq: frame.readDoubleLE(HEAD.seq),
    atMs: frame.readDoubleLE(HEAD.atMs),
    key: frame.readDoubleLE(HEAD.key),
    group: frame.readDoubleLE(HEAD.group),
    referred: frame.readDoubleLE(HEAD.referred),
    mark: frame.readUInt16LE(HEAD.mark),
  };
}
