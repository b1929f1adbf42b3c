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

/** Each has a process of its own that stays. */
const MAX_AT_ONCE = 10;

/** Which lambdas are debugged, and where a debugger finds each. */
export class Debugging {
  readonly #nowMs: () => number;
  readonly #onChange: () => void;
  readonly #states = new Map<Uuid, DebugState>();
  readonly #ports = new Map<Uuid, number>();

  /** @param onChange told of every change of a state */
  constructor(nowMs: () => number, onChange: () => void) {
    this.#nowMs = nowMs;
    this.#onChange = onChange;
  }

  find(lambdaId: Uuid): DebugState | undefined {
    return this.#states.get(lambdaId);
  }

  /** The port for its next process: that of the last one, so that a debugger that comes back finds it; 0 for any. */
  portOf(lambdaId: Uuid): number {
    return this.#ports.get(lambdaId) ?? 0;
  }

  isOf(lambdaId: Uuid): boolean {
    return this.#states.has(lambdaId);
  }

  /** Throws 409 while too many others are debugged. */
  begin(lambdaId: Uuid): void {
    if (this.isOf(lambdaId)) return;
    if (this.#states.size >= MAX_AT_ONCE) {
      const ids = [...this.#states.keys()].join(', ');
      throw new PlatformError(409, `${MAX_AT_ONCE} lambdas are being debugged, and no more can be: end one of ${ids}`);
    }
    this.#set({ lambdaId, startedAtMs: this.#nowMs() });
  }

  end(lambdaId: Uuid): void {
    this.#states.delete(lambdaId);
    this.#ports.delete(lambdaId);
    this.#onChange();
  }

  /** Its process waits for a debugger there. */
  listens(lambdaId: Uuid, url: string, file: string): void {
    const state = this.find(lambdaId);
    if (!state) return;
    this.#ports.set(lambdaId, Number(new URL(url).port));
    this.#set({ lambdaId, startedAtMs: state.startedAtMs, url, file });
  }

  /** That process is gone, or never was. */
  lost(lambdaId: Uuid, url: string | undefined, problem?: string): void {
    const state = this.find(lambdaId);
    if (!state || state.url !== url) return;
    // Somebody else may have the port by now.
    if (url === undefined) this.#ports.delete(lambdaId);
    const why = problem ?? state.problem;
    this.#set({ lambdaId, startedAtMs: state.startedAtMs, ...(why !== undefined && { problem: why }) });
  }

  #set(state: DebugState): void {
    this.#states.set(state.lambdaId, state);
    this.#onChange();
  }
}

/** What Node says about a debugger on the standard error of a process; no words of the lambda's. */
export function isDebuggerTalk(line: string): boolean {
  return /^(Debugger (attached|listening on )|Waiting for the debugger to disconnect|For help, see: https:)/.test(line);
}
