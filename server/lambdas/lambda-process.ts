import type { ChildProcess } from 'node:child_process';
import type { Duplex } from 'node:stream';
import { ZodError } from 'zod';
import { MAX_CAPTURED_BYTES } from '../model/exchange-record.ts';
import type { LogLine } from '../model/invocation.ts';
import type { OutboundRule } from '../model/outbound-rule.ts';
import { describeExit } from './exit-text.ts';
import { type Frame, FrameError, FrameReader, writeFrame, writeFrameOf } from './frames.ts';
import { type CallListener, GivenCalls } from './given-calls.ts';
import { LambdaFailure } from './lambda-failure.ts';
import { type GroupOptions, killGroup, startGroup } from './process-group.ts';
import {
  inspectingHead,
  messageHead,
  noteHead,
  type OutboundNews,
  outboundHead,
  readBegan,
  readOutcome,
  withdrawnHead,
} from './process-messages.ts';
import {
  CALLS_FD,
  CONTROL_FD,
  FrameType,
  type GoOnHead,
  type InvokeHead,
  type LoadHead,
  type RulesHead,
} from './protocol.ts';
import type { Reaper } from './reaper.ts';

/** How a process is started and what it may do. */
export interface ProcessOptions extends GroupOptions {
  resultLimitBytes: number;
  logLimitLines: number;
  reaper: Reaper;
}

/** What a process is given with a call; `members` is JSON of the rest of an `InvokeHead` (`contextMembers`). */
export interface GivenCall extends Pick<InvokeHead, 'executionId' | 'timeoutMs' | 'stopsFirst'> {
  members: string;
}

const STOPS_FIRST = ',"stopsFirst":true';

/** From the load frame to its answer: requires, top-level code, nothing that should take long. */
const LOAD_TIMEOUT_MS = 30_000;
/** After the end of a process, for the rest of its output: someone else may hold the other end of the pipe. */
const DRAIN_TIMEOUT_MS = 250;
/** From SIGKILL to the news of its end. */
const KILL_TIMEOUT_MS = 2_000;
/** A process that closed its channel is normally about to end. */
const CLOSED_CHANNEL_TIMEOUT_MS = 250;
/** Its own calls are numbered from 1 on. */
const FIRST_OFFSPRING_CALL = 1_000_000_000;
/** Enough for what Node prints when it runs out of memory. */
const STDERR_TAIL_BYTES = 8 * 1024;

/**
 * A lambda's process as the emulator sees it: generic at first, a lambda's own after `load`, then at work for one
 * call at a time (D-142), while others may lie ready. It is the leader of a process group, which ends with it. Nothing that it does, sends or writes throws here.
 */
export class LambdaProcess {
  /** Resolves with the reason when the process is no more. */
  readonly exited: Promise<LambdaFailure>;
  /** Resolves when a process that waits for its lambda has loaded ahead what it can. */
  readonly ready: Promise<void>;
  /** Told of each line that the process writes while it is at work for nobody. */
  onLine: (stream: LogLine['stream'], text: string) => void = () => {};
  /** Told where a debugger can attach, before the lambda is loaded. */
  onInspecting: (url: string) => void = () => {};
  /** Told when it starts a process or a thread for the first time. */
  onOffspring: () => void = () => {};

  readonly #child: ChildProcess;
  readonly #control: Duplex | undefined;
  readonly #calls: Duplex | undefined;
  readonly #reaper: Reaper;
  #loading: { resolve(): void; reject(failure: LambdaFailure): void } | undefined;
  readonly #given: GivenCalls;
  #unsent: NodeJS.Immediate | undefined;
  /** Calls that are made by what it has started, by who makes them. */
  readonly #offspringCalls = new WeakMap<object, Map<number, { id: number; number: number }>>();
  #lastOffspringCall = 0;
  #memoryMb: number;
  #isRoomy = false;
  #collected: (() => void)[] = [];
  #resolveExited: (why: LambdaFailure) => void = () => {};
  #resolveReady: () => void = () => {};
  #stderrTail: Buffer = Buffer.alloc(0);
  /** What nobody caught in it. */
  #uncaught: string | undefined;
  /** Why it was killed. */
  #killedFor: LambdaFailure | undefined;
  #end: LambdaFailure | undefined;

  constructor(options: ProcessOptions) {
    this.#memoryMb = options.memoryMb;
    this.#reaper = options.reaper;
    this.#given = new GivenCalls(options.logLimitLines, {
      onLine: (stream, text) => this.onLine(stream, text),
      goOn: (closed) => {
        if (this.isAlive) this.#send(FrameType.goOn, { closed });
      },
      concluded: () => this.#flush(),
    });
    this.#child = startGroup(options);
    // As: they are pipes open in both directions. There are no streams at all when the system has run out of descriptors.
    this.#control = this.#child.stdio?.[CONTROL_FD] as Duplex | undefined;
    this.#calls = this.#child.stdio?.[CALLS_FD] as Duplex | undefined;
    this.exited = new Promise((resolve) => {
      this.#resolveExited = resolve;
    });
    this.ready = new Promise((resolve) => {
      this.#resolveReady = resolve;
    });
    this.#watchEnd();
    this.#watchStreams(new FrameReader(Math.max(options.resultLimitBytes, MAX_CAPTURED_BYTES)));
    // It says nothing; but reading it is what a call would wait for that is the first to be read.
    if (options.isSpare) this.#send(FrameType.goOn, { closed: 0 });
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** What it may have. */
  get memoryMb(): number {
    return this.#memoryMb;
  }

  /** May it have less than what its heap could hold? */
  get isRoomy(): boolean {
    return this.#isRoomy;
  }

  /** Calls that it has been given so far. */
  get calls(): number {
    return this.#given.total;
  }

  /** Can it be given work? */
  get isAlive(): boolean {
    return !this.#end && !this.#killedFor;
  }

  /**
   * Makes it the process of a lambda that may have so much memory, at most what it was started with. Rejects with LambdaFailure when
   * the code cannot be loaded; the process is killed then.
   */
  async load(head: LoadHead, memoryMb: number): Promise<void> {
    if (this.#end) throw this.#end;
    this.#isRoomy = memoryMb < this.#memoryMb;
    this.#memoryMb = memoryMb;
    // Whoever debugs it may have stopped it on its first line.
    const timer = head.isDebugged
      ? undefined
      : setTimeout(() => {
          const seconds = LOAD_TIMEOUT_MS / 1_000;
          this.kill(
            new LambdaFailure('load', `the code did not finish loading within ${seconds} s; look at its top level`),
          );
        }, LOAD_TIMEOUT_MS);
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
      this.#given.endOutput(undefined);
    }
  }

  /** Has its handler called, at once or when the calls before it are over. After `load`. */
  call({ executionId, members, timeoutMs, stopsFirst }: GivenCall, body: Uint8Array, listener: CallListener): void {
    const { closed } = this.#given;
    const { number } = this.#given.add(listener);
    if (this.#end) {
      this.#given.lose(this.#end);
      return;
    }
    const own = `"number":${number},"closed":${closed},"timeoutMs":${timeoutMs},"executionId":"${executionId}"`;
    const channel = this.#corked();
    if (channel) writeFrameOf(channel, FrameType.invoke, `{${own},${members}${stopsFirst ? STOPS_FIRST : ''}}`, body);
  }

  /** News of a call that something makes which it has started; it belongs to the call that ran when it began. */
  takeNews(from: object, { id, ...news }: OutboundNews, bytes: Uint8Array): void {
    const known = this.#offspringCalls.get(from) ?? new Map<number, { id: number; number: number }>();
    this.#offspringCalls.set(from, known);
    const { running } = this.#given;
    if (news.method !== undefined && running !== undefined) {
      this.#lastOffspringCall += 1;
      known.set(id, { id: FIRST_OFFSPRING_CALL + this.#lastOffspringCall, number: running });
    }
    const call = known.get(id);
    if (!call || !this.isAlive) return;
    this.#given.outbound({ ...news, ...call }, bytes);
    if (news.ended) known.delete(id);
  }

  /** Asks for the calls back that lie ready. Those that have not begun by then end as `withdrawn`. */
  withdraw(): void {
    if (this.isAlive && this.#given.length > 1) this.#send(FrameType.withdraw, {});
  }

  /** Resolves when it has thrown away what it does not hold any more; never when it is too busy for that until its end. */
  collectGarbage(): Promise<void> {
    return new Promise((resolve) => {
      this.#collected.push(resolve);
      if (this.isAlive) this.#send(FrameType.collect, {});
    });
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
    setTimeout(() => setImmediate(() => this.#gone(why)), KILL_TIMEOUT_MS).unref();
  }

  #send(type: number, head: LoadHead | RulesHead | GoOnHead | Record<string, never>): void {
    const channel = this.#corked();
    if (channel) writeFrame(channel, type, head);
  }

  /** Calls that arrive in one turn, over whichever connections, are written in one: each write may wake the process. */
  #corked(): Duplex | undefined {
    if (this.#calls && !this.#unsent) {
      this.#calls.cork();
      this.#unsent = setImmediate(() => this.#flush());
    }
    return this.#calls;
  }

  #flush(): void {
    if (!this.#unsent) return;
    clearImmediate(this.#unsent);
    this.#unsent = undefined;
    this.#calls?.uncork();
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
      // What has arrived by then is still read: it says which calls had begun.
      const timer = setTimeout(() => setImmediate(conclude), DRAIN_TIMEOUT_MS);
      child.once('close', conclude);
    });
  }

  #gone(failure: LambdaFailure): void {
    if (this.#end) return;
    this.#end = this.#killedFor ?? failure;
    this.#loading?.reject(this.#end);
    this.#given.lose(this.#end);
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
    for (const stream of [stdout, stderr, this.#control, this.#calls]) stream?.on('error', () => {});
    // Nothing comes here; only so its end is noticed.
    this.#calls?.resume();
  }

  #write(stream: LogLine['stream'], chunk: Buffer): void {
    this.#given.write(stream, chunk);
    if (this.#loading || this.#given.length > 0 || !this.#given.isFlooded) return;
    this.kill(new LambdaFailure('crash', 'the lambda kept writing after it had answered'));
  }

  #read(frames: FrameReader, chunk: Buffer): void {
    if (this.#end) return;
    try {
      for (const frame of frames.push(chunk)) {
        // Of one that is being ended all that counts is which calls had begun: they are not to be run again.
        if (this.isAlive || frame.type === FrameType.began) this.#take(frame);
      }
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
      case FrameType.ready:
        this.#resolveReady();
        return;
      case FrameType.collected:
        for (const resolve of this.#collected.splice(0)) resolve();
        return;
      case FrameType.began: {
        const { number, atMs } = readBegan(head);
        this.#given.began(number, atMs);
        return;
      }
      case FrameType.outbound:
        this.#given.outbound(outboundHead.parse(head), body);
        return;
      case FrameType.note:
        this.#given.note(noteHead.parse(head));
        return;
      case FrameType.outcome:
        this.#given.ended({ kind: 'outcome', head: readOutcome(head), body });
        return;
      case FrameType.withdrawn:
        this.#given.giveBack(withdrawnHead.parse(head).numbers);
        return;
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
}
