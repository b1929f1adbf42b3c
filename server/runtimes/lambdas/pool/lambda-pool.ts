import type { Invocation, LambdaCall, Outcome } from '../../../model/invocation.ts';
import type { CodeFiles } from '../code/code-files.ts';
import type { LambdaDefinition } from '../lambda-definition.ts';
import { debuggingEnded, failed, type LambdaFailure, notStarted } from '../lambda-failure.ts';
import type { Ending } from '../process/in-flight-calls.ts';
import type { LambdaProcess } from '../process/lambda-process.ts';
import { ActiveInvocation, InvocationFinalizer, isForAnother, outcomeOf, type PoolHost } from './active-invocation.ts';
import { IdleWorkers, PoolWorker } from './pool-worker.ts';
import { ScaleUpPolicy } from './scale-up-policy.ts';

/** After this number of consecutive calls without output, further calls can be queued in the process behind the next one. */
const SILENT_CALLS = 50;

/** Debugging a handler takes time; after a day, the session ends. */
const DEBUGGED_TIMEOUT_MS = 24 * 60 * 60_000;

export class LambdaPool {
  readonly #host: PoolHost;
  #definition: LambdaDefinition;
  /** The revision of the package's content when a process was last started. */
  #revision = '';
  #watched: CodeFiles | undefined;
  readonly #waiting: ActiveInvocation[] = [];
  readonly #processes = new Set<LambdaProcess>();
  readonly #workers = new Set<PoolWorker>();
  readonly #endings: InvocationFinalizer;
  readonly #idle: IdleWorkers;
  #reserved = 0;
  #starting = 0;
  readonly #growth = new ScaleUpPolicy(() => this.#look());
  #silent = 0;
  #events = 0;
  /** Definition whose processes end without having done anything: no use in keeping any ready. */
  #failedFingerprint: string | undefined;
  #closedFor: LambdaFailure | undefined;

  constructor(host: PoolHost, definition: LambdaDefinition) {
    this.#host = host;
    this.#definition = definition;
    this.#endings = new InvocationFinalizer(host, () => this.#definition);
    this.#idle = new IdleWorkers({
      idleMs: host.limits.idleMs,
      least: () => this.#definition.preWarm,
      all: () => this.#workers.size,
    });
    this.#keepWarm();
  }

  get keepsWarm(): boolean {
    return this.#definition.preWarm > 0;
  }

  get hasProcess(): boolean {
    for (const worker of this.#workers) if (worker.process.isAlive && this.#isCurrent(worker)) return true;
    return false;
  }

  get definition(): LambdaDefinition {
    return this.#definition;
  }

  get stats(): { running: number; waiting: number } {
    let [running, ahead] = [0, 0];
    for (const { inFlight } of this.#workers) {
      if (inFlight.length > 0) running += 1;
      ahead += Math.max(0, inFlight.length - 1);
    }
    return { running, waiting: this.#waiting.length + ahead };
  }

  get idleSinceMs(): number | undefined {
    return this.#idle.idlest?.idleSinceMs;
  }

  endIdlest(): void {
    const { idlest } = this.#idle;
    if (idlest) this.#idle.retire(idlest);
  }

  refusal(): Outcome | undefined {
    const [concurrency, { queue }] = [this.#concurrency, this.#host.limits];
    const { running, waiting } = this.stats;
    if (running + waiting + this.#reserved < concurrency + queue) return undefined;
    const message = `lambda '${this.#definition.name}' is busy: ${concurrency} calls run and ${queue} wait; try again in a second`;
    return failed({ failure: 'busy', message });
  }

  /** Reserves a slot for a call that is about to arrive, until the returned function is called. */
  reserveSlot(): () => void {
    this.#reserved += 1;
    return () => {
      this.#reserved -= 1;
    };
  }

  invoke(call: LambdaCall): Promise<Invocation> {
    this.#events += 1;
    const running = new ActiveInvocation(call, this.#definition, this.#host.nowMs(), this.#events);
    const refused = this.#closedFor ? failed(this.#closedFor) : this.refusal();
    if (refused) void this.#endings.finish(running, refused);
    else {
      this.#host.onBegin?.(running);
      this.#waiting.push(running);
      if (this.#watched?.hasChanged()) this.#readAgain();
      this.#pump();
    }
    return running.done;
  }

  /** From the next invocation on this definition applies; running ones finish with the old (D-057, D-114). */
  update(definition: LambdaDefinition): void {
    const before = this.#definition;
    const isReplaced = before.fingerprint !== definition.fingerprint && this.hasProcess;
    this.#definition = definition;
    if (before.isDebugged && !definition.isDebugged) this.#endDebugging(before.fingerprint);
    this.#replaceOld();
    if (isReplaced) this.#loadAhead();
  }

  /** Ends everything at once; running and waiting calls end with that failure. Resolves when all processes have ended. */
  async close(failure: LambdaFailure): Promise<void> {
    this.#closedFor = failure;
    this.#growth.stop();
    this.#idle.stop();
    this.#pump();
    const ends = [...this.#workers].flatMap(({ inFlight }) => inFlight.map(({ done }) => done));
    for (const process of this.#processes) process.kill(failure);
    const exits = [...this.#processes].map(({ exited }) => exited);
    await Promise.all([...ends, ...exits]);
    await this.#endings.closeRecords();
  }

  get #concurrency(): number {
    return this.#definition.isDebugged ? 1 : this.#host.limits.concurrency;
  }

  #isCurrent({ fingerprint, revision }: PoolWorker): boolean {
    return fingerprint === this.#definition.fingerprint && revision === this.#revision;
  }

  /** The package has changed: processes with the old files take no more calls. */
  #readAgain(): void {
    this.#watched = undefined;
    this.#revision = 'changed';
    this.#replaceOld();
  }

  #replaceOld(): void {
    this.#retireOld();
    for (const worker of this.#workers) if (!this.#isCurrent(worker)) worker.process.recall();
    this.#keepWarm();
  }

  #retireOld(): void {
    this.#idle.retireWhere((worker) => !this.#isCurrent(worker));
  }

  /** A handler at a breakpoint, or a module that is being loaded, would wait there forever. */
  #endDebugging(fingerprint: string): void {
    const otherProcesses = new Set<LambdaProcess>();
    for (const worker of this.#workers) if (worker.fingerprint !== fingerprint) otherProcesses.add(worker.process);
    for (const process of this.#processes) if (!otherProcesses.has(process)) process.kill(debuggingEnded());
  }

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
  #workerAhead(next: ActiveInvocation): PoolWorker | undefined {
    const { isIsolated, isDebugged } = this.#definition;
    if (isIsolated || isDebugged || this.#silent < SILENT_CALLS || !this.#growth.isShort) return undefined;
    let found: PoolWorker | undefined;
    for (const worker of this.#workers) {
      if (!this.#isCurrent(worker) || !worker.canPipeline(next)) continue;
      if (!found || worker.inFlight.length < found.inFlight.length) found = worker;
    }
    if (found) this.#growth.lookLater();
    return found;
  }

  #grow(): void {
    if (this.#definition.isIsolated) this.#startFor(this.#waiting.length);
    else if (this.#starting === 0 && !this.hasProcess) this.#startFor(1);
    else this.#growth.lookLater();
  }

  /** Starts more processes if the existing ones are too few for the waiting calls; checked some time after the first one began to wait. */
  #look(): void {
    let isAhead = false;
    for (const worker of this.#workers) {
      worker.recall();
      isAhead ||= worker.inFlight.length > 1;
    }
    const [longest] = this.#waiting;
    if (longest && !this.#closedFor) {
      const missing = this.#growth.missing({
        waiting: this.#waiting.length,
        starting: this.#starting,
        ready: this.#workers.size,
        longestWaitMs: performance.now() - longest.waitingSinceMs,
        runningForMs: [...this.#workers]
          .filter(({ inFlight }) => inFlight.length > 0)
          .map((worker) => worker.heldUpForMs),
      });
      this.#startFor(this.#starting + missing);
    }
    if (longest || isAhead) this.#growth.lookLater();
  }

  #startFor(calls: number): void {
    const free = this.#concurrency - this.#starting - this.#workers.size;
    for (let startsLeft = Math.min(calls - this.#starting, free); startsLeft > 0; startsLeft -= 1) void this.#start();
  }

  /** A lambda that had a process when it was edited has one again before it is called, if that takes nothing but a spare. */
  #loadAhead(): void {
    const { code, isIsolated, isDebugged } = this.#definition;
    const isSimple = code.kind === 'inline' && !isIsolated && !isDebugged;
    if (isSimple && !this.#closedFor && this.#host.processes.stats.spares > 0) this.#startFor(1);
  }

  #keepWarm(): void {
    const { fingerprint, preWarm } = this.#definition;
    if (this.#closedFor || this.#failedFingerprint === fingerprint) return;
    const current = [...this.#workers].filter((worker) => this.#isCurrent(worker)).length;
    // Processes that are only kept ready give way to waiting calls.
    if (this.#host.processes.slots.isFree) this.#startFor(preWarm - current);
  }

  async #start(): Promise<void> {
    const definition = this.#definition;
    this.#starting += 1;
    try {
      const isWanted = () => this.#waiting.length > 0 && this.#closedFor === undefined;
      const opened = await this.#host.processes.open(definition, (process) => this.#adopt(process), isWanted);
      this.#starting -= 1;
      if (!opened) return this.#pump();
      const { process, revision, watched } = opened;
      this.#revision = revision;
      this.#watched = watched;
      this.#failedFingerprint = undefined;
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
    process.onLate = (executionId, text) => this.#endings.note(undefined, text, executionId);
    if (this.#closedFor) process.kill(this.#closedFor);
  }

  #startFailed({ fingerprint }: LambdaDefinition, failure: LambdaFailure): void {
    if (fingerprint === this.#definition.fingerprint) {
      this.#failedFingerprint = fingerprint;
      if (this.#waiting.length === 0) this.#endings.note(undefined, `no process is ready: ${failure.message}`);
      if (this.#starting > 0 || this.hasProcess) return;
      // No process is left that could serve them, and the next start would fail in the same way.
      this.#failWaiting(failure);
    }
    this.#pump();
  }

  #failWaiting(failure: LambdaFailure): void {
    for (const waiting of this.#waiting.splice(0)) void this.#endings.finish(waiting, failed(failure));
  }

  #run(worker: PoolWorker, running: ActiveInvocation): void {
    const { process } = worker;
    const { executionId, body, stopsFirst } = running.call;
    const givenAtMs = running.nowMs();
    const timeoutMs = this.#timeoutMs;
    const isAhead = worker.inFlight.length > 0;
    running.cold = process.calls === 0 && worker.order > running.order;
    worker.send(running, timeoutMs);
    const stop = stopsFirst && this.#definition.isDebugged ? { stopsFirst } : {};
    const members = running.headMembers(this.#definition);
    process.call({ executionId, members, timeoutMs, ...stop }, body, {
      began: (atMs) => {
        running.startedAtMs = running.timeOf(atMs, givenAtMs);
      },
      line: (stream, text) => this.#endings.addLine(running, stream, text),
      outbound: (update, bytes) => {
        if (update.localPort !== undefined) {
          // A connection can stay open for later calls.
          this.#host.onConnection(update.localPort, () => (worker.inFlight[0] ?? running).executionId);
        }
        running.addOutbound(update, bytes, running.timeOf(update.atMs, givenAtMs));
      },
      takesLateCalls: () => running.closeRecord !== undefined,
      noted: (text) => this.#endings.note(running, text),
      ended: (ending) => this.#ended(worker, running, ending, isAhead),
    });
  }

  get #timeoutMs(): number {
    return this.#definition.isDebugged ? DEBUGGED_TIMEOUT_MS : this.#definition.timeoutMs;
  }

  /** @param wasAhead was it given to the process while that was at work for others? */
  #ended(worker: PoolWorker, running: ActiveInvocation, ending: Ending, wasAhead: boolean): void {
    const wasTurn = worker.inFlight[0] === running;
    if (ending.kind === 'outcome') {
      this.#growth.learn(ending.head);
      this.#silent = ending.head.hasWritten ? 0 : this.#silent + 1;
    }
    worker.takeBack(running, this.#timeoutMs);
    if (!this.#closedFor && isForAnother(ending, worker.process.calls > 1, wasAhead)) {
      this.#putBack(running);
      if (wasTurn) this.#release(worker);
      else this.#pump();
      return;
    }
    const { startedAtMs = running.acceptedAtMs } = running;
    const { isIsolated } = this.#definition;
    // The process of an isolated lambda ends now, so it makes no further calls.
    running.waitsForLateCalls = ending.kind === 'outcome' && !isIsolated && ending.head.goesOn === true;
    const recorded =
      ending.kind === 'outcome'
        ? this.#endings.finish(running, outcomeOf(ending), running.timeOf(ending.head.atMs, startedAtMs))
        : this.#endings.finish(running, outcomeOf(ending));
    // Ending an isolated process would end its other calls.
    if (recorded && isIsolated) void recorded.then(() => this.#release(worker));
    else this.#release(worker);
  }

  /** Among those that wait it has the place that it had. */
  #putBack(running: ActiveInvocation): void {
    const at = this.#waiting.findIndex(({ order }) => order > running.order);
    this.#waiting.splice(at < 0 ? this.#waiting.length : at, 0, running);
  }

  #release(worker: PoolWorker): void {
    const isSpent = this.#definition.isIsolated && worker.process.calls > 0;
    if (worker.process.isAlive && worker.inFlight.length === 0) {
      if (isSpent || !this.#isCurrent(worker)) worker.process.kill();
      else {
        this.#idle.push(worker);
        if (this.#isOthersTurn()) this.#host.processes.slots.releaseOne();
      }
    }
    this.#pump();
  }

  /** True if another lambda has waited for a process for longer than our own next call. */
  #isOthersTurn(): boolean {
    const sinceMs = this.#host.processes.slots.awaitedSinceMs;
    if (sinceMs === undefined) return false;
    const [next] = this.#waiting;
    return next === undefined || sinceMs < next.waitingSinceMs;
  }

  #lost(worker: PoolWorker, why: LambdaFailure): void {
    worker.end();
    this.#workers.delete(worker);
    this.#idle.remove(worker);
    if (why.failure === 'crash') {
      if (worker.inFlight.length === 0) this.#endings.note(undefined, `between calls: ${why.message}`);
      if (worker.process.calls === 0) this.#failedFingerprint = worker.fingerprint;
    }
    this.#keepWarm();
    this.#pump();
  }
}
