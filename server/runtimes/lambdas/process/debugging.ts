import { PlatformError, reasonOf } from '../../../model/errors.ts';
import type { Uuid } from '../../../model/record.ts';
import { DebugRelay } from './debug-relay.ts';

export interface DebugState {
  lambdaId: Uuid;
  startedAtMs: number;
  /**
   * The address to which a debugger attaches, `ws://127.0.0.1:PORT/ID`; absent while no process listens. It is the same for all processes
   * of a lambda.
   */
  url?: string;
  /** The file that the process runs: where breakpoints go. */
  file?: string;
  problem?: string;
}

export interface DebuggerAddresses {
  /** Port of the first debugged lambda; each other one gets the next free port. 0: any free port. */
  port: number;
  /** The secret end of a lambda's address. */
  idOf(lambdaId: Uuid): string;
}

/** Each has its own permanent process. */
const MAX_AT_ONCE = 10;

interface DebuggedLambda {
  state: DebugState;
  /** Undefined if it could not listen. */
  relay: Promise<DebugRelay | undefined>;
  /** The inspector of its process. */
  inspectorUrl?: string;
}

export class Debugging {
  readonly #nowMs: () => number;
  readonly #onChange: () => void;
  readonly #addresses: DebuggerAddresses;
  readonly #debugged = new Map<Uuid, DebuggedLambda>();

  constructor(nowMs: () => number, onChange: () => void, addresses: DebuggerAddresses) {
    this.#nowMs = nowMs;
    this.#onChange = onChange;
    this.#addresses = addresses;
  }

  find(lambdaId: Uuid): DebugState | undefined {
    return this.#debugged.get(lambdaId)?.state;
  }

  isOf(lambdaId: Uuid): boolean {
    return this.#debugged.has(lambdaId);
  }

  begin(lambdaId: Uuid): void {
    if (this.isOf(lambdaId)) return;
    if (this.#debugged.size >= MAX_AT_ONCE) {
      const ids = [...this.#debugged.keys()].join(', ');
      throw new PlatformError(
        'limit_reached',
        `${MAX_AT_ONCE} lambdas are being debugged, which is the maximum. Stop debugging one of ${ids}.`,
      );
    }
    const { port, idOf } = this.#addresses;
    const state = { lambdaId, startedAtMs: this.#nowMs() };
    const relay = DebugRelay.listen(port, idOf(lambdaId)).catch((cause: unknown) => {
      this.failed(lambdaId, `no port for a debugger is available: ${reasonOf(cause)}. Stop debugging and try again.`);
      return undefined;
    });
    this.#debugged.set(lambdaId, { state, relay });
    this.#onChange();
  }

  end(lambdaId: Uuid): void {
    void this.#debugged.get(lambdaId)?.relay.then((relay) => relay?.close());
    this.#debugged.delete(lambdaId);
    this.#onChange();
  }

  /** A process has begun to listen for a debugger. */
  async listens(lambdaId: Uuid, inspectorUrl: string, file: string): Promise<void> {
    const debugged = this.#debugged.get(lambdaId);
    if (!debugged) return;
    debugged.inspectorUrl = inspectorUrl;
    const relay = await debugged.relay;
    if (!relay || debugged.inspectorUrl !== inspectorUrl) return;
    relay.inspectorUrl = inspectorUrl;
    this.#show(debugged, { url: relay.url, file });
  }

  /** A process that listened has ended. */
  async ended(lambdaId: Uuid, inspectorUrl: string | undefined): Promise<void> {
    const debugged = this.#debugged.get(lambdaId);
    if (!debugged || debugged.inspectorUrl !== inspectorUrl) return;
    const { problem } = debugged.state;
    delete debugged.inspectorUrl;
    this.#show(debugged, problem === undefined ? {} : { problem });
    const relay = await debugged.relay;
    if (relay) relay.inspectorUrl = undefined;
  }

  /** The lambda has no process, because of a problem. */
  failed(lambdaId: Uuid, problem: string): void {
    const debugged = this.#debugged.get(lambdaId);
    if (debugged) this.#show(debugged, { problem });
  }

  stop(): void {
    for (const lambdaId of [...this.#debugged.keys()]) this.end(lambdaId);
  }

  #show(debugged: DebuggedLambda, details: Pick<DebugState, 'url' | 'file' | 'problem'>): void {
    const { lambdaId, startedAtMs } = debugged.state;
    debugged.state = { lambdaId, startedAtMs, ...details };
    this.#onChange();
  }
}

/** True for a message of Node about a debugger on the standard error of a process; the lambda did not print it. */
export function isDebuggerTalk(line: string): boolean {
  return /^(Debugger (attached|listening on |ending on )|Waiting for the debugger to disconnect|For help, see: https:)/.test(
    line,
  );
}
