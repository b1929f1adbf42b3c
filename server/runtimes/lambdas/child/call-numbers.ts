import type { CallNumberHead } from '../process/protocol.ts';

// Captured at start, because a lambda may replace the globals of its own process.
const NativePromise = Promise;
const { setInterval, clearInterval } = globalThis;

const LONGEST_DELAY_MS = 2 ** 31 - 1;

/** Asks the emulator for the numbers of calls that outbound rules match, because rules count the calls of all processes. */
export class CallNumbers {
  readonly #ask: (request: number, ruleId: string) => void;
  readonly #waiting = new Map<number, (number: number) => void>();
  #lastRequest = 0;

  constructor(ask: (request: number, ruleId: string) => void) {
    this.#ask = ask;
  }

  /** Resolves to the number of a call, from 1, among those that the rule has matched. */
  next(ruleId: string): Promise<number> {
    this.#lastRequest += 1;
    const request = this.#lastRequest;
    // The connections of the call and to the emulator may be unreferenced: without this the process would seem to have nothing left to do.
    const keeper = setInterval(() => {}, LONGEST_DELAY_MS);
    return new NativePromise((resolve) => {
      this.#waiting.set(request, (number) => {
        clearInterval(keeper);
        resolve(number);
      });
      this.#ask(request, ruleId);
    });
  }

  take({ request, number }: CallNumberHead): void {
    this.#waiting.get(request)?.(number);
    this.#waiting.delete(request);
  }
}
