import type { ReadHandle } from './files.ts';

const NEWLINE = 0x0a;
/** How much is read at a time; a longer line takes as many reads as it needs. */
const CHUNK_BYTES = 64 * 1024;

/** The complete lines of a file, last first, without their ends; no more of it is in memory than a chunk and a line. */
export async function* linesBackwards(handle: ReadHandle, sizeBytes = handle.sizeBytes): AsyncGenerator<Buffer> {
  let rest: Buffer[] = []; // the beginning of the line that the last chunk cut, in order
  for (let end = sizeBytes; end > 0; ) {
    const start = Math.max(0, end - CHUNK_BYTES);
    let chunk = await handle.read(start, end - start);
    end = start;
    for (let at = chunk.lastIndexOf(NEWLINE); at >= 0; at = chunk.lastIndexOf(NEWLINE)) {
      const line = Buffer.concat([chunk.subarray(at + 1), ...rest]);
      if (line.length > 0) yield line;
      rest = [];
      chunk = chunk.subarray(0, at);
    }
    rest.unshift(chunk);
  }
  const first = Buffer.concat(rest);
  if (first.length > 0) yield first;
}
