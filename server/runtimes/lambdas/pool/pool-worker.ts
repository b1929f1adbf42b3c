import { afterRunning } from '../../../system/clock.ts';
import { isComputing } from '../../../system/processes.ts';
import { timedOut } from '../lambda-failure.ts';
import type { LambdaProcess } from '../process/lambda-process.ts';
import type { ActiveInvocation } from './active-invocation.ts';

/** The time after its timeout for which a process can send a value that its handler returned: it or the machine may be busy. */
const LATE_RESULT_MS = 2_000;
/** The idle time after which all but one of several processes of a lambda are stopped. */
const EXTRA_IDLE_MS = 5_000;

export class IdleWorkers {
  readonly #workers: PoolWorker[] = [];
  readonly #options: { idleMs: number; least(): number; all(): number };
  #timer: NodeJS.Timeout | undefined;

  /** `idleMs`: when the last idle one ends, too; `least`: number to keep ready; `all`: number of processes, including busy ones. */
  constructor(options: { idleMs: number; least(): number; all(): number }) {
    this.#options = options;
  }

  get idlest(): PoolWorker | undefined {
    return this.#workers[0];
  }

  push(worker: PoolWorker): void {
    worker.idleSinceMs = performance.now();
    this.#workers.push(worker);
    this.#lookLater();
  }

  /** The one that was used last, if there is one: the others may leave. */
  pop(): PoolWorker | undefined {
    return this.#workers.pop();
  }

  retireWhere(matches: (worker: PoolWorker) => boolean): void {
    for (const worker of this.#workers.filter(matches)) this.retire(worker);
  }

  retire(worker: PoolWorker): void {
    this.remove(worker);
    worker.process.kill();
  }

  remove(worker: PoolWorker): void {
    const at = this.#workers.indexOf(worker);
    if (at >= 0) this.#workers.splice(at, 1);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  get #extraMs(): number {
    return Math.min(this.#options.idleMs, EXTRA_IDLE_MS);
  }

  #lookLater(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#look();
    }, this.#extraMs).unref();
  }

  #look(): void {
    const { idleMs, least, all } = this.#options;
    let remaining = all();
    for (const worker of [...this.#workers]) {
      const forMs = performance.now() - worker.idleSinceMs;
      const isOver = forMs >= idleMs || (remaining > 1 && forMs >= this.#extraMs);
      if (!isOver || this.#workers.length <= least()) break;
      this.retire(worker);
      remaining -= 1;
    }
    if (this.#workers.length > least()) this.#lookLater();
  }
}

/** Calls that a process may have: one that runs, the others ready. */
const MOST_GIVEN = 4;
/** A call that runs for longer delays those that are ready behind it. */
const HELD_UP_MS = 20;
/** One that only computes, or is about to as soon as it has a processor, is not long before that. */
const COMPUTING_MS = 1_000;
const LARGEST_AHEAD_BYTES = 64 * 1024;

export class PoolWorker {
  readonly process: LambdaProcess;
  readonly fingerprint: string;
  readonly revision: string;
  /** When it was ready, in the order of the pool's events. */
  readonly order: number;
  idleSinceMs = 0;
  /** The first runs. */
  readonly inFlight: ActiveInvocation[] = [];
  /** Since when that one has had its turn, by the monotonic clock. */
  #sinceMs = 0;
  #timer: NodeJS.Timeout | undefined;
  #timeoutMs = 0;
  #isAskedBack = false;

  constructor(process: LambdaProcess, origin: { fingerprint: string; revision: string; order: number }) {
    this.process = process;
    this.fingerprint = origin.fingerprint;
    this.revision = origin.revision;
    this.order = origin.order;
  }

  /** A call is given to its process; `timeoutMs` counts from when it is its turn. */
  send(running: ActiveInvocation, timeoutMs: number): void {
    this.inFlight.push(running);
    if (this.inFlight.length === 1) this.#turn(timeoutMs);
  }

  /** A call has ended or was withdrawn. `timeoutMs` is the timeout of the next one. */
  takeBack(running: ActiveInvocation, timeoutMs: number): void {
    const at = this.inFlight.indexOf(running);
    this.inFlight.splice(at, 1);
    if (at === 0 && this.inFlight.length > 0 && this.process.isAlive) this.#turn(timeoutMs);
  }

  canPipeline(running: ActiveInvocation): boolean {
    const { length } = this.inFlight;
    return (
      length < MOST_GIVEN && this.process.isAlive && !this.#isHeldUp && running.call.body.length <= LARGEST_AHEAD_BYTES
    );
  }

  get runningForMs(): number {
    return this.inFlight.length > 0 ? performance.now() - this.#sinceMs : 0;
  }

  /** For how long a call has blocked its process: 0 of one that has not computed for long yet. */
  get heldUpForMs(): number {
    const ms = this.runningForMs;
    return ms > HELD_UP_MS && ms < COMPUTING_MS && isComputing(this.process.pid) ? 0 : ms;
  }

  recall(): void {
    if (this.inFlight.length > 1 && this.#isHeldUp && !this.#isAskedBack) {
      this.#isAskedBack = true;
      this.process.recall();
    }
  }

  end(): void {
    clearTimeout(this.#timer);
  }

  get #isHeldUp(): boolean {
    return this.runningForMs > HELD_UP_MS;
  }

  /** One timer for all its calls: a new one for each would cost more than many a call. */
  #turn(timeoutMs: number): void {
    this.#sinceMs = performance.now();
    this.#isAskedBack = false;
    if (this.#timer && this.#timeoutMs === timeoutMs) this.#timer.refresh();
    else {
      clearTimeout(this.#timer);
      this.#timeoutMs = timeoutMs;
      this.#timer = setTimeout(() => {
        const sinceMs = this.#sinceMs;
        const end = () => {
          if (this.inFlight.length > 0 && this.#sinceMs === sinceMs) this.process.kill(timedOut(timeoutMs));
        };
        // The result may be there already: after the machine slept, timers come before what was received.
        setImmediate(() => {
          if (this.process.hasReturned) afterRunning(LATE_RESULT_MS, () => setImmediate(end));
          else end();
        });
      }, timeoutMs).unref();
    }
  }
}
