import type { Invocation, LambdaCall, LogLine } from '../model/invocation.ts';
import type { LambdaDefinition } from './lambda-definition.ts';
import type { LambdaProcesses } from './lambda-processes.ts';
import type { RunningCall } from './running-call.ts';

/** What a pool needs from the service around it. */
export interface PoolHost {
  readonly limits: { concurrency: number; queue: number; idleMs: number };
  readonly processes: LambdaProcesses;
  nowMs(): number;
  /** A line was written, by the lambda or about it. */
  onLine(lambdaId: string, line: LogLine): void;
  /** A call was accepted; it ends with `onInvocation`. */
  onBegin(running: RunningCall, lambda: LambdaDefinition): void;
  onInvocation(invocation: Invocation, call: LambdaCall): void;
}
