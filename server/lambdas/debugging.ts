import { PlatformError } from '../model/errors.ts';
import type { Uuid } from '../model/ids.ts';

/** How the debugging of a lambda goes. */
export interface DebugState {
  lambdaId: Uuid;
  startedAtMs: number;
  /** What a debugger attaches to, `ws://127.0.0.1:PORT/ID`; absent until its process listens. */
  url?: string;
  /** The file that the process runs: where breakpoints go. */
  file?: string;
  /** Why there is no process. */
  problem?: string;
}

/** Which lambda is debugged, one at a time, and where a debugger finds it. */
export class Debugging {
  readonly #nowMs: () => number;
  readonly #onChange: () => void;
  #state: DebugState | undefined;
  #port = 0;

  /** @param onChange told of every change of `state` */
  constructor(nowMs: () => number, onChange: () => void) {
    this.#nowMs = nowMs;
    this.#onChange = onChange;
  }

  get state(): DebugState | undefined {
    return this.#state;
  }

  /** The port for the next process: that of the last one, so that a debugger that comes back finds it; 0 for any. */
  get port(): number {
    return this.#port;
  }

  isOf(lambdaId: Uuid): boolean {
    return this.#state?.lambdaId === lambdaId;
  }

  /** Throws 409 while another lambda is debugged. */
  begin(lambdaId: Uuid): void {
    if (this.isOf(lambdaId)) return;
    if (this.#state) {
      throw new PlatformError(409, `lambda ${this.#state.lambdaId} is being debugged; one at a time: end that first`);
    }
    this.#port = 0;
    this.#set({ lambdaId, startedAtMs: this.#nowMs() });
  }

  end(): void {
    this.#set(undefined);
  }

  /** Its process waits for a debugger there. */
  listens(lambdaId: Uuid, url: string, file: string): void {
    if (!this.#state || !this.isOf(lambdaId)) return;
    this.#port = Number(new URL(url).port);
    const { startedAtMs } = this.#state;
    this.#set({ lambdaId, startedAtMs, url, file });
  }

  /** That process is gone, or never was. */
  lost(lambdaId: Uuid, url: string | undefined, problem?: string): void {
    const state = this.#state;
    if (!state || !this.isOf(lambdaId) || state.url !== url) return;
    // Somebody else may have the port by now.
    if (url === undefined) this.#port = 0;
    const why = problem ?? state.problem;
    this.#set({ lambdaId, startedAtMs: state.startedAtMs, ...(why !== undefined && { problem: why }) });
  }

  #set(state: DebugState | undefined): void {
    this.#state = state;
    this.#onChange();
  }
}

/** What Node says about a debugger on the standard error of a process; no words of the lambda's. */
export function isDebuggerTalk(line: string): boolean {
  return /^(Debugger (attached|listening on )|Waiting for the debugger to disconnect|For help, see: https:)/.test(line);
}
