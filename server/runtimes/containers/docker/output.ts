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

/** A longer line is cut into pieces of about so many bytes: what never ends would be held for ever. */
const LONGEST_LINE = 64 * 1024;
const NEW_LINE = 0x0a;
/** The daemon's time stamp and a space. */
const STAMP = /^\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d) /;
const MAX_STAMP = 40;

/** Lines with the daemon's time stamps before them, out of framed output. */
export async function linesIn(output: AsyncIterable<Buffer> | Iterable<Buffer>): Promise<LogLine[]> {
  const lines = new NewestLines();
  const rest = { stdout: Buffer.alloc(0), stderr: Buffer.alloc(0) };
  const frames = new OutputFrames((stream, piece) => {
    // A long line comes in several pieces, each with a stamp of its own.
    let open = Buffer.concat([rest[stream], rest[stream].length > 0 ? withoutStamp(piece) : piece]);
    for (let end = open.indexOf(NEW_LINE); end >= 0; end = open.indexOf(NEW_LINE)) {
      lines.add(stampedLine(stream, open.subarray(0, end)));
      open = open.subarray(end + 1);
    }
    if (open.length >= LONGEST_LINE) {
      const end = wholeCharacters(open);
      const line = stampedLine(stream, open.subarray(0, end));
      lines.add(line);
      open = Buffer.concat([Buffer.from(`${new Date(line.atMs).toISOString()} `), open.subarray(end)]);
    }
    rest[stream] = open;
  });
  for await (const chunk of output) frames.push(chunk);
  for (const stream of ['stdout', 'stderr'] as const)
    if (rest[stream].length > 0) lines.add(stampedLine(stream, rest[stream]));
  return lines.reportedLines();
}

function withoutStamp(piece: Buffer): Buffer {
  const [stamp = ''] = STAMP.exec(piece.toString('latin1', 0, MAX_STAMP)) ?? [];
  return piece.subarray(stamp.length);
}

/** The number of bytes up to the start of the last character, which may be incomplete. */
function wholeCharacters(bytes: Buffer): number {
  let end = bytes.length - 1;
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return end;
}

function stampedLine(stream: LogLine['stream'], bytes: Buffer): LogLine {
  const text = bytes.toString('utf8');
  const space = text.indexOf(' ');
  const atMs = Date.parse(text.slice(0, space));
  return { atMs: Number.isNaN(atMs) ? 0 : atMs, stream, text: text.slice(space + 1).replace(/\r$/, '') };
}
