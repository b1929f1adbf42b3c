import { StringDecoder } from 'node:string_decoder';
import type { LogLine } from '../../../model/invocation.ts';

type Stream = LogLine['stream'];

/** A longer line is cut into pieces of this many characters. */
const LONGEST_LINE = 16 * 1024;
/** V8 copies shorter slices anyway. */
const SHORTEST_SLICE = 13;
/** Largest output of one invocation that is kept; the rest is read and discarded. */
const KEPT_BYTES = 1024 * 1024;

/** Turns a process' output into lines, within a budget per invocation. What exceeds it is not even decoded, so that a flood costs little. */
export class OutputLines {
  readonly #emit: (stream: Stream, text: string) => void;
  readonly #limitLines: number;
  readonly #streams = {
    stdout: { decoder: new StringDecoder('utf8'), partial: '' },
    stderr: { decoder: new StringDecoder('utf8'), partial: '' },
  };
  #linesLeft = 0;
  #bytesLeft = 0;

  constructor(limitLines: number, emit: (stream: Stream, text: string) => void) {
    this.#limitLines = limitLines;
    this.#emit = emit;
    this.renew();
  }

  get isOverBudget(): boolean {
    return this.#linesLeft <= 0 || this.#bytesLeft <= 0;
  }

  renew(): void {
    this.#linesLeft = this.#limitLines;
    this.#bytesLeft = KEPT_BYTES;
  }

  take(stream: Stream, chunk: Buffer): void {
    if (this.isOverBudget) return;
    const state = this.#streams[stream];
    const allowedBytes = chunk.subarray(0, this.#bytesLeft);
    this.#bytesLeft -= chunk.length;
    const lines = (state.partial + state.decoder.write(allowedBytes)).split('\n');
    state.partial = lines.pop() ?? '';
    for (const line of lines) this.#line(stream, line.endsWith('\r') ? line.slice(0, -1) : line);
    while (state.partial.length > LONGEST_LINE) {
      this.#line(stream, state.partial.slice(0, LONGEST_LINE));
      state.partial = state.partial.slice(LONGEST_LINE);
    }
    if (this.isOverBudget) this.#cut(stream);
  }

  flush(): void {
    for (const stream of ['stdout', 'stderr'] as const) {
      const { partial } = this.#streams[stream];
      this.#streams[stream].partial = '';
      if (partial) this.#line(stream, partial);
    }
  }

  #line(stream: Stream, text: string): void {
    this.#linesLeft -= 1;
    if (this.#linesLeft < 0) return;
    for (let at = 0; at === 0 || at < text.length; at += LONGEST_LINE)
      this.#emit(stream, ownCopy(text.slice(at, at + LONGEST_LINE)));
  }

  #cut(stream: Stream): void {
    for (const state of Object.values(this.#streams)) {
      state.partial = '';
      state.decoder.end();
    }
    this.#emit(
      stream,
      `[terrarium] output cut here: one invocation may write ${this.#limitLines} lines and ${KEPT_BYTES / 1024 / 1024} MiB`,
    );
  }
}

/** Copies the text. A slice keeps its whole source string alive, so one stored line would keep the chunk that it arrived in. */
function ownCopy(slice: string): string {
  return slice.length < SHORTEST_SLICE ? slice : Buffer.from(slice).toString();
}
