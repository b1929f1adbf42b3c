import { isComputing } from '../machine/processes.ts';
import { timedOut } from './lambda-failure.ts';
import type { LambdaProcess } from './lambda-process.ts';
import type { RunningCall } from './running-call.ts';

/** Calls that a process may have: one that runs, the others ready. */
const MOST_GIVEN = 4;
/** A call that runs for longer holds up those that lie ready behind it. */
const HELD_UP_MS = 20;
/** One that only computes, or is about to as soon as it has a processor, is not long before that. */
const COMPUTING_MS = 1_000;
/** Larger bodies are not sent ahead. */
const LARGEST_AHEAD_BYTES = 64 * 1024;

/** A process that has a lambda loaded, and the calls that it has been given. */
export class PoolWorker {
  readonly process: LambdaProcess;
  /** Of the definition that it was made for. */
  readonly fingerprint: string;
  /** Of the package's content that it has. */
  readonly revision: string;
  /** When it was ready, in the order of the pool's events. */
  readonly order: number;
  /** When it had its last work done, by the monotonic clock. */
  idleSinceMs = 0;
  /** The first runs. */
  readonly #given: RunningCall[] = [];
  /** Since when that one has had its turn, by the monotonic clock. */
  #sinceMs = 0;
  #timer: NodeJS.Timeout | undefined;
  #timeoutMs = 0;
  #isAskedBack = false;

  constructor(process: LambdaProcess, made: { fingerprint: string; revision: string; order: number }) {
    this.process = process;
    this.fingerprint = made.fingerprint;
    this.revision = made.revision;
    this.order = made.order;
  }

  get given(): readonly RunningCall[] {
    return this.#given;
  }

  /** A call is given to its process; `timeoutMs` counts from when it is its turn. */
  give(running: RunningCall, timeoutMs: number): void {
    this.#given.push(running);
    if (this.#given.length === 1) this.#turn(timeoutMs);
  }

  /** A call is over, or somebody else's. `timeoutMs` is the next one's. */
  takeBack(running: RunningCall, timeoutMs: number): void {
    const at = this.#given.indexOf(running);
    this.#given.splice(at, 1);
    if (at === 0 && this.#given.length > 0 && this.process.isAlive) this.#turn(timeoutMs);
  }

  /** May one more call lie ready at it? */
  canTakeAhead(running: RunningCall): boolean {
    const { length } = this.#given;
    return (
      length < MOST_GIVEN && this.process.isAlive && !this.#isHeldUp && running.call.body.length <= LARGEST_AHEAD_BYTES
    );
  }

  /** How long the call has been running that runs now. */
  get runningForMs(): number {
    return this.#given.length > 0 ? performance.now() - this.#sinceMs : 0;
  }

  /** The same of a call that holds its process up: 0 of one that has not computed for long yet. */
  get heldUpForMs(): number {
    const ms = this.runningForMs;
    return ms > HELD_UP_MS && ms < COMPUTING_MS && isComputing(this.process.pid) ? 0 : ms;
  }

  /** Asks for the calls back that lie ready behind one that takes long. */
  askBack(): void {
    if (this.#given.length > 1 && this.#isHeldUp && !this.#isAskedBack) {
      this.#isAskedBack = true;
      this.process.withdraw();
    }
  }

  /** It is gone. */
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
        if (this.#given.length > 0) this.process.kill(timedOut(timeoutMs));
      }, timeoutMs).unref();
    }
  }
}
