import type { LogLine } from '../model/invocation.ts';
import type { LambdaFailure } from './lambda-failure.ts';
import { OutputLines } from './output-lines.ts';
import type { NoteHead, OutboundHead } from './process-messages.ts';
import type { OutcomeHead } from './protocol.ts';

/** How a call ended: with the handler's outcome, because the process did, or without having begun because it was withdrawn. */
export type Ending =
  | { kind: 'outcome'; head: OutcomeHead; body: Buffer }
  | { kind: 'gone'; failure: LambdaFailure; hasBegun: boolean }
  | { kind: 'withdrawn' };

/** Told of one call while it runs. `ended` comes last and once. */
export interface CallListener {
  /** `atMs`: by `monotonicMs`, as the process says. */
  began(atMs: number): void;
  /** It has written a line. */
  line(stream: LogLine['stream'], text: string): void;
  /** `bytes`: a part of a body, when the news has one. */
  outbound(news: OutboundHead, bytes: Uint8Array): void;
  /** Is it still to be told of outbound calls after its end? */
  goesOn(): boolean;
  /** A line about it for the log. */
  noted(text: string): void;
  ended(ending: Ending): void;
}

/** A call that a process has been given. */
interface Given {
  number: number;
  listener: CallListener;
  hasBegun: boolean;
  /** Once the handler has ended: the call is over when all that it wrote has been read. */
  ending?: Ending;
  /** Has what it wrote been read? */
  hasBeenRead: boolean;
}

/** Whoever is to know of them. */
interface Told {
  /** Of lines of no call. */
  onLine(stream: LogLine['stream'], text: string): void;
  /** Lets the process begin the next call after one that has written something. */
  goOn(closed: number): void;
  /** When those are over that ended in one turn, and what follows them has been given. */
  concluded(): void;
}

/** The calls that a process has, and whose the lines are that it writes. */
export class GivenCalls {
  /** The first runs, or its ending is known; the others lie ready. */
  readonly #given: Given[] = [];
  /** Calls that have ended while something they had sent was under way. */
  readonly #earlier = new Map<number, CallListener>();
  readonly #output: OutputLines;
  readonly #told: Told;
  /** What has been read of the output and waits to be told whose it is. */
  #unclaimed: { stream: LogLine['stream']; chunk: Buffer }[] = [];
  /** How much of it has been told. */
  #toldBytes = 0;
  /** Lines for the log that have overtaken what was written before them. */
  #notes: NoteHead[] = [];
  /** Whose lines are told now. */
  #speaker: Given | undefined;
  #conclusion: NodeJS.Immediate | undefined;
  #total = 0;
  #closed = 0;

  constructor(logLimitLines: number, told: Told) {
    this.#told = told;
    this.#output = new OutputLines(logLimitLines, (stream, text) => {
      if (this.#speaker) this.#speaker.listener.line(stream, text);
      else told.onLine(stream, text);
    });
  }

  /** Given so far. */
  get total(): number {
    return this.#total;
  }

  /** Not over yet. */
  get length(): number {
    return this.#given.length;
  }

  /** Number of the last that is over. */
  get closed(): number {
    return this.#closed;
  }

  /** Has more been written than is kept? */
  get isFlooded(): boolean {
    return this.#output.isOverBudget;
  }

  add(listener: CallListener): Readonly<Given> {
    for (const [number, earlier] of this.#earlier) if (!earlier.goesOn()) this.#earlier.delete(number);
    this.#total += 1;
    const given: Given = { number: this.#total, listener, hasBegun: false, hasBeenRead: false };
    this.#given.push(given);
    if (this.#given.length === 1) this.#output.renew();
    return given;
  }

  began(number: number, atMs: number): void {
    const given = this.#find(number);
    if (!given) return;
    given.hasBegun = true;
    given.listener.began(atMs);
  }

  /** `bytes`: a part of a body, when the news has one. */
  outbound(news: OutboundHead, bytes: Uint8Array): void {
    const given = this.#given.find(({ number }) => number === news.number);
    (given?.listener ?? this.#earlier.get(news.number))?.outbound(news, bytes);
  }

  /**
   * Number of the call of which it is what the process' offspring does now; undefined when there is none. Such news comes another
   * way than the process' own: it may overtake that a call has begun, and be overtaken by its end.
   */
  get running(): number | undefined {
    const isRunning = ({ hasBegun, ending }: Given) => hasBegun && !ending;
    const given = this.#given.find(isRunning) ?? this.#given.findLast(({ ending }) => ending) ?? this.#given[0];
    return given?.number;
  }

  /** A line for the log of a call whose handler has not ended: its place is behind what was written before it. */
  note(note: NoteHead): void {
    if (this.#find(note.number)) this.#notes.push(note);
    this.#tellNotes(({ writtenBytes }) => writtenBytes <= this.#toldBytes);
  }

  /** A handler has ended. */
  ended(ending: Ending & { kind: 'outcome' }): void {
    const given = this.#find(ending.head.number);
    if (given) this.#end(given, ending);
  }

  /** The process says that these will not begin there. */
  giveBack(numbers: readonly number[]): void {
    for (const number of numbers) {
      const given = this.#find(number);
      if (!given || given.hasBegun) continue;
      this.#given.splice(this.#given.indexOf(given), 1);
      given.listener.ended({ kind: 'withdrawn' });
    }
  }

  /** The process is no more. */
  lose(failure: LambdaFailure): void {
    this.#claim();
    if (this.#given.length === 0) this.endOutput(undefined);
    for (const given of this.#given) {
      if (!given.ending) this.#end(given, { kind: 'gone', failure, hasBegun: given.hasBegun });
    }
  }

  /** Takes what the process has written. */
  write(stream: LogLine['stream'], chunk: Buffer): void {
    this.#unclaimed.push({ stream, chunk });
    // Where calls lie ready, whose it is shows when their outcomes have been read, too.
    if (this.#given.length <= 1) this.#claim();
    else this.#concludeSoon();
  }

  /** What is written from now on is of another call, or of none. */
  endOutput(given: Given | undefined): void {
    this.#speaker = given;
    this.#output.flush();
    this.#speaker = undefined;
    this.#output.renew();
  }

  /** A call whose handler has not ended. */
  #find(number: number): Given | undefined {
    return this.#given.find((given) => given.number === number && !given.ending);
  }

  /** Tells what has been read to whom it belongs: the first call that may have written it. */
  #claim(): void {
    if (this.#unclaimed.length === 0) return;
    for (const { stream, chunk } of this.#unclaimed.splice(0)) {
      this.#speaker = this.#given.find(({ ending }) => !isSilent(ending)) ?? this.#given.at(-1);
      this.#output.take(stream, chunk);
      this.#toldBytes += chunk.length;
    }
    this.#speaker = undefined;
    this.#tellNotes(({ writtenBytes }) => writtenBytes <= this.#toldBytes);
  }

  #tellNotes(isDue: (note: NoteHead) => boolean): void {
    if (this.#notes.length === 0) return;
    const due = this.#notes.filter(isDue);
    this.#notes = this.#notes.filter((note) => !isDue(note));
    for (const { number, message } of due)
      this.#given.find((given) => given.number === number)?.listener.noted(message);
  }

  #end(given: Given, ending: Ending): void {
    given.ending = ending;
    this.#concludeSoon();
  }

  /**
   * What the process wrote before it answered comes by other pipes. It has arrived with the answer, but this turn of the event loop
   * reads it only when it had before the turn began: news of before may have woken us, and the answer have been read with them.
   */
  #concludeSoon(): void {
    this.#conclusion ??= setImmediate(() => {
      this.#conclusion = undefined;
      if (this.#waitsForOutput()) return this.#concludeSoon();
      this.#claim();
      for (let first = this.#given[0]; first?.ending; first = this.#given[0]) this.#conclude(first, first.ending);
      this.#told.concluded();
    });
  }

  /** Has a call ended in this turn that has written something? The next turn reads all of that. */
  #waitsForOutput(): boolean {
    let waits = false;
    for (const given of this.#given) {
      if (given.hasBeenRead || given.ending?.kind !== 'outcome' || isSilent(given.ending)) continue;
      given.hasBeenRead = true;
      waits = true;
    }
    return waits;
  }

  #conclude(given: Given, ending: Ending): void {
    this.endOutput(given);
    this.#tellNotes(({ number }) => number === given.number);
    this.#given.shift();
    this.#closed = given.number;
    if (ending.kind === 'outcome' && ending.head.hasWritten && this.#given.length > 0) this.#told.goOn(this.#closed);
    if (given.listener.goesOn()) this.#earlier.set(given.number, given.listener);
    given.listener.ended(ending);
  }
}

/** Has a call ended that wrote nothing, as its process says? */
function isSilent(ending: Ending | undefined): boolean {
  return ending?.kind === 'outcome' && !ending.head.hasWritten;
}
