import { crc32 } from 'node:zlib';

/** One record as bytes: a head of fixed size, JSON, and raw bytes as a tail. */
const CRC_FROM = 8;
const HEAD = { length: 0, crc: 4, seq: 8, atMs: 16, key: 24, group: 32, referred: 40, mark: 48, tail: 50 } as const;
export const FRAME_HEAD_BYTES = 52;

export interface FrameHead {
  seq: number;
  atMs: number;
  key: number;
  group: number;
  mark: number;
  /** End of the last bytes in another log to which the record refers. */
  referred: number;
}

export class FrameWriter {
  #scratch = Buffer.allocUnsafeSlow(16 * 1024);

  /** Valid until the next call. @param tail at most 65535 bytes */
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
    const frameBytes = frame.subarray(0, length);
    frame.writeUInt32LE(crc32(frameBytes.subarray(CRC_FROM)), HEAD.crc);
    return frameBytes;
  }
}

/** Undefined if it is not a frame any more. The tail shares its bytes. The checksum was verified when the file was opened. */
export function readFrame(frame: Buffer): { json: unknown; tail: Buffer } | undefined {
  const tailAt = frame.length - frame.readUInt16LE(HEAD.tail);
  try {
    return { json: JSON.parse(frame.toString('utf8', FRAME_HEAD_BYTES, tailAt)), tail: frame.subarray(tailAt) };
  } catch {
    return undefined;
  }
}

/** Bytes that belong to no complete frame; `until` is the end. */
export interface DamagedRange {
  from: number;
  until: number;
}

/** Calls back for each complete frame, also after damaged bytes. @returns the damaged bytes, without zeros between frames */
export function scanFrames(
  bytes: Buffer,
  found: (head: FrameHead, at: number, lengthBytes: number) => void,
): DamagedRange[] {
  const damaged: DamagedRange[] = [];
  for (let from = 0; from < bytes.length; ) {
    let at = from;
    let frame = frameAt(bytes, at);
    while (!frame && at < bytes.length) frame = frameAt(bytes, ++at);
    if (bytes.subarray(from, at).some((byte) => byte !== 0)) damaged.push({ from, until: at });
    if (frame) found(headIn(frame), at, frame.length);
    from = at + (frame?.length ?? 0);
  }
  return damaged;
}

/** The complete frame at a position. Cheap conditions come first, because every byte of a damaged part is checked. */
function frameAt(bytes: Buffer, at: number): Buffer | undefined {
  if (at + FRAME_HEAD_BYTES > bytes.length) return undefined;
  const length = bytes.readUInt32LE(at + HEAD.length);
  if (length < FRAME_HEAD_BYTES || at + length > bytes.length) return undefined;
  if (!Number.isSafeInteger(bytes.readDoubleLE(at + HEAD.seq))) return undefined;
  const frame = bytes.subarray(at, at + length);
  return frame.readUInt32LE(HEAD.crc) === crc32(frame.subarray(CRC_FROM)) ? frame : undefined;
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
