import type { Duplex } from 'node:stream';
import { ZodError } from 'zod';
import { MAX_CAPTURED_BYTES } from '../../../model/exchange-record.ts';
import type { LogLine } from '../../../model/invocation.ts';
import type { OutboundRule } from '../../../model/outbound-rule.ts';
import { afterRunning } from '../../../system/clock.ts';
import { killOrphans, killTree, type ProcessReaper, signalGroup } from '../../../system/process-tree.ts';
import type { ChildProcess } from '../../../system/programs.ts';
import { LambdaFailure } from '../lambda-failure.ts';
import { type Frame, FrameError, FrameReader, writeFrame, writeFrameOf } from './frames.ts';
import { type CallListener, InFlightCalls } from './in-flight-calls.ts';
import { type GroupOptions, SPARE, startGroup } from './process-group.ts';
import {
  countCallHead,
  describeExit,
  inspectingHead,
  memoryHead,
  messageHead,
  noteHead,
  type OutboundNews,
  outboundHead,
  readBegan,
  readOutcome,
  recalledHead,
  type SubprocessHead,
  subprocessHead,
} from './process-messages.ts';
import { CALLS_FD, CONTROL_FD, type CommandHeads, FrameType, type InvokeHead, type LoadHead } from './protocol.ts';

export interface ProcessOptions extends GroupOptions {
  resultLimitBytes: number;
  logLimitLines: number;
  reaper: ProcessReaper;
  /** Returns the number of a call that an outbound rule has matched. */
  countCall(ruleId: string): number;
}

/** The data of one call for a process; `members` is the JSON of the rest of an `InvokeHead` (`headMembers`). */
export interface ProcessCall extends Pick<InvokeHead, 'executionId' | 'timeoutMs' | 'stopsFirst'> {
  members: string;
}

const STOPS_FIRST = ',"stopsFirst":true';

/** From the load frame to its answer: requires, top-level code, nothing that should take long. */
const LOAD_TIMEOUT_MS = 30_000;
/** Time for the rest of the output after the process has ended: another process may have the pipe open. */
const DRAIN_TIMEOUT_MS = 250;
const KILL_TIMEOUT_MS = 2_000;
/** A process that closed its channel is normally about to end. */
const CLOSED_CHANNEL_TIMEOUT_MS = 250;
/** Its own calls are numbered from 1 on. */
const FIRST_SUBPROCESS_CALL = 1_000_000_000;
/** Enough for what Node prints when it runs out of memory. */
const STDERR_TAIL_BYTES = 8 * 1024;

/** Generic at first, a lambda's own after `load`, then at work for one call at a time (D-142). Leads a process group. Nothing throws here. */
export class LambdaProcess {
  readonly exited: Promise<LambdaFailure>;
  /** Resolves when a process that waits for its lambda has loaded ahead what it can. */
  readonly ready: Promise<void>;
  onLine: (stream: LogLine['stream'], text: string) => void = () => {};
  onLate: (executionId: string, text: string) => void = () => {};
  /** Called with the address where a debugger can attach, before the lambda is loaded. */
  onInspecting: (url: string) => void = () => {};
  /** True if the handler has returned a value that is the result at the timeout (D-138). */
  hasReturned = false;
  reportedMb: number | undefined;
  memoryMb: number;
  /** True if the heap can hold more than the lambda may have. */
  isRoomy = false;
  /** False from `collectGarbage` until the process has discarded unreferenced memory; a busy one does so at its end. */
  hasCollected: boolean | undefined;
  onSubprocess: () => void = () => {};

  readonly #child: ChildProcess;
  readonly #control: Duplex | undefined;
  readonly #calls: Duplex | undefined;
  readonly #reaper: ProcessReaper;
  #loading: { resolve(): void; reject(failure: LambdaFailure): void } | undefined;
  readonly #inFlight: InFlightCalls;
  #unsent: NodeJS.Immediate | undefined;
  /** Calls that subprocesses of the lambda make, by subprocess. */
  readonly #subprocessCalls = new WeakMap<object, Map<number, { id: number; number: number }>>();
  #lastSubprocessCall = 0;
  readonly #started = new Set<number>();
  /** Returns the number of a call that a rule has matched. */
  readonly #countCall: (ruleId: string) => number;
  #resolveExited: (why: LambdaFailure) => void = () => {};
  #resolveReady: () => void = () => {};
  #stderrTail: Buffer = Buffer.alloc(0);
  #uncaught: string | undefined;
  #killedFor: LambdaFailure | undefined;
  #end: LambdaFailure | undefined;

  constructor(options: ProcessOptions) {
    this.memoryMb = options.fields.memoryMb;
    this.#reaper = options.reaper;
    this.#countCall = options.countCall;
    this.#inFlight = new InFlightCalls(options.logLimitLines, {
      onLine: (stream, text) => this.onLine(stream, text),
      onLate: (executionId, text) => this.onLate(executionId, text),
      goOn: (closed) => this.#send(FrameType.goOn, { closed }),
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
    if (options.fields === SPARE) this.#send(FrameType.goOn, { closed: 0 });
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  get calls(): number {
    return this.#inFlight.total;
  }

  get isAlive(): boolean {
    return !this.#end && !this.#killedFor;
  }

  /** Loads a lambda, with at most the memory it was started with. Rejects with LambdaFailure and kills the process if that fails. */
  async load(head: LoadHead, memoryMb: number): Promise<void> {
    if (this.#end) throw this.#end;
    this.isRoomy = memoryMb < this.memoryMb;
    this.memoryMb = memoryMb;
    // A debugger may have stopped it on its first line.
    const timer = head.isDebugged
      ? undefined
      : afterRunning(LOAD_TIMEOUT_MS, () => {
          const seconds = LOAD_TIMEOUT_MS / 1_000;
          this.kill(
            new LambdaFailure('load', `the code did not finish loading within ${seconds} s; check its top-level code`),
          );
        });
    try {
      await new Promise<void>((resolve, reject) => {
        this.#loading = { resolve, reject };
        this.#send(FrameType.load, head);
      });
    } catch (thrown) {
      this.kill();
      throw thrown;
    } finally {
      timer?.stop();
      this.#loading = undefined;
      this.#inFlight.endOutput(undefined);
    }
  }

  /** Calls the handler, at once or when the calls before it are over. Call it after `load`. */
  call({ executionId, members, timeoutMs, stopsFirst }: ProcessCall, body: Uint8Array, listener: CallListener): void {
    const { closed } = this.#inFlight;
    const { number } = this.#inFlight.add(listener);
    if (this.#end) {
      this.#inFlight.lose(this.#end);
      return;
    }
    const ownMembers = `"number":${number},"closed":${closed},"timeoutMs":${timeoutMs},"executionId":"${executionId}"`;
    const channel = this.#corked();
    if (channel)
      writeFrameOf(channel, FrameType.invoke, `{${ownMembers},${members}${stopsFirst ? STOPS_FIRST : ''}}`, body);
  }

  /** A report about a call of a subprocess; it belongs to the invocation that ran when the call started. */
  onReport(from: object, { id, ...update }: OutboundNews, bytes: Uint8Array): void {
    const openCalls = this.#subprocessCalls.get(from) ?? new Map<number, { id: number; number: number }>();
    this.#subprocessCalls.set(from, openCalls);
    const { running } = this.#inFlight;
    if (update.method !== undefined && running !== undefined) {
      this.#lastSubprocessCall += 1;
      openCalls.set(id, { id: FIRST_SUBPROCESS_CALL + this.#lastSubprocessCall, number: running });
    }
    const call = openCalls.get(id);
    if (!call || !this.isAlive) return;
    this.#inFlight.outbound({ ...update, ...call }, bytes);
    if (update.ended) openCalls.delete(id);
  }

  /** Withdraws the queued calls. Those that have not started end as `withdrawn`. */
  recall(): void {
    if (this.#inFlight.length > 1) this.#send(FrameType.recall, {});
  }

  collectGarbage(): void {
    this.hasCollected = false;
    this.#send(FrameType.collect, {});
  }

  changeRules(rules: readonly OutboundRule[]): void {
    this.#send(FrameType.rules, { rules });
  }

  changeClock(aheadMs: number): void {
    this.#send(FrameType.clock, { aheadMs });
  }

  /** Ends it and all its subprocesses at once. `why` becomes the failure of its running calls. */
  kill(why = new LambdaFailure('interrupted', 'the process is no longer needed')): void {
    if (this.#end) return;
    this.#killedFor ??= why;
    if (this.#inFlight.hasSubprocesses) void killTree(this.#child);
    else signalGroup(this.#child, 'SIGKILL');
    // Nothing survives SIGKILL, but a process can be stuck in the kernel; no caller has to wait for that.
    setTimeout(() => setImmediate(() => this.#onExit(why)), KILL_TIMEOUT_MS).unref();
  }

  #endStarted(): void {
    void killOrphans([...this.#started]);
    this.#started.clear();
  }

  #noteStarted({ pid, ended }: SubprocessHead): void {
    if (!this.#inFlight.hasSubprocesses) this.onSubprocess();
    this.#inFlight.hasSubprocesses = true;
    if (ended && pid !== undefined) this.#started.delete(pid);
    else if (pid !== undefined) this.#started.add(pid);
  }

  #send(type: number, head: LoadHead | CommandHeads[keyof CommandHeads] | Record<string, never>): void {
    const channel = this.isAlive ? this.#corked() : undefined;
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
      this.#onExit(new LambdaFailure('crash', `no process could be started: ${error.message}`));
    });
    child.once('exit', (code, signal) => {
      this.#endStarted();
      signalGroup(this.#child, 'SIGKILL');
      if (child.pid !== undefined) this.#reaper.remove(child.pid);
      const conclude = (): void => {
        clearTimeout(timer);
        this.#endStarted();
        const stderrTail = this.#stderrTail.toString('latin1');
        const exit = { code, signal, stderrTail, uncaught: this.#uncaught, memoryMb: this.memoryMb };
        this.#onExit(new LambdaFailure('crash', describeExit(exit)));
      };
      // Reads the remaining input first: it says which calls had started.
      const timer = setTimeout(() => setImmediate(conclude), DRAIN_TIMEOUT_MS);
      child.once('close', conclude);
    });
  }

  #onExit(failure: LambdaFailure): void {
    if (this.#end) return;
    this.#end = this.#killedFor ?? failure;
    this.#loading?.reject(this.#end);
    this.#inFlight.lose(this.#end);
    this.#resolveExited(this.#end);
    // Another process may have the other ends of the streams open. They must not keep this process alive.
    const { stdout, stderr } = this.#child;
    for (const stream of [stdout, stderr, this.#control, this.#calls]) stream?.destroy();
    this.#child.unref();
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
    const endUnlessEnded = (): void => {
      // How a process ended tells more than the end of its channel.
      if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
      const message = `the lambda closed file descriptor ${CONTROL_FD}, which the emulator needs`;
      this.kill(new LambdaFailure('crash', message));
    };
    this.#control?.on('close', () => setTimeout(() => setImmediate(endUnlessEnded), CLOSED_CHANNEL_TIMEOUT_MS));
    // Errors of broken pipes are ignored, because the end of the process reports the reason.
    for (const stream of [stdout, stderr, this.#control, this.#calls]) stream?.on('error', () => {});
    // Nothing comes here; only so its end is noticed.
    this.#calls?.resume();
  }

  #write(stream: LogLine['stream'], chunk: Buffer): void {
    this.#inFlight.write(stream, chunk);
    if (this.#loading || this.#inFlight.length > 0 || !this.#inFlight.isFlooded) return;
    this.kill(new LambdaFailure('crash', 'the lambda kept writing after its result'));
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
      const problem = thrown instanceof FrameError ? thrown.message : 'a frame has a wrong head';
      const message = `the lambda wrote to file descriptor ${CONTROL_FD}, which is the emulator's: ${problem}`;
      this.kill(new LambdaFailure('crash', message));
    }
  }

  #take({ type, head, body }: Frame): void {
    const calls = this.#inFlight;
    if (type === FrameType.began) {
      this.hasReturned = false;
      calls.began(...readBegan(head));
    } else if (type === FrameType.returned) this.hasReturned = true;
    else if (type === FrameType.outcome) calls.ended({ kind: 'outcome', head: readOutcome(head), body });
    else if (type === FrameType.outbound) calls.outbound(outboundHead.parse(head), body);
    else if (type === FrameType.countCall) {
      const { request, ruleId } = countCallHead.parse(head);
      this.#send(FrameType.callNumber, { request, number: this.#countCall(ruleId) });
    } else if (type === FrameType.note) calls.note(noteHead.parse(head));
    else if (type === FrameType.recalled) calls.returnUnstarted(recalledHead.parse(head).numbers);
    else if (type === FrameType.loaded) this.#loading?.resolve();
    else if (type === FrameType.loadFailed)
      this.#loading?.reject(new LambdaFailure('load', messageHead.parse(head).message));
    else if (type === FrameType.ready) this.#resolveReady();
    else if (type === FrameType.collected) this.hasCollected = true;
    else if (type === FrameType.memory) this.reportedMb = memoryHead.parse(head).usedMb;
    else if (type === FrameType.inspecting) this.onInspecting(inspectingHead.parse(head).url);
    else if (type === FrameType.subprocess) this.#noteStarted(subprocessHead.parse(head));
    else if (type === FrameType.uncaught) this.#uncaught = messageHead.parse(head).message;
    else throw new FrameError(`frame type ${type} is unknown`);
  }
}
