import type { Invocation, LambdaCall, LambdaValue, LogLine, Outcome } from '../model/invocation.ts';
import { isDebuggerTalk } from './debugging.ts';
import type { LambdaDefinition } from './lambda-definition.ts';
import { debuggingEnded, failed, type LambdaFailure, notStarted, timedOut } from './lambda-failure.ts';
import type { Ending, LambdaProcess } from './lambda-process.ts';
import type { OpenedProcess } from './lambda-processes.ts';
import { RunningCall } from './running-call.ts';

/** What a pool needs from the service around it. */
export interface PoolHost {
  readonly limits: { concurrency: number; queue: number; idleMs: number };
  nowMs(): number;
  /**
   * A process with the lambda loaded; it may have to wait for a place, and is undefined when it is not wanted any more by then.
   * `adopt` is given it as soon as it exists. Rejects with LambdaFailure.
   */
  open(
    definition: LambdaDefinition,
    adopt: (process: LambdaProcess) => void,
    isWanted: () => boolean,
  ): Promise<OpenedProcess | undefined>;
  /** Is there a place for a process that nobody waits for? */
  hasPlace(): boolean;
  /** Since when another process has been waited for, by whichever lambda, without anybody leaving for it. */
  awaitedSinceMs(): number | undefined;
  /** Lets processes without work leave for those that are waited for. */
  makeRoom(): void;
  /** A line was written, by the lambda or about it. */
  onLine(lambdaId: string, line: LogLine): void;
  /** A call was accepted; it ends with `onInvocation`. */
  onBegin(running: RunningCall, lambda: LambdaDefinition): void;
  onInvocation(invocation: Invocation, call: LambdaCall): void;
}

/** A process that has the lambda loaded. */
interface Worker {
  process: LambdaProcess;
  /** Of the definition that it was made for. */
  fingerprint: string;
  /** Of the package's content that it has. */
  revision: string;
  /** When it was ready, in the order of the pool's events. */
  order: number;
  idleTimer: NodeJS.Timeout;
  /** When it was given its last work back. */
  idleSinceMs: number;
}

/**
 * While at least one process is at work, a call waits this long for it to become free before others are started: short
 * handlers are served by few processes, long ones soon have as many as they need.
 */
const GROW_AFTER_MS = 10;

/** Whoever debugs a handler takes the time it takes; by the end of the day it is forgotten. */
const DEBUGGED_TIMEOUT_MS = 24 * 60 * 60_000;

/** The processes of one lambda and the calls that wait for them (D-142). */
export class LambdaPool {
  readonly #host: PoolHost;
  #definition: LambdaDefinition;
  /** Of the package's content, when a process was last started. */
  #revision = '';
  readonly #waiting: RunningCall[] = [];
  readonly #running = new Map<LambdaProcess, RunningCall>();
  /** Every process there is, loaded or not. */
  readonly #processes = new Set<LambdaProcess>();
  readonly #workers = new Set<Worker>();
  /** Calls that are answered, and whose records are not closed yet. */
  readonly #open = new Map<RunningCall, Promise<void>>();
  /** Last used last. */
  readonly #idle: Worker[] = [];
  /** Places in the queue for calls that are about to come. */
  #held = 0;
  /** Processes that are being made ready. */
  #starting = 0;
  #growTimer: NodeJS.Timeout | undefined;
  #events = 0;
  /** Definition whose processes end without having done anything: no use in keeping any ready. */
  #hopeless: string | undefined;
  #closedFor: LambdaFailure | undefined;

  constructor(host: PoolHost, definition: LambdaDefinition) {
    this.#host = host;
    this.#definition = definition;
    this.#keepWarm();
  }

  /** Does it have processes without having calls? */
  get keepsWarm(): boolean {
    return this.#definition.preWarm > 0;
  }

  /** What holds from the next invocation on. */
  get definition(): LambdaDefinition {
    return this.#definition;
  }

  get stats(): { running: number; waiting: number } {
    return { running: this.#running.size, waiting: this.#waiting.length };
  }

  /** Since when its idlest process has had no work; undefined when all have some. */
  get idleSinceMs(): number | undefined {
    return this.#idle[0]?.idleSinceMs;
  }

  /** Ends that process. */
  endIdlest(): void {
    const [idlest] = this.#idle;
    if (idlest) this.#retire(idlest);
  }

  /** `busy` when neither a process nor a place in the queue is left. */
  refusal(): Outcome | undefined {
    const [concurrency, { queue }] = [this.#concurrency, this.#host.limits];
    if (this.#running.size + this.#waiting.length + this.#held < concurrency + queue) return undefined;
    const message = `lambda '${this.#definition.name}' is busy: ${concurrency} calls run and ${queue} wait; try again in a second`;
    return failed({ failure: 'busy', message });
  }

  /** Keeps a place for a call that is about to come, until what is returned is called. */
  holdPlace(): () => void {
    this.#held += 1;
    return () => {
      this.#held -= 1;
    };
  }

  /** Resolves with the record of the invocation, however it went. */
  invoke(call: LambdaCall): Promise<Invocation> {
    this.#events += 1;
    const running = new RunningCall(call, this.#host.nowMs(), this.#events);
    const refused = this.#closedFor ? failed(this.#closedFor) : this.refusal();
    if (refused) this.#finish(running, refused);
    else {
      this.#host.onBegin(running, this.#definition);
      this.#waiting.push(running);
      this.#pump();
    }
    return running.done;
  }

  /** From the next invocation on this definition holds; running ones finish with the old (D-057, D-114). */
  update(definition: LambdaDefinition): void {
    const before = this.#definition;
    this.#definition = definition;
    if (before.isDebugged && !definition.isDebugged) this.#endDebugging(before.fingerprint);
    this.#retireOld();
    this.#keepWarm();
  }

  /** Ends everything at once; what runs or waits ends with that failure. Resolves when all processes are gone. */
  async close(failure: LambdaFailure): Promise<void> {
    this.#closedFor = failure;
    clearTimeout(this.#growTimer);
    this.#pump();
    const ends = [...this.#running.values()].map(({ done }) => done);
    for (const process of this.#processes) process.kill(failure);
    for (const running of this.#open.keys()) running.closeRecord();
    await Promise.all([...ends, ...this.#open.values(), ...[...this.#processes].map(({ exited }) => exited)]);
  }

  /** Is there a process that has been or can be given calls? */
  get #hasWorkers(): boolean {
    return [...this.#workers].some((worker) => worker.process.isAlive && this.#isCurrent(worker));
  }

  get #room(): number {
    return this.#concurrency - this.#starting - this.#workers.size;
  }

  get #concurrency(): number {
    return this.#definition.isDebugged ? 1 : this.#host.limits.concurrency;
  }

  /** Was it made for the definition that holds, and of the content that its package has now? */
  #isCurrent({ fingerprint, revision }: Worker): boolean {
    return fingerprint === this.#definition.fingerprint && revision === this.#revision;
  }

  #retireOld(): void {
    for (const worker of [...this.#idle]) if (!this.#isCurrent(worker)) this.#retire(worker);
  }

  /** What stands at a breakpoint, in the handler or while it is loaded, would stand there forever. */
  #endDebugging(fingerprint: string): void {
    const others = new Set<LambdaProcess>();
    for (const worker of this.#workers) if (worker.fingerprint !== fingerprint) others.add(worker.process);
    for (const process of this.#processes) if (!others.has(process)) process.kill(debuggingEnded());
  }

  /** Gives work to those that have none, and sees to it that there are enough of them. */
  #pump(): void {
    if (this.#closedFor) this.#failWaiting(this.#closedFor);
    while (this.#waiting.length > 0) {
      const worker = this.#idle.pop();
      // Killed a moment ago; its end is still to be heard of.
      if (worker && !worker.process.isAlive) continue;
      const running = worker && this.#waiting.shift();
      if (!running) break;
      this.#run(worker, running);
    }
    if (this.#waiting.length > 0) this.#grow();
  }

  #grow(): void {
    if (this.#definition.isIsolated) this.#startFor(this.#waiting.length);
    else if (this.#starting === 0 && !this.#hasWorkers) this.#startFor(1);
    else {
      const [longest] = this.#waiting;
      this.#growTimer ??= setTimeout(() => this.#growIfStuck(longest), GROW_AFTER_MS);
    }
  }

  /** Is the call that waited longest a while ago still waiting, and nobody under way who might take it? */
  #growIfStuck(call: RunningCall | undefined): void {
    this.#growTimer = undefined;
    if (call && this.#waiting[0] === call && this.#starting === 0) this.#startFor(this.#waiting.length);
    else if (this.#waiting.length > 0) this.#grow();
  }

  #startFor(calls: number): void {
    for (let left = Math.min(calls - this.#starting, this.#room); left > 0; left -= 1) void this.#start();
  }

  #keepWarm(): void {
    const { fingerprint, preWarm } = this.#definition;
    if (this.#closedFor || this.#hopeless === fingerprint) return;
    const current = [...this.#workers].filter((worker) => this.#isCurrent(worker)).length;
    // What is kept ready is nobody's turn: it does without where others wait.
    if (this.#host.hasPlace()) this.#startFor(preWarm - current);
  }

  async #start(): Promise<void> {
    const definition = this.#definition;
    this.#starting += 1;
    try {
      const isWanted = () => this.#waiting.length > 0 && this.#closedFor === undefined;
      const opened = await this.#host.open(definition, (process) => this.#adopt(process), isWanted);
      this.#starting -= 1;
      if (!opened) return this.#pump();
      const { process, revision } = opened;
      this.#revision = revision;
      this.#hopeless = undefined;
      this.#events += 1;
      const idleTimer = setTimeout(() => this.#idleForLong(worker), this.#host.limits.idleMs).unref();
      const { fingerprint } = definition;
      const worker = { process, fingerprint, revision, order: this.#events, idleTimer, idleSinceMs: 0 };
      this.#workers.add(worker);
      this.#retireOld();
      void process.exited.then((why) => this.#lost(worker, why));
      this.#release(worker);
    } catch (thrown) {
      this.#starting -= 1;
      this.#startFailed(definition, notStarted(thrown));
    }
  }

  #adopt(process: LambdaProcess): void {
    this.#processes.add(process);
    void process.exited.then(() => this.#processes.delete(process));
    process.onLine = (stream, text) => {
      if (this.#definition.isDebugged && isDebuggerTalk(text)) return;
      this.#addLine(this.#running.get(process), stream, text);
    };
    if (this.#closedFor) process.kill(this.#closedFor);
  }

  #startFailed({ fingerprint }: LambdaDefinition, failure: LambdaFailure): void {
    if (fingerprint === this.#definition.fingerprint) {
      this.#hopeless = fingerprint;
      if (this.#waiting.length === 0) this.#note(undefined, `no process is ready: ${failure.message}`);
      if (this.#starting > 0 || this.#hasWorkers) return;
      // Nobody is left who could serve them, and the next start would fail in the same way.
      this.#failWaiting(failure);
    }
    this.#pump();
  }

  #failWaiting(failure: LambdaFailure): void {
    for (const waiting of this.#waiting.splice(0)) this.#finish(waiting, failed(failure));
  }

  #run(worker: Worker, running: RunningCall): void {
    const { process } = worker;
    const { id, name, isDebugged, isIsolated } = this.#definition;
    const timeoutMs = isDebugged ? DEBUGGED_TIMEOUT_MS : this.#definition.timeoutMs;
    const { executionId, context, body } = running.call;
    const startedAtMs = this.#host.nowMs();
    let hasBegun = false;
    running.cold = process.calls === 0 && worker.order > running.order;
    const timer = setTimeout(() => process.kill(timedOut(timeoutMs)), timeoutMs);
    const known = { ...context, executionId, lambdaId: id, lambdaName: name, deadline: startedAtMs + timeoutMs };
    process.call(known, body, {
      began: () => {
        hasBegun = true;
        running.startedAtMs = startedAtMs;
      },
      outbound: (news, bytes) => running.addOutbound(news, bytes, this.#host.nowMs()),
      goesOn: () => running.hasOpenOutbound,
      noted: (text) => this.#note(running, text),
      ended: (ending) => {
        clearTimeout(timer);
        this.#running.delete(process);
        // It died of an earlier call, before this one had begun: another process can take it.
        const diedBefore =
          ending.kind === 'gone' && ending.failure.failure === 'crash' && !hasBegun && process.calls > 1;
        const recorded = diedBefore ? undefined : this.#finish(running, outcomeOf(ending), ending.kind === 'outcome');
        if (diedBefore) this.#waiting.unshift(running);
        // The end of an isolated process would be that of what it still has under way.
        if (recorded && isIsolated) void recorded.then(() => this.#release(worker));
        else this.#release(worker);
      },
    });
    this.#running.set(process, running);
  }

  /** A process is free. */
  #release(worker: Worker): void {
    const isSpent = this.#definition.isIsolated && worker.process.calls > 0;
    if (worker.process.isAlive) {
      if (isSpent || !this.#isCurrent(worker)) worker.process.kill();
      else {
        worker.idleSinceMs = this.#host.nowMs();
        worker.idleTimer.refresh();
        this.#idle.push(worker);
        if (this.#isOthersTurn()) this.#host.makeRoom();
      }
    }
    this.#pump();
  }

  /** Has somebody waited for a process for longer than our own next call? */
  #isOthersTurn(): boolean {
    const sinceMs = this.#host.awaitedSinceMs();
    const [next] = this.#waiting;
    return sinceMs !== undefined && (next === undefined || sinceMs < next.acceptedAtMs);
  }

  #idleForLong(worker: Worker): void {
    if (this.#idle.length > this.#definition.preWarm && this.#idle.includes(worker)) this.#retire(worker);
    else worker.idleTimer.refresh();
  }

  #retire(worker: Worker): void {
    this.#leaveIdle(worker);
    worker.process.kill();
  }

  #leaveIdle(worker: Worker): void {
    const at = this.#idle.indexOf(worker);
    if (at >= 0) this.#idle.splice(at, 1);
  }

  #lost(worker: Worker, why: LambdaFailure): void {
    clearTimeout(worker.idleTimer);
    this.#workers.delete(worker);
    this.#leaveIdle(worker);
    if (why.failure === 'crash') {
      if (!this.#running.has(worker.process)) this.#note(undefined, `between calls: ${why.message}`);
      if (worker.process.calls === 0) this.#hopeless = worker.fingerprint;
    }
    this.#keepWarm();
    this.#pump();
  }

  /** Answers at once. While an outbound call goes on the record stays open, and what is returned is there until it is closed. */
  #finish(running: RunningCall, outcome: Outcome, mayGoOn = false): Promise<void> | undefined {
    if (!outcome.ok && outcome.failure !== 'busy') this.#note(running, `${outcome.failure}: ${outcome.message}`);
    const invocation = running.finish(this.#definition, outcome, this.#host.nowMs());
    if (!mayGoOn || !running.hasOpenOutbound) {
      this.#host.onInvocation(invocation, running.call);
      return undefined;
    }
    const recorded = running.closed(invocation, this.#host.nowMs).then((record) => {
      this.#open.delete(running);
      this.#host.onInvocation(record, running.call);
    });
    this.#open.set(running, recorded);
    return recorded;
  }

  #note(running: RunningCall | undefined, text: string): void {
    this.#addLine(running, 'stderr', `[terrarium] ${text}`);
  }

  #addLine(running: RunningCall | undefined, stream: LogLine['stream'], text: string): void {
    const executionId = running?.call.executionId;
    const line = { atMs: this.#host.nowMs(), stream, text, ...(executionId !== undefined && { executionId }) };
    running?.addLine(line);
    this.#host.onLine(this.#definition.id, line);
  }
}

function outcomeOf(ending: Ending): Outcome {
  if (ending.kind === 'gone') return failed(ending.failure);
  const { kind, failure, message = '' } = ending.head;
  const value: LambdaValue = kind === 'nothing' ? { kind } : { kind, bytes: ending.body };
  return failure ? { ok: false, failure, message, value } : { ok: true, value };
}
