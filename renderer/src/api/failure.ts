import { type ErrorDetail, reasonOf } from '../../../server/model/errors.ts';

/** The reason that a request failed. `offline`: no response; `signed-out`: 401; `refused`: any other error of the server. */
export type FailureKind = 'offline' | 'signed-out' | 'refused';

/** An error of the server or of the way to it, as a value. The message says what happened and what to do next. */
export interface Failure {
  kind: FailureKind;
  /** HTTP status; 0 without a response. */
  code: number;
  message: string;
  details: readonly ErrorDetail[];
}

/** A failure as something to throw: what react-query wants of a query that fails. */
export class FailureError extends Error {
  override readonly name = 'FailureError';
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(failure.message);
    this.failure = failure;
  }
}

export function failureOf(thrown: unknown): Failure {
  if (thrown instanceof FailureError) return thrown.failure;
  return { kind: 'refused', code: 0, message: reasonOf(thrown), details: [] };
}

/** For the `catch` of a read: `null` for an unknown or invalid id; other failures are thrown again. */
export function nullIfNotFound(thrown: unknown): null {
  const { code } = failureOf(thrown);
  if (code === 404 || code === 400) return null;
  throw thrown;
}
