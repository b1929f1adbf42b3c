import { reasonOf } from '../../model/errors.ts';
import type { FailureKind, Outcome } from '../../model/invocation.ts';

/** The failure of a call of a lambda (D-139): the kind decides the HTTP response, the message is shown to the client. */
export class LambdaFailure extends Error {
  override readonly name = 'LambdaFailure';
  readonly failure: FailureKind;

  constructor(failure: FailureKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.failure = failure;
  }
}

export function failed({ failure, message }: Pick<LambdaFailure, 'failure' | 'message'>): Outcome {
  return { ok: false, failure, message, value: { kind: 'nothing' } };
}

/** Returns the failure of a call that was running when the emulator stopped (D-168). */
export function interrupted(): LambdaFailure {
  return new LambdaFailure('interrupted', 'the platform stopped before the invocation ended');
}

/** No debugger is connected any more that could resume the handler. */
export function debuggingEnded(): LambdaFailure {
  return new LambdaFailure('interrupted', 'debugging was stopped before the handler ended');
}

export function timedOut(timeoutMs: number): LambdaFailure {
  const limit = `${timeoutMs / 1_000} s (the lambda's 'timeout')`;
  return new LambdaFailure('timeout', `the handler returned no result within ${limit}, and its process was ended`);
}

export function notStarted(thrown: unknown): LambdaFailure {
  if (thrown instanceof LambdaFailure) return thrown;
  const message = reasonOf(thrown);
  return new LambdaFailure('crash', `the lambda could not be started: ${message}`, { cause: thrown });
}
