import type { Invocation, LambdaCall, LogLine } from '../model/invocation.ts';
import type { LambdaDefinition } from './lambda-definition.ts';
import type { LambdaProcess } from './lambda-process.ts';
import type { OpenedProcess } from './lambda-processes.ts';
import type { RunningCall } from './running-call.ts';

/** What a pool needs from the service around it. */
export interface PoolHost {
  readonly limits: { concurrency: number; queue: number; idleMs: number };
  nowMs(): number;
  /**
   * A process with the lambda loaded; it may have to wait for a place, and is undefined when it is not wanted any more by then.
   * `adopt` is given it as soon as it exists. Rejects with LambdaFailure.
   */
  open(
    definition: LambdaDefinition,
    adopt: (process: LambdaProcess) => void,
    isWanted: () => boolean,
  ): Promise<OpenedProcess | undefined>;
  /** Is there a process that waits for its lambda? */
  hasSpare(): boolean;
  /** Is there a place for a process that nobody waits for? */
  hasPlace(): boolean;
  /** Since when another process has been waited for, by whichever lambda, without anybody leaving for it. */
  awaitedSinceMs(): number | undefined;
  /** Lets processes without work leave for those that are waited for. */
  makeRoom(): void;
  /** A line was written, by the lambda or about it. */
  onLine(lambdaId: string, line: LogLine): void;
  /** A call was accepted; it ends with `onInvocation`. */
  onBegin(running: RunningCall, lambda: LambdaDefinition): void;
  onInvocation(invocation: Invocation, call: LambdaCall): void;
}
