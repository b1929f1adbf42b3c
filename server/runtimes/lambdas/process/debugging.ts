import { PlatformError } from '../../../model/errors.ts';
import type { Uuid } from '../../../model/record.ts';

export interface DebugState {
  lambdaId: Uuid;
  startedAtMs: number;
  /** The address to which a debugger attaches, `ws://127.0.0.1:PORT/ID`; absent until its process listens. */
  url?: string;
  /** The file that the process runs: where breakpoints go. */
  file?: string;
  problem?: string;
}

/** Each has its own permanent process. */
const MAX_AT_ONCE = 10;

export class Debugging {
  readonly #nowMs: () => number;
  readonly #onChange: () => void;
  readonly #states = new Map<Uuid, DebugState>();

  constructor(nowMs: () => number, onChange: () => void) {
    this.#nowMs = nowMs;
    this.#onChange = onChange;
  }

  find(lambdaId: Uuid): DebugState | undefined {
    return this.#states.get(lambdaId);
  }

  isOf(lambdaId: Uuid): boolean {
    return this.#states.has(lambdaId);
  }

  begin(lambdaId: Uuid): void {
    if (this.isOf(lambdaId)) return;
    if (this.#states.size >= MAX_AT_ONCE) {
      const ids = [...this.#states.keys()].join(', ');
      throw new PlatformError(
        'limit_reached',
        `${MAX_AT_ONCE} lambdas are being debugged, which is the maximum. Stop debugging one of ${ids}.`,
      );
    }
    this.#set({ lambdaId, startedAtMs: this.#nowMs() });
  }

  end(lambdaId: Uuid): void {
    this.#states.delete(lambdaId);
    this.#onChange();
  }

  listens(lambdaId: Uuid, url: string, file: string): void {
    const state = this.find(lambdaId);
    if (!state) return;
    this.#set({ lambdaId, startedAtMs: state.startedAtMs, url, file });
  }

  lost(lambdaId: Uuid, url: string | undefined, problem?: string): void {
    const state = this.find(lambdaId);
    if (!state || state.url !== url) return;
    const why = problem ?? state.problem;
    this.#set({ lambdaId, startedAtMs: state.startedAtMs, ...(why !== undefined && { problem: why }) });
  }

  #set(state: DebugState): void {
    this.#states.set(state.lambdaId, state);
    this.#onChange();
  }
}

/** True for a message of Node about a debugger on the standard error of a process; the lambda did not print it. */
export function isDebuggerTalk(line: string): boolean {
  return /^(Debugger (attached|listening on |ending on )|Waiting for the debugger to disconnect|For help, see: https:)/.test(
    line,
  );
}
