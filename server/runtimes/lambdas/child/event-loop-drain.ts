import type { Socket } from 'node:net';
import { OPEN_RECORD_MS } from '../process/protocol.ts';

// Captured at start, because a lambda may replace the globals of its own process.
const { stdout, stderr } = process;

/** A timer or a handle (with Node's internal handle), which may keep a process alive. */
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
 * Detects that a process has nothing left to do for the current call (D-138): Node emits `beforeExit` when nothing keeps the process alive.
 * Timers, sockets and servers of before the call, and the emulator's channel, are unreferenced meanwhile, so only the call's own work
 * counts. An older socket that the call has written to counts as well, because a pool may receive a response on it.
 */
export class EventLoopDrain {
  readonly #channel: Socket;
  readonly #back: Socket;
  readonly #timers = new Set<NodeJS.Timeout>();
  #sweepAt = FIRST_SWEEP;
  /** The timers and handles that were active when the call started; for a socket, the number of bytes written to it. */
  #earlier = new Map<Keeper, number | undefined>();
  /** The handles that were unreferenced, so that they do not keep the process alive. */
  readonly #atRest = new Set<Keeper>();
  /** The timers of the call that fire while its record can be open; for a Promise of a timer, an object that is removed when it is settled. */
  readonly #soon = new Set<{ _destroyed?: unknown; hasRef?(): boolean }>();
  #then: (() => void) | undefined;

  constructor(channel: Socket, back: Socket) {
    this.#channel = channel;
    this.#back = back;
    process.on('beforeExit', () => this.#drained());
  }

  /** Records the timers that are set from now on, because Node does not list them. */
  watchTimers(): void {
    const timers = require('node:timers') as typeof import('node:timers');
    for (const name of ['setTimeout', 'setInterval'] as const) {
      const watched = new Proxy(globalThis[name], {
        apply: (original, self, args) => {
          const timer = this.#watch(Reflect.apply(original, self, args));
          if (isSoon(args[1])) this.#soon.add(timer);
          return timer;
        },
      });
      Object.assign(globalThis, { [name]: watched });
      Object.assign(timers, { [name]: watched });
    }
    const promises = require('node:timers/promises') as typeof import('node:timers/promises');
    const wait = new Proxy(promises.setTimeout, {
      apply: async (original, self, args) => {
        const entry = {};
        if (isSoon(args[0])) this.#soon.add(entry);
        try {
          return await Reflect.apply(original, self, args);
        } finally {
          this.#soon.delete(entry);
        }
      },
    });
    Object.assign(promises, { setTimeout: wait });
  }

  /** True if the call has set a timer that may make it go on while its record is open. */
  hasLeftTimer(): boolean {
    for (const timer of this.#soon) if (!timer._destroyed && timer.hasRef?.() !== false) return true;
    return false;
  }

  begin(): void {
    this.#soon.clear();
    this.#earlier.clear();
    this.#forgetTimers();
    for (const timer of this.#timers) this.#earlier.set(timer, undefined);
    for (const handle of activeHandles()) if (this.#canRest(handle)) this.#earlier.set(handle, handle.bytesWritten);
  }

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

  #forgetTimers(): void {
    for (const timer of this.#timers) {
      if (!('_destroyed' in timer && timer._destroyed)) continue;
      this.#timers.delete(timer);
      this.#soon.delete(timer);
    }
  }

  /** False for a handle that answers by message, such as a worker or a datagram socket: it may owe this call one, of which nothing would notify. */
  #canRest(handle: unknown): handle is Keeper {
    if (typeof handle !== 'object' || handle === null) return false;
    const isOurs = handle === this.#channel || handle === this.#back || handle === stdout || handle === stderr;
    return !isOurs && 'ref' in handle && 'unref' in handle && !('postMessage' in handle || 'send' in handle);
  }
}

function isKeeping(keeper: Keeper): boolean {
  return (keeper.hasRef?.() ?? keeper._handle?.hasRef?.()) === true;
}

function isSoon(delayMs: unknown): boolean {
  return !(Number(delayMs) > OPEN_RECORD_MS);
}

/** Sockets, servers, watchers, children. Node documents the kinds of them only (process.getActiveResourcesInfo). */
function activeHandles(): unknown[] {
  // As: it is not among Node's types.
  return (process as unknown as { _getActiveHandles(): unknown[] })._getActiveHandles();
}
