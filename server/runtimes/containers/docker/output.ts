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

/** Lines with the daemon's time stamps before them, out of framed output; what is no whole line yet waits for its end. */
export class StampedLines {
  readonly #frames: OutputFrames;
  readonly #rest = { stdout: '', stderr: '' };

  constructor(onLine: (line: LogLine) => void) {
    this.#frames = new OutputFrames((stream, piece) => {
      const parts = (this.#rest[stream] + piece.toString('utf8')).split('\n');
      this.#rest[stream] = parts.pop() ?? '';
      for (const part of parts) onLine(stampedLine(stream, part));
      if (this.#rest[stream].length < LONGEST_LINE) return;
      const line = stampedLine(stream, this.#rest[stream]);
      onLine(line);
      this.#rest[stream] = `${new Date(line.atMs).toISOString()} `;
    });
  }

  push(chunk: Buffer): void {
    this.#frames.push(chunk);
  }

  rest(): LogLine[] {
    return (['stdout', 'stderr'] as const).flatMap((stream) =>
      this.#rest[stream] === '' ? [] : [stampedLine(stream, this.#rest[stream])],
    );
  }
}

export async function linesIn(output: AsyncIterable<Buffer> | Iterable<Buffer>): Promise<LogLine[]> {
  const lines = new NewestLines();
  const reader = new StampedLines((line) => lines.add(line));
  for await (const chunk of output) reader.push(chunk);
  for (const line of reader.rest()) lines.add(line);
  return lines.reportedLines();
}

function stampedLine(stream: LogLine['stream'], text: string): LogLine {
  const space = text.indexOf(' ');
  const atMs = Date.parse(text.slice(0, space));
  return { atMs: Number.isNaN(atMs) ? 0 : atMs, stream, text: text.slice(space + 1).replace(/\r$/, '') };
}
