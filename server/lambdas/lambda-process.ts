import type { ChildProcess } from 'node:child_process';
import type { Duplex } from 'node:stream';
import { ZodError } from 'zod';
import { MAX_CAPTURED_BYTES } from '../model/exchange-record.ts';
import type { LogLine } from '../model/invocation.ts';
import type { OutboundRule } from '../model/outbound-rule.ts';
import { describeExit } from './exit-text.ts';
import { type Frame, FrameError, FrameReader, writeFrame } from './frames.ts';
import { LambdaFailure } from './lambda-failure.ts';
import { OutputLines } from './output-lines.ts';
import { type GroupOptions, killGroup, startGroup } from './process-group.ts';
import { beganHead, inspectingHead, messageHead, noteHead, outboundHead, outcomeHead } from './process-messages.ts';
import {
  CONTROL_FD,
  FrameType,
  type InvokeHead,
  type LoadHead,
  type OutboundHead,
  type OutcomeHead,
  type RulesHead,
} from './protocol.ts';
import type { Reaper } from './reaper.ts';

/** How a process is started and what it may do. */
export interface ProcessOptions extends GroupOptions {
  resultLimitBytes: number;
  logLimitLines: number;
  reaper: Reaper;
}

/** How a call ended: with the handler's outcome, or because the process did. */
export type Ending = { kind: 'outcome'; head: OutcomeHead; body: Buffer } | { kind: 'gone'; failure: LambdaFailure };

/** Told of one call while it runs. `ended` comes last and once. */
export interface CallListener {
  began(): void;
  /** `bytes`: a part of a body, when the news has one. */
  outbound(news: OutboundHead, bytes: Uint8Array): void;
  /** Is it still to be told of outbound calls after its end? */
  goesOn(): boolean;
  /** A line about it for the log. */
  noted(text: string): void;
  ended(ending: Ending): void;
}

/** From the load frame to its answer: requires, top-level code, nothing that should take long. */
const LOAD_TIMEOUT_MS = 30_000;
/** After the end of a process, for the rest of its output: someone else may hold the other end of the pipe. */
const DRAIN_TIMEOUT_MS = 250;
/** From SIGKILL to the news of its end. */
const KILL_TIMEOUT_MS = 2_000;
/** A process that closed its channel is normally about to end. */
const CLOSED_CHANNEL_TIMEOUT_MS = 250;
/** Enough for what Node prints when it runs out of memory. */
const STDERR_TAIL_BYTES = 8 * 1024;

/**
 * A lambda's process as the emulator sees it: generic at first, a lambda's own after `load`, then one call at a time
 * (D-142). It is the leader of a process group, which ends with it. Nothing that it does, sends or writes throws here.
 */
export class LambdaProcess {
  readonly memoryMb: number;
  /** Resolves with the reason when the process is no more. */
  readonly exited: Promise<LambdaFailure>;
  /** Told of each line that the process writes. */
  onLine: (stream: LogLine['stream'], text: string) => void = () => {};
  /** Told where a debugger can attach, before the lambda is loaded. */
  onInspecting: (url: string) => void = () => {};
  /** Told when it starts a process or a thread for the first time. */
  onOffspring: () => void = () => {};

  readonly #child: ChildProcess;
  readonly #control: Duplex | undefined;
  readonly #reaper: Reaper;
  readonly #output: OutputLines;
  #loading: { resolve(): void; reject(failure: LambdaFailure): void } | undefined;
  #listener: CallListener | undefined;
  /** Calls that have ended while something they had sent was under way. */
  readonly #earlier = new Map<number, CallListener>();
  #resolveExited: (why: LambdaFailure) => void = () => {};
  #calls = 0;
  /** Loading, or at work for a call, or still delivering what it wrote meanwhile. */
  #isBusy = false;
  #stderrTail: Buffer = Buffer.alloc(0);
  /** What nobody caught in it. */
  #uncaught: string | undefined;
  /** Why it was killed. */
  #killedFor: LambdaFailure | undefined;
  #end: LambdaFailure | undefined;

  constructor(options: ProcessOptions) {
    this.memoryMb = options.memoryMb;
    this.#reaper = options.reaper;
    this.#output = new OutputLines(options.logLimitLines, (stream, text) => this.onLine(stream, text));
    this.#child = startGroup(options);
    // As: it is a pipe open in both directions. There are no streams at all when the system has run out of descriptors.
    this.#control = this.#child.stdio?.[CONTROL_FD] as Duplex | undefined;
    this.exited = new Promise((resolve) => {
      this.#resolveExited = resolve;
    });
    this.#watchEnd();
    this.#watchStreams(new FrameReader(Math.max(options.resultLimitBytes, MAX_CAPTURED_BYTES)));
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** Calls begun so far. */
  get calls(): number {
    return this.#calls;
  }

  /** Can it be given work? */
  get isAlive(): boolean {
    return !this.#end && !this.#killedFor;
  }

  /** Makes it the process of a lambda. Rejects with LambdaFailure when the code cannot be loaded; the process is killed then. */
  async load(head: LoadHead): Promise<void> {
    if (this.#end) throw this.#end;
    // Whoever debugs it may have stopped it on its first line.
    const timer = head.isDebugged
      ? undefined
      : setTimeout(() => {
          const seconds = LOAD_TIMEOUT_MS / 1_000;
          this.kill(
            new LambdaFailure('load', `the code did not finish loading within ${seconds} s; look at its top level`),
          );
        }, LOAD_TIMEOUT_MS);
    this.#isBusy = true;
    try {
      await new Promise<void>((resolve, reject) => {
        this.#loading = { resolve, reject };
        this.#send(FrameType.load, head);
      });
    } catch (thrown) {
      this.kill();
      throw thrown;
    } finally {
      clearTimeout(timer);
      this.#loading = undefined;
      this.#rest();
    }
  }

  /** Has its handler called. One call at a time, after `load`. */
  call(context: InvokeHead['context'], body: Uint8Array, listener: CallListener): void {
    for (const [number, earlier] of this.#earlier) if (!earlier.goesOn()) this.#earlier.delete(number);
    this.#calls += 1;
    this.#listener = listener;
    this.#isBusy = true;
    this.#output.renew();
    if (this.#end) this.#ended({ kind: 'gone', failure: this.#end });
    else this.#send(FrameType.invoke, { number: this.#calls, context }, body);
  }

  /** Other rules about outbound calls hold from its next call on. */
  changeRules(rules: readonly OutboundRule[]): void {
    if (this.isAlive) this.#send(FrameType.rules, { rules });
  }

  /** Ends it and everything it started, at once. `why` becomes the failure of what it was doing, if it was doing anything. */
  kill(why = new LambdaFailure('interrupted', 'the process is no longer needed')): void {
    if (this.#end) return;
    this.#killedFor ??= why;
    killGroup(this.#child);
    // Nothing survives SIGKILL, but a process can be stuck in the kernel; nobody has to wait for that.
    setTimeout(() => this.#gone(why), KILL_TIMEOUT_MS).unref();
  }

  #send(type: number, head: LoadHead | InvokeHead | RulesHead, body?: Uint8Array): void {
    if (this.#control) writeFrame(this.#control, type, head, body);
  }

  #watchEnd(): void {
    const child = this.#child;
    if (child.pid !== undefined) this.#reaper.add(child.pid);
    child.once('error', (error) => {
      // With a number it is alive, and only a signal could not be sent.
      if (child.pid !== undefined) return;
      this.#gone(new LambdaFailure('crash', `no process could be started: ${error.message}`));
    });
    child.once('exit', (code, signal) => {
      killGroup(this.#child);
      if (child.pid !== undefined) this.#reaper.remove(child.pid);
      const conclude = (): void => {
        clearTimeout(timer);
        const stderrTail = this.#stderrTail.toString('latin1');
        const exit = { code, signal, stderrTail, uncaught: this.#uncaught, memoryMb: this.memoryMb };
        this.#gone(new LambdaFailure('crash', describeExit(exit)));
      };
      const timer = setTimeout(conclude, DRAIN_TIMEOUT_MS);
      child.once('close', conclude);
    });
  }

  #gone(failure: LambdaFailure): void {
    if (this.#end) return;
    this.#end = this.#killedFor ?? failure;
    this.#output.flush();
    this.#loading?.reject(this.#end);
    this.#ended({ kind: 'gone', failure: this.#end });
    this.#resolveExited(this.#end);
  }

  #watchStreams(frames: FrameReader): void {
    const { stdout, stderr } = this.#child;
    stdout?.on('data', (chunk: Buffer) => this.#write('stdout', chunk));
    stderr?.on('data', (chunk: Buffer) => {
      this.#stderrTail = Buffer.concat([this.#stderrTail, chunk.subarray(-STDERR_TAIL_BYTES)]).subarray(
        -STDERR_TAIL_BYTES,
      );
      this.#write('stderr', chunk);
    });
    this.#control?.on('data', (chunk: Buffer) => this.#read(frames, chunk));
    this.#control?.on('close', () => {
      setTimeout(() => {
        this.kill(
          new LambdaFailure('crash', `the lambda closed file descriptor ${CONTROL_FD}, which the emulator needs`),
        );
      }, CLOSED_CHANNEL_TIMEOUT_MS);
    });
    // Broken pipes: the end of the process tells all there is to tell.
    for (const stream of [stdout, stderr, this.#control]) stream?.on('error', () => {});
  }

  #write(stream: LogLine['stream'], chunk: Buffer): void {
    this.#output.take(stream, chunk);
    if (!this.#isBusy && this.#output.isOverBudget) {
      this.kill(new LambdaFailure('crash', 'the lambda kept writing after it had answered'));
    }
  }

  #read(frames: FrameReader, chunk: Buffer): void {
    if (!this.isAlive) return;
    try {
      for (const frame of frames.push(chunk)) this.#take(frame);
    } catch (thrown) {
      if (!(thrown instanceof FrameError || thrown instanceof ZodError)) throw thrown;
      const what = thrown instanceof FrameError ? thrown.message : 'a frame has a wrong head';
      const message = `the lambda wrote to file descriptor ${CONTROL_FD}, which is the emulator's: ${what}`;
      this.kill(new LambdaFailure('crash', message));
    }
  }

  #take({ type, head, body }: Frame): void {
    switch (type) {
      case FrameType.loaded:
        this.#loading?.resolve();
        return;
      case FrameType.loadFailed:
        this.#loading?.reject(new LambdaFailure('load', messageHead.parse(head).message));
        return;
      case FrameType.began:
        if (beganHead.parse(head).number === this.#calls) this.#listener?.began();
        return;
      case FrameType.outbound: {
        const news = outboundHead.parse(head);
        const isCurrent = news.number === this.#calls && this.#listener;
        (isCurrent || this.#earlier.get(news.number))?.outbound(news, body);
        return;
      }
      case FrameType.note: {
        const note = noteHead.parse(head);
        if (note.number === this.#calls) this.#listener?.noted(note.message);
        return;
      }
      case FrameType.outcome: {
        const outcome = outcomeHead.parse(head);
        if (outcome.number === this.#calls) this.#ended({ kind: 'outcome', head: outcome, body });
        return;
      }
      case FrameType.inspecting:
        this.onInspecting(inspectingHead.parse(head).url);
        return;
      case FrameType.offspring:
        this.onOffspring();
        return;
      case FrameType.uncaught:
        this.#uncaught = messageHead.parse(head).message;
        return;
      default:
        throw new FrameError(`there is no frame of type ${type}`);
    }
  }

  #ended(ending: Ending): void {
    const listener = this.#listener;
    this.#listener = undefined;
    if (listener?.goesOn()) this.#earlier.set(this.#calls, listener);
    // What the process wrote before it answered has arrived with the answer, but on other pipes: this turn of the event
    // loop still reads them. Only then the call is over.
    if (listener) {
      setImmediate(() => {
        this.#rest();
        listener.ended(ending);
      });
    }
  }

  /** What it writes from now on is of no call. */
  #rest(): void {
    this.#isBusy = false;
    this.#output.flush();
    this.#output.renew();
  }
}
