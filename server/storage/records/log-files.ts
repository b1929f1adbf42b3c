import { crc32 } from 'node:zlib';
import { reasonOf } from '../../model/errors.ts';
import type { AppendHandle, StoreFiles } from '../files/files.ts';
import type { RecordHead } from './record-index.ts';

const FOLDER = 'records';
export const HEAD_BYTES = 128;
const POSITION_DIGITS = 15;
/** Far more than this program writes into one file. */
const MAX_FILE_BYTES = 64 * 1024 * 1024;
/** Not a fault: such files are reported together. */
const OLDER = 'was written by an earlier version';

export interface LogSegment {
  readonly name: string;
  readonly from: number;
  sizeBytes: number;
  writtenAtMs: number;
}

export interface LogFilesOptions {
  files: StoreFiles;
  name: string;
  /** Format version of the files. A file with a higher number was written by a later version. */
  format: number;
  segmentBytes: number;
  nowMs(): number;
  onWarning(message: string): void;
}

/** `records/NAME-POSITION.bin`. Unreadable ones are moved aside. Without sync: only a power failure can lose the last seconds. */
export class LogFiles {
  readonly #options: LogFilesOptions;
  readonly #segments: LogSegment[] = [];
  #appender: AppendHandle | undefined;
  #isEndTorn = false;
  #isOpen = false;
  #hasOlder = false;
  #turn: Promise<void> = Promise.resolve();

  constructor(options: LogFilesOptions) {
    this.#options = options;
  }

  get segments(): readonly LogSegment[] {
    return this.#segments;
  }

  get hasOlder(): boolean {
    return this.#hasOlder;
  }

  get sizeBytes(): number {
    return this.#segments.reduce((sum, { sizeBytes }) => sum + HEAD_BYTES + sizeBytes, 0);
  }

  get end(): number {
    const last = this.#segments.at(-1);
    return last ? last.from + last.sizeBytes : 0;
  }

  async open(): Promise<void> {
    const { files, name } = this.#options;
    const form = new RegExp(`^${name}-(\\d{${POSITION_DIGITS}})\\.bin$`);
    for (const found of await files.list(FOLDER)) {
      const [, position] = form.exec(found) ?? [];
      if (position !== undefined) await this.#openSegment(`${FOLDER}/${found}`, Number(position));
    }
    this.#isOpen = true;
  }

  /** Opens the files if that failed before. Rejects if some exist, because newer records already use their positions. */
  async openLate(): Promise<void> {
    if (this.#isOpen) return;
    await this.open();
    if (this.#segments.length === 0) return;
    this.#segments.length = 0;
    this.#isOpen = false;
    throw new Error('some files could not be read at the start. Restart the platform to use them');
  }

  async #openSegment(name: string, from: number): Promise<void> {
    let fault: string | undefined;
    try {
      const reader = await this.#options.files.openRead(name);
      if (!reader) return;
      const head = await reader.read(0, HEAD_BYTES).finally(() => reader.close());
      const isTooLarge = reader.sizeBytes > MAX_FILE_BYTES;
      fault = isTooLarge ? `is larger than ${MAX_FILE_BYTES} bytes` : this.#faultOfHead(head.toString('latin1'));
      const { sizeBytes, modifiedAtMs: writtenAtMs } = reader;
      if (fault === undefined) this.#segments.push({ name, from, sizeBytes: sizeBytes - HEAD_BYTES, writtenAtMs });
    } catch (error) {
      fault = `cannot be read (${reasonOf(error)})`;
    }
    if (fault === undefined) return;
    await this.#options.files.rename(name, setAsideName(name));
    if (fault === OLDER) this.#hasOlder = true;
    else this.#warnSetAside(name, fault);
  }

  /** Returns the fault of a file's first line, completing "The file ..."; undefined if it is valid. */
  #faultOfHead(head: string): string | undefined {
    const { name, format: supported } = this.#options;
    if (head.length < HEAD_BYTES) return 'is damaged at the beginning (it ends within its first line)';
    try {
      const { terrarium, format, log } = JSON.parse(head);
      if (terrarium !== 'records' || log !== name || typeof format !== 'number') return 'does not belong to this log';
      if (format < supported) return OLDER;
      return format > supported
        ? `was written by a later version (format ${format}, this version supports ${supported})`
        : undefined;
    } catch (error) {
      return `is damaged at the beginning (${reasonOf(error)})`;
    }
  }

  /** Writes bytes that follow the last ones; other bytes start a new file. */
  write(at: number, bytes: Uint8Array, mayBegin: boolean): Promise<void> {
    return this.#enqueue(() => this.#write(at, bytes, mayBegin));
  }

  async #write(at: number, bytes: Uint8Array, mayBegin: boolean): Promise<void> {
    const last = this.#segments.at(-1);
    const continues = last && at === this.end && !(mayBegin && last.sizeBytes >= this.#options.segmentBytes);
    const segment = continues ? last : await this.#begin(at);
    const { files } = this.#options;
    const before = HEAD_BYTES + segment.sizeBytes;
    this.#appender ??= await files.openAppend(segment.name, before);
    await this.#cutTornEnd(this.#appender, before);
    this.#appender.check(before, before);
    this.#isEndTorn = true;
    await this.#appender.append(bytes);
    this.#isEndTorn = false;
    segment.sizeBytes += bytes.length;
    segment.writtenAtMs = this.#options.nowMs();
  }

  async #cutTornEnd(appender: AppendHandle, sizeBytes: number): Promise<void> {
    if (!this.#isEndTorn) return;
    appender.check(sizeBytes, Number.POSITIVE_INFINITY);
    await appender.truncate(sizeBytes);
    this.#isEndTorn = false;
  }

  async #begin(from: number): Promise<LogSegment> {
    const { files, name, format } = this.#options;
    const last = this.#segments.at(-1);
    if (last && this.#appender) await this.#cutTornEnd(this.#appender, HEAD_BYTES + last.sizeBytes);
    await this.close();
    this.#isEndTorn = false;
    const file = `${FOLDER}/${name}-${String(from).padStart(POSITION_DIGITS, '0')}.bin`;
    await files.replace(file, [headOf(name, format, from)]);
    const segment = { name: file, from, sizeBytes: 0, writtenAtMs: this.#options.nowMs() };
    this.#segments.push(segment);
    return segment;
  }

  /** The bytes from a position on, up to the end of the file; undefined if none are kept. */
  read(at: number, lengthBytes: number): Buffer | undefined {
    const segment = this.#segments.findLast(({ from }) => from <= at);
    if (!segment || at >= segment.from + segment.sizeBytes) return undefined;
    const until = Math.min(at + lengthBytes, segment.from + segment.sizeBytes);
    return this.#options.files.readAt(segment.name, HEAD_BYTES + at - segment.from, until - at);
  }

  has(from: number, until: number): boolean {
    let at = from;
    for (const segment of this.#segments) if (segment.from <= at) at = Math.max(at, segment.from + segment.sizeBytes);
    return at >= until;
  }

  async removeOldest(): Promise<boolean> {
    const [oldest] = this.#segments;
    if (!oldest || this.#segments.length === 1) return false;
    this.#segments.shift();
    await this.#options.files.remove(oldest.name);
    return true;
  }

  /** Copies a damaged file aside and replaces its damaged parts with zeros. @param damaged positions after the first line */
  repair(segment: LogSegment, damaged: readonly DamagedRange[]): Promise<void> {
    return this.#enqueue(async () => {
      const { files, onWarning } = this.#options;
      const fault = `is damaged at byte ${HEAD_BYTES + Math.min(...damaged.map(({ from }) => from))}`;
      try {
        const content = files.readAt(segment.name, 0, HEAD_BYTES + segment.sizeBytes);
        if (!content) return;
        await files.replace(setAsideName(segment.name), [content]);
        for (const { from, until } of damaged) content.fill(0, HEAD_BYTES + from, HEAD_BYTES + until);
        if (segment === this.#segments.at(-1)) await this.close();
        await files.replace(segment.name, [content]);
        this.#warnSetAside(segment.name, fault);
      } catch (error) {
        onWarning(
          `A file with recorded data, ${files.pathOf(segment.name)}, ${fault} and could not be repaired (${reasonOf(error)}). All ` +
            'other records are available, and recording continues.',
        );
      }
    });
  }

  /** A file is not appended to while it is replaced. */
  #enqueue(work: () => Promise<void>): Promise<void> {
    const done = this.#turn.then(work);
    this.#turn = done.catch(() => undefined);
    return done;
  }

  /** An incomplete last record after a crash is removed at the next write. */
  markTorn(segment: LogSegment, sizeBytes: number): void {
    segment.sizeBytes = sizeBytes;
    this.#isEndTorn = true;
  }

  #warnSetAside(name: string, fault: string): void {
    const { files, onWarning } = this.#options;
    onWarning(
      `A file with recorded data, ${files.pathOf(name)}, ${fault}. It was moved to ${files.pathOf(setAsideName(name))}. All other ` +
        'records are available, and recording continues.',
    );
  }

  async close(): Promise<void> {
    const appender = this.#appender;
    this.#appender = undefined;
    await appender?.close();
  }
}

export function setAsideName(name: string): string {
  return `${name}.aside`;
}

function headOf(log: string, format: number, from: number): Buffer {
  const line = `${JSON.stringify({ terrarium: 'records', format, log, from })}`;
  return Buffer.from(`${line.padEnd(HEAD_BYTES - 1)}\n`);
}

/** One record as bytes: a head of fixed size, JSON, and raw bytes as a tail. */
const CRC_FROM = 8;
const HEAD = { length: 0, crc: 4, seq: 8, atMs: 16, key: 24, group: 32, referred: 40, mark: 48, tail: 50 } as const;
export const FRAME_HEAD_BYTES = 52;

interface FrameHead extends RecordHead {
  /** End of the last bytes in another log to which the record refers. */
  referred: number;
}

let scratch = Buffer.allocUnsafeSlow(16 * 1024);

/** Valid until the next call. @param tail at most 65535 bytes */
export function writeFrame(head: FrameHead, json: string, tail: Uint8Array): Buffer {
  const most = FRAME_HEAD_BYTES + json.length * 3 + tail.length;
  if (most > scratch.length) scratch = Buffer.allocUnsafeSlow(2 * most);
  const frame = scratch;
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
