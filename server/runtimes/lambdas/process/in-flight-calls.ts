import { StringDecoder } from 'node:string_decoder';
import type { LogLine } from '../../../model/invocation.ts';
import type { LambdaFailure } from '../lambda-failure.ts';
import type { NoteHead, OutboundHead } from './process-messages.ts';
import type { OutcomeHead } from './protocol.ts';

/** The end of a call: with the handler's outcome, because the process ended, or without having begun because it was withdrawn. */
export type Ending =
  | { kind: 'outcome'; head: OutcomeHead; body: Buffer }
  | { kind: 'gone'; failure: LambdaFailure; hasBegun: boolean }
  | { kind: 'withdrawn' };

/** Receives news of one call while it runs. `ended` comes last and once. */
export interface CallListener {
  /** `atMs`: by `monotonicMs`, as the process says. */
  began(atMs: number): void;
  line(stream: LogLine['stream'], text: string): void;
  outbound(update: OutboundHead, bytes: Uint8Array): void;
  /** True if it still receives updates of outbound calls after its end. */
  takesLateCalls(): boolean;
  noted(text: string): void;
  ended(ending: Ending): void;
}

interface InFlightCall {
  number: number;
  listener: CallListener;
  hasBegun: boolean;
  /** Once the handler has ended: the call is over when all that it wrote has been read. */
  ending?: Ending;
  /** Turns of the event loop since its end in which what it has written and reported was read. */
  turns: number;
}

/** The calls of a program that the process has started are reported by a connection, which is accepted in one turn and read in the next. */
const TURNS_FOR_REPORTS = 3;

interface Listeners {
  onLine(stream: LogLine['stream'], text: string): void;
  /** Reports what an invocation did after its record was closed. */
  onLate(executionId: string, text: string): void;
  /** Lets the process start the next call after one that has written output. */
  goOn(closed: number): void;
  /** When those are over that ended in one turn, and what follows them has been given. */
  concluded(): void;
}

/** The calls that a process has, and whose the lines are that it writes. */
export class InFlightCalls {
  /** The first runs, or its ending is known; the others lie ready. */
  readonly #inFlight: InFlightCall[] = [];
  readonly #earlier = new Map<number, CallListener>();
  readonly #output: OutputLines;
  readonly #listeners: Listeners;
  /** True once the process has started a program. */
  hasSubprocesses = false;
  /** Output that has been read and is not assigned to a call yet. */
  #unclaimed: { stream: LogLine['stream']; chunk: Buffer }[] = [];
  #reportedBytes = 0;
  /** Lines for the log that have overtaken what was written before them. */
  #notes: NoteHead[] = [];
  #speaker: InFlightCall | undefined;
  #conclusion: NodeJS.Immediate | undefined;
  #total = 0;
  #closed = 0;

  constructor(logLimitLines: number, listeners: Listeners) {
    this.#listeners = listeners;
    this.#output = new OutputLines(logLimitLines, (stream, text) => {
      if (this.#speaker) this.#speaker.listener.line(stream, text);
      else listeners.onLine(stream, text);
    });
  }

  get total(): number {
    return this.#total;
  }

  get length(): number {
    return this.#inFlight.length;
  }

  get closed(): number {
    return this.#closed;
  }

  get isFlooded(): boolean {
    return this.#output.isOverBudget;
  }

  add(listener: CallListener): Readonly<InFlightCall> {
    for (const [number, earlier] of this.#earlier) {
      // Those behind it end little later. To look at all of them would take long where calls follow each other fast.
      if (earlier.takesLateCalls()) break;
      this.#earlier.delete(number);
    }
    this.#total += 1;
    const call: InFlightCall = { number: this.#total, listener, hasBegun: false, turns: 0 };
    this.#inFlight.push(call);
    if (this.#inFlight.length === 1) this.#output.renew();
    return call;
  }

  began(number: number, atMs: number): void {
    const call = this.#find(number);
    if (!call) return;
    call.hasBegun = true;
    call.listener.began(atMs);
  }

  outbound(update: OutboundHead, bytes: Uint8Array): void {
    const call = this.#inFlight.find(({ number }) => number === update.number);
    const listener = call?.listener ?? this.#earlier.get(update.number);
    listener?.outbound(update, bytes);
    const { lateOf, method, url } = update;
    if (lateOf === undefined) return;
    const text = `the lambda went on after its response: it sent ${method} ${url}`;
    if (listener) listener.noted(text);
    else this.#listeners.onLate(lateOf, text);
  }

  /** The call for which the subprocess works now. Its reports can arrive before the start of the call or after its end. */
  get running(): number | undefined {
    const isRunning = ({ hasBegun, ending }: InFlightCall) => hasBegun && !ending;
    const call = this.#inFlight.find(isRunning) ?? this.#inFlight.findLast(({ ending }) => ending) ?? this.#inFlight[0];
    return call?.number ?? [...this.#earlier.keys()].at(-1);
  }

  /** A line for the log of a call whose handler has not ended: its place is behind what was written before it. */
  note(note: NoteHead): void {
    if (this.#find(note.number)) this.#notes.push(note);
    this.#tellNotes(({ writtenBytes }) => writtenBytes <= this.#reportedBytes);
  }

  ended(ending: Ending & { kind: 'outcome' }): void {
    const call = this.#find(ending.head.number);
    if (call) this.#end(call, ending);
  }

  /** The process says that these will not begin there. */
  returnUnstarted(numbers: readonly number[]): void {
    for (const number of numbers) {
      const call = this.#find(number);
      if (!call || call.hasBegun) continue;
      this.#inFlight.splice(this.#inFlight.indexOf(call), 1);
      call.listener.ended({ kind: 'withdrawn' });
    }
  }

  lose(failure: LambdaFailure): void {
    this.#claim();
    if (this.#inFlight.length === 0) this.endOutput(undefined);
    for (const call of this.#inFlight) {
      if (!call.ending) this.#end(call, { kind: 'gone', failure, hasBegun: call.hasBegun });
    }
  }

  write(stream: LogLine['stream'], chunk: Buffer): void {
    this.#unclaimed.push({ stream, chunk });
    // If calls are queued, the owner of the output is known only after their outcomes have been read.
    if (this.#inFlight.length <= 1) this.#claim();
    else this.#concludeSoon();
  }

  /** Assigns all output from now on to another call, or to none. */
  endOutput(call: InFlightCall | undefined): void {
    this.#speaker = call;
    this.#output.flush();
    this.#speaker = undefined;
    this.#output.renew();
  }

  #find(number: number): InFlightCall | undefined {
    return this.#inFlight.find((call) => call.number === number && !call.ending);
  }

  /** Assigns output to its owner: the first call that may have written it. */
  #claim(): void {
    if (this.#unclaimed.length === 0) return;
    for (const { stream, chunk } of this.#unclaimed.splice(0)) {
      this.#speaker = this.#inFlight.find(({ ending }) => !isSilent(ending)) ?? this.#inFlight.at(-1);
      this.#output.take(stream, chunk);
      this.#reportedBytes += chunk.length;
    }
    this.#speaker = undefined;
    this.#tellNotes(({ writtenBytes }) => writtenBytes <= this.#reportedBytes);
  }

  #tellNotes(isDue: (note: NoteHead) => boolean): void {
    if (this.#notes.length === 0) return;
    const due = this.#notes.filter(isDue);
    this.#notes = this.#notes.filter((note) => !isDue(note));
    for (const { number, message } of due)
      this.#inFlight.find((call) => call.number === number)?.listener.noted(message);
  }

  #end(call: InFlightCall, ending: Ending): void {
    call.ending = ending;
    this.#concludeSoon();
  }

  /** Output of before the result arrives on other pipes. This turn of the event loop may have started without it: then the next turn reads it. */
  #concludeSoon(): void {
    this.#conclusion ??= setImmediate(() => {
      this.#conclusion = undefined;
      if (this.#waitsForOutput()) return this.#concludeSoon();
      this.#claim();
      for (let first = this.#inFlight[0]; first?.ending; first = this.#inFlight[0]) this.#conclude(first, first.ending);
      this.#listeners.concluded();
    });
  }

  /** True if what a call has written or reported before its end is read in one of the next turns. */
  #waitsForOutput(): boolean {
    let waits = false;
    for (const call of this.#inFlight) {
      if (call.ending?.kind !== 'outcome') continue;
      const turns = this.hasSubprocesses ? TURNS_FOR_REPORTS : isSilent(call.ending) ? 0 : 1;
      if (call.turns >= turns) continue;
      call.turns += 1;
      waits = true;
    }
    return waits;
  }

  #conclude(call: InFlightCall, ending: Ending): void {
    this.endOutput(call);
    this.#tellNotes(({ number }) => number === call.number);
    this.#inFlight.shift();
    this.#closed = call.number;
    if (ending.kind === 'outcome' && ending.head.hasWritten && this.#inFlight.length > 0)
      this.#listeners.goOn(this.#closed);
    call.listener.ended(ending);
    if (call.listener.takesLateCalls()) this.#earlier.set(call.number, call.listener);
  }
}

/** True if a call has ended that wrote nothing, according to its process. */
function isSilent(ending: Ending | undefined): boolean {
  return ending?.kind === 'outcome' && !ending.head.hasWritten;
}

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
