import { monotonicMs } from '../machine/clock.ts';
import type { Invocation, LambdaCall, Outcome } from '../model/invocation.ts';
import { contextMembers } from './call-context.ts';
import { CallEndings, isForAnother, outcomeOf } from './call-endings.ts';
import type { Ending } from './given-calls.ts';
import { IdleWorkers } from './idle-workers.ts';
import type { LambdaDefinition } from './lambda-definition.ts';
import { debuggingEnded, failed, type LambdaFailure, notStarted } from './lambda-failure.ts';
import type { LambdaProcess } from './lambda-process.ts';
import { PoolGrowth } from './pool-growth.ts';
import type { PoolHost } from './pool-host.ts';
import { PoolWorker } from './pool-worker.ts';
import type { OutcomeHead } from './protocol.ts';
import { RunningCall } from './running-call.ts';

/** So many calls in a row that wrote nothing, and others may lie ready behind the next. */
const SILENT_CALLS = 50;

/** Whoever debugs a handler takes the time it takes; by the end of the day it is forgotten. */
const DEBUGGED_TIMEOUT_MS = 24 * 60 * 60_000;

/** The processes of one lambda and the calls that wait for them (D-142). */
export class LambdaPool {
  readonly #host: PoolHost;
  #definition: LambdaDefinition;
  /** Of the package's content, when a process was last started. */
  #revision = '';
  readonly #waiting: RunningCall[] = [];
  /** Every process there is, loaded or not. */
  readonly #processes = new Set<LambdaProcess>();
  readonly #workers = new Set<PoolWorker>();
  readonly #endings: CallEndings;
  readonly #idle: IdleWorkers;
  /** Places in the queue for calls that are about to come. */
  #held = 0;
  /** Processes that are being made ready. */
  #starting = 0;
  readonly #growth = new PoolGrowth(() => this.#look());
  /** Calls in a row that have written nothing. */
  #silent = 0;
  #events = 0;
  /** Definition whose processes end without having done anything: no use in keeping any ready. */
  #hopeless: string | undefined;
  #closedFor: LambdaFailure | undefined;

  constructor(host: PoolHost, definition: LambdaDefinition) {
    this.#host = host;
    this.#definition = definition;
    this.#endings = new CallEndings(host, () => this.#definition);
    this.#idle = new IdleWorkers({
      idleMs: host.limits.idleMs,
      least: () => this.#definition.preWarm,
      all: () => this.#workers.size,
    });
    this.#keepWarm();
  }

  /** Does it have processes without having calls? */
  get keepsWarm(): boolean {
    return this.#definition.preWarm > 0;
  }

  /** Has it a process that can be given calls? */
  get hasProcess(): boolean {
    return this.#hasWorkers;
  }

  /** What holds from the next invocation on. */
  get definition(): LambdaDefinition {
    return this.#definition;
  }

  get stats(): { running: number; waiting: number } {
    let [running, ahead] = [0, 0];
    for (const { given } of this.#workers) {
      if (given.length > 0) running += 1;
      ahead += Math.max(0, given.length - 1);
    }
    return { running, waiting: this.#waiting.length + ahead };
  }

  /** Since when its idlest process has had no work; undefined when all have some. */
  get idleSinceMs(): number | undefined {
    return this.#idle.idlest?.idleSinceMs;
  }

  /** Ends that process. */
  endIdlest(): void {
    const { idlest } = this.#idle;
    if (idlest) this.#idle.retire(idlest);
  }

  /** `busy` when neither a process nor a place in the queue is left. */
  refusal(): Outcome | undefined {
    const [concurrency, { queue }] = [this.#concurrency, this.#host.limits];
    const { running, waiting } = this.stats;
    if (running + waiting + this.#held < concurrency + queue) return undefined;
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
    if (refused) this.#endings.finish(running, refused);
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
    const isReplaced = before.fingerprint !== definition.fingerprint && this.#hasWorkers;
    this.#definition = definition;
    if (before.isDebugged && !definition.isDebugged) this.#endDebugging(before.fingerprint);
    this.#retireOld();
    for (const worker of this.#workers) if (!this.#isCurrent(worker)) worker.process.withdraw();
    this.#keepWarm();
    if (isReplaced) this.#loadAhead();
  }

  /** Ends everything at once; what runs or waits ends with that failure. Resolves when all processes are gone. */
  async close(failure: LambdaFailure): Promise<void> {
    this.#closedFor = failure;
    this.#growth.stop();
    this.#idle.stop();
    this.#pump();
    const ends = [...this.#workers].flatMap(({ given }) => given.map(({ done }) => done));
    for (const process of this.#processes) process.kill(failure);
    const exits = [...this.#processes].map(({ exited }) => exited);
    await Promise.all([...ends, this.#endings.closeRecords(), ...exits]);
  }

  /** Is there a process that has been or can be given calls? */
  get #hasWorkers(): boolean {
    for (const worker of this.#workers) if (worker.process.isAlive && this.#isCurrent(worker)) return true;
    return false;
  }

  get #room(): number {
    return this.#concurrency - this.#starting - this.#workers.size;
  }

  get #concurrency(): number {
    return this.#definition.isDebugged ? 1 : this.#host.limits.concurrency;
  }

  /** Was it made for the definition that holds, and of the content that its package has now? */
  #isCurrent({ fingerprint, revision }: PoolWorker): boolean {
    return fingerprint === this.#definition.fingerprint && revision === this.#revision;
  }

  #retireOld(): void {
    this.#idle.retireWhere((worker) => !this.#isCurrent(worker));
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
    for (let next = this.#waiting[0]; next; next = this.#waiting[0]) {
      const worker = this.#idle.pop() ?? this.#workerAhead(next);
      if (!worker) break;
      // Killed a moment ago; its end is still to be heard of.
      if (!worker.process.isAlive) continue;
      this.#waiting.shift();
      this.#run(worker, next);
    }
    if (this.#waiting.length > 0) this.#grow();
  }

  /** The process that has least to do and for which one more call may lie ready; where calls are short and write nothing. */
  #workerAhead(next: RunningCall): PoolWorker | undefined {
    const { isIsolated, isDebugged } = this.#definition;
    if (isIsolated || isDebugged || this.#silent < SILENT_CALLS || !this.#growth.isShort) return undefined;
    let found: PoolWorker | undefined;
    for (const worker of this.#workers) {
      if (!this.#isCurrent(worker) || !worker.canTakeAhead(next)) continue;
      if (!found || worker.given.length < found.given.length) found = worker;
    }
    if (found) this.#growth.lookLater();
    return found;
  }

  #grow(): void {
    if (this.#definition.isIsolated) this.#startFor(this.#waiting.length);
    else if (this.#starting === 0 && !this.#hasWorkers) this.#startFor(1);
    else this.#growth.lookLater();
  }

  /** Are there enough processes for what waits? Some time after it began to wait. */
  #look(): void {
    let isAhead = false;
    for (const worker of this.#workers) {
      worker.askBack();
      isAhead ||= worker.given.length > 1;
    }
    const [longest] = this.#waiting;
    if (longest && !this.#closedFor) {
      const missing = this.#growth.missing({
        waiting: this.#waiting.length,
        starting: this.#starting,
        ready: this.#workers.size,
        longestWaitMs: performance.now() - longest.waitingSinceMs,
        runningForMs: [...this.#workers].filter(({ given }) => given.length > 0).map((worker) => worker.heldUpForMs),
      });
      this.#startFor(this.#starting + missing);
    }
    if (longest || isAhead) this.#growth.lookLater();
  }

  #startFor(calls: number): void {
    for (let left = Math.min(calls - this.#starting, this.#room); left > 0; left -= 1) void this.#start();
  }

  /** A lambda that had a process when it was edited has one again before it is called, if that takes nothing but a spare. */
  #loadAhead(): void {
    const { code, isIsolated, isDebugged } = this.#definition;
    const isSimple = code.kind === 'inline' && !isIsolated && !isDebugged;
    if (isSimple && !this.#closedFor && this.#host.processes.stats.spares > 0) this.#startFor(1);
  }

  #keepWarm(): void {
    const { fingerprint, preWarm } = this.#definition;
    if (this.#closedFor || this.#hopeless === fingerprint) return;
    const current = [...this.#workers].filter((worker) => this.#isCurrent(worker)).length;
    // What is kept ready is nobody's turn: it does without where others wait.
    if (this.#host.processes.places.isFree) this.#startFor(preWarm - current);
  }

  async #start(): Promise<void> {
    const definition = this.#definition;
    this.#starting += 1;
    try {
      const isWanted = () => this.#waiting.length > 0 && this.#closedFor === undefined;
      const opened = await this.#host.processes.open(definition, (process) => this.#adopt(process), isWanted);
      this.#starting -= 1;
      if (!opened) return this.#pump();
      const { process, revision } = opened;
      this.#revision = revision;
      this.#hopeless = undefined;
      this.#events += 1;
      const worker = new PoolWorker(process, { fingerprint: definition.fingerprint, revision, order: this.#events });
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
      this.#endings.addLine(undefined, stream, text);
    };
    if (this.#closedFor) process.kill(this.#closedFor);
  }

  #startFailed({ fingerprint }: LambdaDefinition, failure: LambdaFailure): void {
    if (fingerprint === this.#definition.fingerprint) {
      this.#hopeless = fingerprint;
      if (this.#waiting.length === 0) this.#endings.note(undefined, `no process is ready: ${failure.message}`);
      if (this.#starting > 0 || this.#hasWorkers) return;
      // Nobody is left who could serve them, and the next start would fail in the same way.
      this.#failWaiting(failure);
    }
    this.#pump();
  }

  #failWaiting(failure: LambdaFailure): void {
    for (const waiting of this.#waiting.splice(0)) this.#endings.finish(waiting, failed(failure));
  }

  #run(worker: PoolWorker, running: RunningCall): void {
    const { process } = worker;
    const { executionId, context, body, stopsFirst } = running.call;
    const givenAtMs = this.#host.nowMs();
    const timeoutMs = this.#timeoutMs;
    const isAhead = worker.given.length > 0;
    running.cold = process.calls === 0 && worker.order > running.order;
    worker.give(running, timeoutMs);
    const stop = stopsFirst && this.#definition.isDebugged ? { stopsFirst } : {};
    const members = contextMembers(context, this.#definition);
    process.call({ executionId, members, timeoutMs, ...stop }, body, {
      began: (atMs) => {
        running.startedAtMs = this.#timeOf(atMs, givenAtMs);
      },
      line: (stream, text) => this.#endings.addLine(running, stream, text),
      outbound: (news, bytes) => running.addOutbound(news, bytes, this.#timeOf(news.atMs, givenAtMs)),
      goesOn: () => running.hasOpenOutbound,
      noted: (text) => this.#endings.note(running, text),
      ended: (ending) => this.#ended(worker, running, ending, isAhead),
    });
  }

  /**
   * Epoch milliseconds of what a process says has happened; now for what it does not say. What it says may be wrong by intent; it
   * was after the call was given all the same.
   */
  #timeOf(monotonic: number | undefined, afterMs: number): number {
    const nowMs = this.#host.nowMs();
    if (monotonic === undefined) return nowMs;
    const atMs = Math.round((nowMs - (monotonicMs() - monotonic)) * 10) / 10;
    return Math.min(Math.max(atMs, afterMs), nowMs);
  }

  get #timeoutMs(): number {
    return this.#definition.isDebugged ? DEBUGGED_TIMEOUT_MS : this.#definition.timeoutMs;
  }

  /** @param wasAhead was it given to the process while that was at work for others? */
  #ended(worker: PoolWorker, running: RunningCall, ending: Ending, wasAhead: boolean): void {
    const wasTurn = worker.given[0] === running;
    if (ending.kind === 'outcome') this.#learn(ending.head);
    worker.takeBack(running, this.#timeoutMs);
    if (!this.#closedFor && isForAnother(ending, worker.process.calls > 1, wasAhead)) {
      this.#putBack(running);
      if (wasTurn) this.#release(worker);
      else this.#pump();
      return;
    }
    const { startedAtMs = running.acceptedAtMs } = running;
    const recorded =
      ending.kind === 'outcome'
        ? this.#endings.finish(running, outcomeOf(ending), this.#timeOf(ending.head.atMs, startedAtMs))
        : this.#endings.finish(running, outcomeOf(ending));
    // The end of an isolated process would be that of what it still has under way.
    if (recorded && this.#definition.isIsolated) void recorded.then(() => this.#release(worker));
    else this.#release(worker);
  }

  #learn(head: OutcomeHead): void {
    this.#growth.learn(head);
    this.#silent = head.hasWritten ? 0 : this.#silent + 1;
  }

  /** Among those that wait it has the place that it had. */
  #putBack(running: RunningCall): void {
    const at = this.#waiting.findIndex(({ order }) => order > running.order);
    this.#waiting.splice(at < 0 ? this.#waiting.length : at, 0, running);
  }

  /** A process has done a call, or has become ready for its first. */
  #release(worker: PoolWorker): void {
    const isSpent = this.#definition.isIsolated && worker.process.calls > 0;
    if (worker.process.isAlive && worker.given.length === 0) {
      if (isSpent || !this.#isCurrent(worker)) worker.process.kill();
      else {
        this.#idle.push(worker);
        if (this.#isOthersTurn()) this.#host.processes.places.makeRoom();
      }
    }
    this.#pump();
  }

  /** Has somebody waited for a process for longer than our own next call? */
  #isOthersTurn(): boolean {
    const sinceMs = this.#host.processes.places.awaitedSinceMs;
    if (sinceMs === undefined) return false;
    const [next] = this.#waiting;
    return next === undefined || sinceMs < next.acceptedAtMs;
  }

  #lost(worker: PoolWorker, why: LambdaFailure): void {
    worker.end();
    this.#workers.delete(worker);
    this.#idle.remove(worker);
    if (why.failure === 'crash') {
      if (worker.given.length === 0) this.#endings.note(undefined, `between calls: ${why.message}`);
      if (worker.process.calls === 0) this.#hopeless = worker.fingerprint;
    }
    this.#keepWarm();
    this.#pump();
  }
}
