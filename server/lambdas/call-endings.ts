import type { LambdaValue, LogLine, Outcome } from '../model/invocation.ts';
import { isDebuggerTalk } from './debugging.ts';
import type { Ending } from './given-calls.ts';
import type { LambdaDefinition } from './lambda-definition.ts';
import { failed, interrupted } from './lambda-failure.ts';
import type { PoolHost } from './pool-host.ts';
import type { RunningCall } from './running-call.ts';

/** Answers the calls of one lambda, closes their records, and keeps its log. */
export class CallEndings {
  readonly #host: Pick<PoolHost, 'nowMs' | 'onLine' | 'onInvocation'>;
  readonly #definition: () => LambdaDefinition;
  /** Calls that are answered, and whose records are not closed yet. */
  readonly #open = new Map<RunningCall, Promise<void>>();

  /** @param definition what holds now */
  constructor(host: Pick<PoolHost, 'nowMs' | 'onLine' | 'onInvocation'>, definition: () => LambdaDefinition) {
    this.#host = host;
    this.#definition = definition;
  }

  /**
   * Answers at once. With `endedAtMs`, when the handler ended, the record stays open while an outbound call goes on, and what is returned is there until it is
   * closed.
   */
  finish(running: RunningCall, outcome: Outcome, endedAtMs?: number): Promise<void> | undefined {
    if (!outcome.ok && outcome.failure !== 'busy') this.note(running, `${outcome.failure}: ${outcome.message}`);
    const invocation = running.finish(this.#definition(), outcome, endedAtMs ?? this.#host.nowMs());
    if (endedAtMs === undefined || !running.hasOpenOutbound) {
      this.#host.onInvocation(invocation, running.call);
      return undefined;
    }
    const recorded = running.closed(invocation, this.#host.nowMs).then((record) => {
      this.#open.delete(running);
      this.#host.onInvocation(record, running.call);
    });
    this.#open.set(running, recorded);
    return recorded;
  }

  /** Closes the records that are still open. Resolves when they are. */
  async closeRecords(): Promise<void> {
    for (const running of this.#open.keys()) running.closeRecord();
    await Promise.all(this.#open.values());
  }

  /** A line of the emulator's own, about a call or between calls. */
  note(running: RunningCall | undefined, text: string): void {
    this.addLine(running, 'stderr', `[terrarium] ${text}`);
  }

  /** A line that a process has written. */
  addLine(running: RunningCall | undefined, stream: LogLine['stream'], text: string): void {
    const { id, isDebugged } = this.#definition();
    if (isDebugged && isDebuggerTalk(text)) return;
    const executionId = running?.call.executionId;
    const line = { atMs: this.#host.nowMs(), stream, text, ...(executionId !== undefined && { executionId }) };
    running?.addLine(line);
    this.#host.onLine(id, line);
  }
}

/** Has the call not begun, through no fault of its own? Then another process can take it, and nobody is called twice. */
export function isForAnother(ending: Ending, wasUsed: boolean, wasAhead: boolean): boolean {
  if (ending.kind !== 'gone') return ending.kind === 'withdrawn';
  return !ending.hasBegun && (wasAhead || (wasUsed && ending.failure.failure === 'crash'));
}

/** What whoever called is told. */
export function outcomeOf(ending: Ending): Outcome {
  if (ending.kind === 'withdrawn') return failed(interrupted());
  if (ending.kind === 'gone') return failed(ending.failure);
  const { kind, failure, message = '' } = ending.head;
  const value: LambdaValue = kind === 'nothing' ? { kind } : { kind, bytes: ending.body };
  return failure ? { ok: false, failure, message, value } : { ok: true, value };
}
