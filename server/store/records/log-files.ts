import { reasonOf } from '../../model/reason.ts';
import type { AppendHandle, StoreFiles } from '../files.ts';

/** Folder of what was recorded, below the data folder. */
const FOLDER = 'records';
/** Of the form of these files. One with a higher number was written by a later version. */
const FORMAT = 1;
/** Room for the line that a file begins with. */
export const HEAD_BYTES = 128;
const POSITION_DIGITS = 15;

/** One file of a log: the bytes from a position on. */
export interface LogSegment {
  readonly name: string;
  readonly from: number;
  /** Without its head. */
  sizeBytes: number;
  /** When it was last written, epoch milliseconds. */
  writtenAtMs: number;
}

export interface LogFilesOptions {
  files: StoreFiles;
  /** What the log is of, e.g. `requests`. */
  name: string;
  /** A file that has grown to this is followed by the next. */
  segmentBytes: number;
  nowMs(): number;
  onWarning(message: string): void;
}

/**
 * The files of one log of bytes, each of which holds a piece of it: `records/NAME-POSITION.bin`. What cannot be read is set aside with
 * a sentence; the others stay what they are. Nothing is synced: a crash of the emulator loses nothing, a power cut the last seconds.
 */
export class LogFiles {
  readonly #options: LogFilesOptions;
  readonly #segments: LogSegment[] = [];
  #appender: AppendHandle | undefined;
  #isEndTorn = false;

  constructor(options: LogFilesOptions) {
    this.#options = options;
  }

  /** Oldest first. */
  get segments(): readonly LogSegment[] {
    return this.#segments;
  }

  get sizeBytes(): number {
    return this.#segments.reduce((sum, { sizeBytes }) => sum + HEAD_BYTES + sizeBytes, 0);
  }

  /** Where what is kept ends; 0 without anything. */
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
  }

  async #openSegment(name: string, from: number): Promise<void> {
    const { files } = this.#options;
    const reader = await files.openRead(name);
    if (!reader) return;
    const fault = faultOfHead((await reader.read(0, HEAD_BYTES)).toString('latin1'), this.#options.name);
    await reader.close();
    if (fault !== undefined) {
      await this.#setAside(name, fault);
      return;
    }
    const { sizeBytes, modifiedAtMs } = reader;
    this.#segments.push({ name, from, sizeBytes: sizeBytes - HEAD_BYTES, writtenAtMs: modifiedAtMs });
  }

  /** Writes what follows on all before; what does not follow begins a file of its own. */
  async write(at: number, bytes: Uint8Array, mayBegin: boolean): Promise<void> {
    const last = this.#segments.at(-1);
    const goesOn = last && at === this.end && !(mayBegin && last.sizeBytes >= this.#options.segmentBytes);
    const segment = goesOn ? last : await this.#begin(at);
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

  /** What a write that failed has left behind. */
  async #cutTornEnd(appender: AppendHandle, sizeBytes: number): Promise<void> {
    if (!this.#isEndTorn) return;
    appender.check(sizeBytes, Number.POSITIVE_INFINITY);
    await appender.truncate(sizeBytes);
    this.#isEndTorn = false;
  }

  async #begin(from: number): Promise<LogSegment> {
    const { files, name } = this.#options;
    const last = this.#segments.at(-1);
    if (last && this.#appender) await this.#cutTornEnd(this.#appender, HEAD_BYTES + last.sizeBytes);
    await this.close();
    this.#isEndTorn = false;
    const file = `${FOLDER}/${name}-${String(from).padStart(POSITION_DIGITS, '0')}.bin`;
    await files.replace(file, oneChunk(headOf(name, from)));
    const segment = { name: file, from, sizeBytes: 0, writtenAtMs: this.#options.nowMs() };
    this.#segments.push(segment);
    return segment;
  }

  /** The bytes from a position on, as far as they are in one file; undefined when none are kept. */
  read(at: number, lengthBytes: number): Buffer | undefined {
    const segment = this.#segments.findLast(({ from }) => from <= at);
    if (!segment || at >= segment.from + segment.sizeBytes) return undefined;
    const until = Math.min(at + lengthBytes, segment.from + segment.sizeBytes);
    return this.#options.files.readAt(segment.name, HEAD_BYTES + at - segment.from, until - at);
  }

  /** Deletes the oldest file, unless it is the one that is written to. */
  async removeOldest(): Promise<boolean> {
    const [oldest] = this.#segments;
    if (!oldest || this.#segments.length === 1) return false;
    this.#segments.shift();
    await this.#options.files.remove(oldest.name);
    return true;
  }

  /** Sets a damaged file aside and puts what is good of it in its place. @param good as long as the other */
  async mend(segment: LogSegment, good: Buffer, fault: string): Promise<void> {
    const { files, name } = this.#options;
    if (segment === this.#segments.at(-1)) await this.close();
    await this.#setAside(segment.name, fault);
    await files.replace(segment.name, oneChunk(Buffer.concat([headOf(name, segment.from), good])));
  }

  /** What a crash has cut off within its last record goes at the next write. */
  tearEnd(segment: LogSegment, sizeBytes: number): void {
    segment.sizeBytes = sizeBytes;
    this.#isEndTorn = true;
  }

  async #setAside(name: string, fault: string): Promise<void> {
    const { files, onWarning } = this.#options;
    const aside = `${name}.aside`;
    await files.rename(name, aside);
    onWarning(
      `A file of what was recorded, ${files.pathOf(name)}, ${fault}. It was set aside as ${files.pathOf(aside)}; ` +
        'all other records are there, and recording goes on.',
    );
  }

  async close(): Promise<void> {
    const appender = this.#appender;
    this.#appender = undefined;
    await appender?.close();
  }
}

function headOf(log: string, from: number): Buffer {
  const line = `${JSON.stringify({ terrarium: 'records', format: FORMAT, log, from })}`;
  return Buffer.from(`${line.padEnd(HEAD_BYTES - 1)}\n`);
}

/** What is wrong with the head of a file, completing "The file ..."; undefined for a good one. */
function faultOfHead(head: string, log: string): string | undefined {
  try {
    const { terrarium, format, log: of } = JSON.parse(head);
    if (terrarium !== 'records' || of !== log || typeof format !== 'number') return 'is none of this log';
    return format > FORMAT ? `was written by a later version (form ${format}, this one knows ${FORMAT})` : undefined;
  } catch (error) {
    return `is damaged where it begins (${reasonOf(error)})`;
  }
}

async function* oneChunk(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
