import { type ErrorCode, type ErrorStatus, errorCodes } from './error-codes.ts';

export interface ErrorDetail {
  pointer: string;
  message: string;
}

export interface PlatformErrorOptions {
  details?: readonly ErrorDetail[];
  headers?: Readonly<Record<string, string>>;
  cause?: unknown;
}

/** The only error that clients see (D-180): its message says what failed, why, and what to do next. The cause is not sent. */
export class PlatformError extends Error {
  override readonly name = 'PlatformError';
  readonly reason: ErrorCode;
  readonly details: readonly ErrorDetail[] | undefined;
  readonly headers: Readonly<Record<string, string>>;

  constructor(reason: ErrorCode, message: string, options: PlatformErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.reason = reason;
    this.details = options.details;
    this.headers = options.headers ?? {};
  }

  get status(): ErrorStatus {
    return errorCodes[this.reason].status;
  }

  body(): { code: number; reason: ErrorCode; message: string; details?: readonly ErrorDetail[] } {
    return {
      code: this.status,
      reason: this.reason,
      message: this.message,
      ...(this.details && { details: this.details }),
    };
  }
}

/** The 403 of D-118. @param where names the resource on which the permission is missing */
export function forbidden(action: string, where: ErrorDetail): PlatformError {
  return new PlatformError('forbidden', `You do not have permission to perform this action. Failed: '${action}'`, {
    details: [where],
  });
}

export function invalid(pointer: string, message: string, reason: ErrorCode = 'invalid_body'): PlatformError {
  return new PlatformError(reason, `${pointer} ${message}`, { details: [{ pointer, message }] });
}

/** Converts a thrown value for the client: a PlatformError is unchanged, anything else becomes a 500 without details (D-182). */
export function toPlatformError(thrown: unknown): PlatformError {
  if (thrown instanceof PlatformError) return thrown;
  // Express throws this for a path such as `/%zz`.
  if (thrown instanceof URIError)
    return new PlatformError('invalid_url', 'the path is not valid percent-encoding', { cause: thrown });
  return new PlatformError('internal_error', 'internal error', { cause: thrown });
}

export function reasonOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

export function codeOf(thrown: unknown): string | undefined {
  return thrown instanceof Error && 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : undefined;
}
