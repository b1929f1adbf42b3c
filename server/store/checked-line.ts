import { crc32 } from 'node:zlib';
import { reasonOf } from '../model/reason.ts';
import type { StoreFiles } from './files.ts';
import { StoreError } from './store-error.ts';

const NEWLINE = 0x0a;
const MARK = ',"crc":"';
const END = '"}';
/** Length of `,"crc":"xxxxxxxx"}`. */
const TAIL_BYTES = MARK.length + 8 + END.length;

/** A CRC-32 as 8 hexadecimal digits. It finds every single flipped bit. */
export function checksumText(crc: number): string {
  return crc.toString(16).padStart(8, '0');
}

/** An object as one line of JSON whose last member, `crc`, is the checksum of everything before it. */
export function toCheckedLine(value: object): string {
  const body = JSON.stringify(value).slice(0, -1);
  return `${body}${MARK}${checksumText(crc32(body))}${END}\n`;
}

/** What `toCheckedLine` made a line of, given without its end. Throws when the checksum is another. */
export function fromCheckedLine(line: Buffer): unknown {
  const body = line.subarray(0, -TAIL_BYTES);
  if (line.subarray(-TAIL_BYTES).toString('latin1') !== `${MARK}${checksumText(crc32(body))}${END}`) {
    throw new Error('the checksum does not match its content');
  }
  return JSON.parse(line.toString('utf8'));
}

/** How to read a file of checked lines. */
export interface LineReader {
  /** Gets each line's value, in order. What it throws is told as the damage of that line. */
  accept(value: unknown): void;
  /** What is kept and how to recover, when a line is damaged; completes the message. */
  advise(line: number): string;
  /** May the file end in the middle of a line, as a crash leaves it? Told the length of what is to be dropped. */
  onTorn?(tornBytes: number): void;
}

/**
 * Reads a file of checked lines. A last line without an end is what a crash in the middle of a write leaves; nobody
 * was told that it was saved, so it is left out. Anything else that does not fit is damage.
 *
 * @returns how many bytes the complete lines take, and whether there is more after them; undefined without a file
 * @throws StoreError that names file and line
 */
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
