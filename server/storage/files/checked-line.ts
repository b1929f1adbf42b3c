import { crc32 } from 'node:zlib';
import { reasonOf } from '../../model/errors.ts';
import { StoreError, type StoreFiles } from './files.ts';

const NEWLINE = 0x0a;
const MARK = ',"crc":"';
const END = '"}';
/** Length of `,"crc":"xxxxxxxx"}`. */
const TAIL_BYTES = MARK.length + 8 + END.length;

/** A CRC-32 as 8 hexadecimal digits. It detects every single flipped bit. */
export function checksumText(crc: number): string {
  return crc.toString(16).padStart(8, '0');
}

/** An object as one line of JSON whose last member, `crc`, is the checksum of everything before it. */
export function toCheckedLine(value: object): string {
  const body = JSON.stringify(value).slice(0, -1);
  return `${body}${MARK}${checksumText(crc32(body))}${END}\n`;
}

/** Parses a line of `toCheckedLine`, given without its end. Throws if the checksum is wrong. */
export function fromCheckedLine(line: Buffer): unknown {
  const body = line.subarray(0, -TAIL_BYTES);
  if (line.subarray(-TAIL_BYTES).toString('latin1') !== `${MARK}${checksumText(crc32(body))}${END}`) {
    throw new Error('the checksum does not match its content');
  }
  return JSON.parse(line.toString('utf8'));
}

export interface LineReader {
  /** Called with the value of each line, in order. An error is reported as damage of that line. */
  accept(value: unknown): void;
  /** Returns what remains usable and how to recover from a damaged line; completes the message. */
  advise(line: number): string;
  /** Called with the length of an incomplete last line, which a crash can leave. Absent: it is damage. */
  onTorn?(tornBytes: number): void;
}

/** Undefined without a file. A last line without an end was never acknowledged and is left out; else what is invalid is damage (StoreError). */
export async function readCheckedLines(
  files: StoreFiles,
  name: string,
  reader: LineReader,
): Promise<{ sizeBytes: number; isTorn: boolean } | undefined> {
  const content = await files.read(name);
  if (!content) return undefined;
  let start = 0;
  for (let line = 1; ; line++) {
    const end = content.indexOf(NEWLINE, start);
    try {
      if (end < 0) {
        const tornBytes = content.length - start;
        if (tornBytes > 0 && !reader.onTorn) throw new Error('the line is cut off');
        if (tornBytes > 0) reader.onTorn?.(tornBytes);
        return { sizeBytes: start, isTorn: tornBytes > 0 };
      }
      reader.accept(fromCheckedLine(content.subarray(start, end)));
    } catch (error) {
      throw new StoreError(files.pathOf(name), `${reasonOf(error)}. Nothing was changed. ${reader.advise(line)}`, {
        line,
        cause: error,
      });
    }
    start = end + 1;
  }
}

const CHUNK_CHARS = 128 * 1024;

/** Joins texts to chunks of a size that is fast to write. */
export function* chunksOf(texts: Iterable<string>): Generator<Buffer> {
  let chunk = '';
  for (const text of texts) {
    chunk += text;
    if (chunk.length < CHUNK_CHARS) continue;
    yield Buffer.from(chunk);
    chunk = '';
  }
  yield Buffer.from(chunk);
}
