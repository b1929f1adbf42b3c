import type { Socket } from 'node:net';

// Taken at start: a lambda may replace what its process offers.
const { stdout, stderr } = process;

/** Something that keeps a process alive, or does not: a timer, or a handle with what Node has below it. */
interface Keeper {
  ref(): unknown;
  unref(): unknown;
  hasRef?(): boolean;
  _handle?: { hasRef?(): boolean } | null;
  bytesWritten?: number;
}

/** Number of timers known at which those that are over are first looked for. */
const FIRST_SWEEP = 1_000;

/**
 * Tells when a process has nothing left to do for the call that runs (D-138): Node says so, by `beforeExit`, once nothing keeps
 * it alive. So that this is the call's own work, what was active before the call (timers, sockets, servers) and the emulator's
 * channel do not keep it alive meanwhile. A socket of earlier that the call has written to is the call's work, too: a pool's
 * answer may be due on it.
 */
export class NothingLeft {
  readonly #channel: Socket;
  readonly #back: Socket;
  readonly #timers = new Set<NodeJS.Timeout>();
  #sweepAt = FIRST_SWEEP;
  /** What was active when the call began; of a socket, how much had been written to it. */
  #earlier = new Map<Keeper, number | undefined>();
  /** Of them, what has been kept from keeping the process alive. */
  readonly #atRest = new Set<Keeper>();
  #then: (() => void) | undefined;

  /** @param channel from the emulator; @param back to it */
  constructor(channel: Socket, back: Socket) {
    this.#channel = channel;
    this.#back = back;
    process.on('beforeExit', () => this.#drained());
  }

  /** Gets to know the timers that are set from now on; nothing else of Node tells which there are. */
  watchTimers(): void {
    const timers = require('node:timers') as typeof import('node:timers');
    for (const name of ['setTimeout', 'setInterval'] as const) {
      const watched = new Proxy(globalThis[name], {
        apply: (own, self, args) => this.#watch(Reflect.apply(own, self, args)),
      });
      Object.assign(globalThis, { [name]: watched });
      Object.assign(timers, { [name]: watched });
    }
  }

  /** A call begins. */
  begin(): void {
    this.#earlier.clear();
    this.#forgetTimers();
    for (const timer of this.#timers) this.#earlier.set(timer, undefined);
    for (const handle of activeHandles()) if (this.#canRest(handle)) this.#earlier.set(handle, handle.bytesWritten);
  }

  /** Calls `then` once, when nothing is left to do; unless `end` comes first. */
  wait(then: () => void): void {
    this.#then = then;
    for (const [keeper, written] of this.#earlier) {
      if (isKeeping(keeper) && keeper.bytesWritten === written) {
        keeper.unref();
        this.#atRest.add(keeper);
      }
    }
    this.#channel.unref();
  }

  /** The call is over: everything is as the lambda made it. */
  end(): void {
    if (!this.#then) return;
    this.#then = undefined;
    this.#channel.ref();
    for (const keeper of this.#atRest) keeper.ref();
    this.#atRest.clear();
  }

  #drained(): void {
    const then = this.#then;
    if (!then) return;
    const used = [...this.#atRest].filter((keeper) => keeper.bytesWritten !== this.#earlier.get(keeper));
    for (const keeper of used) {
      this.#atRest.delete(keeper);
      keeper.ref();
    }
    if (used.length > 0) return;
    this.end();
    then();
  }

  #watch(timer: NodeJS.Timeout): NodeJS.Timeout {
    this.#timers.add(timer);
    if (this.#timers.size >= this.#sweepAt) {
      this.#forgetTimers();
      this.#sweepAt = Math.max(FIRST_SWEEP, 2 * this.#timers.size);
    }
    return timer;
  }

  /** Those that are over. */
  #forgetTimers(): void {
    for (const timer of this.#timers) if ('_destroyed' in timer && timer._destroyed) this.#timers.delete(timer);
  }

  /** What answers by message (a worker, a child with a channel, a datagram socket) may owe this call one: nothing would tell. */
  #canRest(handle: unknown): handle is Keeper {
    if (typeof handle !== 'object' || handle === null) return false;
    const isOurs = handle === this.#channel || handle === this.#back || handle === stdout || handle === stderr;
    return !isOurs && 'ref' in handle && 'unref' in handle && !('postMessage' in handle || 'send' in handle);
  }
}

function isKeeping(keeper: Keeper): boolean {
  return (keeper.hasRef?.() ?? keeper._handle?.hasRef?.()) === true;
}

/** Sockets, servers, watchers, children. Node documents the kinds of them only (process.getActiveResourcesInfo). */
function activeHandles(): unknown[] {
  // As: it is not among Node's types.
  return (process as unknown as { _getActiveHandles(): unknown[] })._getActiveHandles();
}
