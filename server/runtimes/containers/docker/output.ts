import type { LogLine } from '../../../model/invocation.ts';
import { NewestLines } from '../../../model/newest-lines.ts';

const HEADER_BYTES = 8;

export class OutputFrames {
  #rest: Buffer = Buffer.alloc(0);
  readonly #onPiece: (stream: LogLine['stream'], piece: Buffer) => void;

  constructor(onPiece: (stream: LogLine['stream'], piece: Buffer) => void) {
    this.#onPiece = onPiece;
  }

  push(chunk: Buffer): void {
    this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    while (this.#rest.length >= HEADER_BYTES) {
      const end = HEADER_BYTES + this.#rest.readUInt32BE(4);
      if (this.#rest.length < end) return;
      this.#onPiece(this.#rest[0] === 2 ? 'stderr' : 'stdout', this.#rest.subarray(HEADER_BYTES, end));
      this.#rest = this.#rest.subarray(end);
    }
  }
}

/** A longer line is cut into pieces of this many characters: what never ends would be held for ever. */
const LONGEST_LINE = 64 * 1024;

/** Lines with the daemon's time stamps before them, out of framed output. */
export async function linesIn(output: AsyncIterable<Buffer> | Iterable<Buffer>): Promise<LogLine[]> {
  const lines = new NewestLines();
  const rest = { stdout: '', stderr: '' };
  const frames = new OutputFrames((stream, piece) => {
    const parts = (rest[stream] + piece.toString('utf8')).split('\n');
    rest[stream] = parts.pop() ?? '';
    for (const part of parts) lines.add(stampedLine(stream, part));
    if (rest[stream].length < LONGEST_LINE) return;
    const line = stampedLine(stream, rest[stream]);
    lines.add(line);
    rest[stream] = `${new Date(line.atMs).toISOString()} `;
  });
  for await (const chunk of output) frames.push(chunk);
  for (const stream of ['stdout', 'stderr'] as const)
    if (rest[stream] !== '') lines.add(stampedLine(stream, rest[stream]));
  return lines.reportedLines();
}

function stampedLine(stream: LogLine['stream'], text: string): LogLine {
  const space = text.indexOf(' ');
  const atMs = Date.parse(text.slice(0, space));
  return { atMs: Number.isNaN(atMs) ? 0 : atMs, stream, text: text.slice(space + 1).replace(/\r$/, '') };
}
