/** One reason inside an error: where in the document (JSON Pointer) and what was expected. */
export interface ErrorDetail {
  pointer: string;
  message: string;
}

/** What a status means on this platform (D-182). 500 is never thrown on purpose: it is what an emulator fault becomes. */
export type PlatformStatus =
  | 400 // malformed or schema violation
  | 401 // authentication required
  | 403 // right missing
  | 404 // unknown id, fqon or route
  | 405 // method not allowed (gateway only)
  | 409 // conflict: name taken, children, limit rule, incompatible environment type
  | 413 // body too large
  | 414 // request target too long
  | 415 // wrong content type
  | 416 // a part of a file that it does not have
  | 422 // patch not applicable, unknown parent of api or endpoint, unknown linked provider, rule type
  | 426 // only to be had as a WebSocket
  | 429 // limit exceeded
  | 500 // emulator fault
  | 501 // not emulated
  | 502 // lambda or container misbehaved
  | 503 // not available now
  | 504; // no answer in time

export interface PlatformErrorOptions {
  details?: readonly ErrorDetail[];
  /** Extra response headers, such as Retry-After. */
  headers?: Readonly<Record<string, string>>;
  cause?: unknown;
}

/**
 * The one error a client may see (D-180): thrown anywhere, rendered in one place as `{code, message, details?}`.
 * The message says what happened, where, and what to do next; the cause stays inside.
 */
export class PlatformError extends Error {
  override readonly name = 'PlatformError';
  readonly status: PlatformStatus;
  readonly details: readonly ErrorDetail[] | undefined;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: PlatformStatus, message: string, options: PlatformErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.status = status;
    this.details = options.details;
    this.headers = options.headers ?? {};
  }

  /** The wire body of D-180. */
  body(): { code: number; message: string; details?: readonly ErrorDetail[] } {
    return { code: this.status, message: this.message, ...(this.details && { details: this.details }) };
  }
}

/** The 403 of D-118. @param where names the resource that the right is missing on */
export function forbidden(action: string, where: ErrorDetail): PlatformError {
  return new PlatformError(403, `You do not have permission to perform this action. Failed: '${action}'`, {
    details: [where],
  });
}

/** The 403 for what only the root user may do (D-118). */
export function rootOnly(action: string): PlatformError {
  return forbidden(action, { pointer: '/', message: 'only the root user may do this; sign in as root' });
}

/** A 400 that points at one member of the record. */
export function invalid(pointer: string, message: string): PlatformError {
  return new PlatformError(400, `${pointer} ${message}`, { details: [{ pointer, message }] });
}

/** What a thrown value becomes for the client: a PlatformError as it is, anything else a 500 that tells nothing (D-182). */
export function toPlatformError(thrown: unknown): PlatformError {
  if (thrown instanceof PlatformError) return thrown;
  // Express throws this for a path such as `/%zz`.
  if (thrown instanceof URIError)
    return new PlatformError(400, 'the path is not valid percent-encoding', { cause: thrown });
  return new PlatformError(500, 'internal error', { cause: thrown });
}
