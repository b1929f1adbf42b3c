export interface ErrorDetail {
  pointer: string;
  message: string;
}

/** The meaning of each status on this platform (D-182). 500 is never thrown explicitly; it is the status of internal errors. */
export type PlatformStatus =
  | 400 // malformed or schema violation
  | 401 // authentication required
  | 403 // missing permission
  | 404 // unknown id, organization or route
  | 405 // method not allowed (gateway only)
  | 409 // conflict: name taken, children, limit rule, incompatible environment type
  | 413 // body too large
  | 414 // request target too long
  | 415 // unsupported content type
  | 416 // range not satisfiable
  | 422 // patch not applicable, unknown parent of api or endpoint, unknown linked provider, rule type
  | 426 // only available as a WebSocket
  | 429 // limit exceeded
  | 500 // internal error
  | 501 // not emulated
  | 502 // the lambda or container did not respond properly
  | 503 // currently unavailable
  | 504; // timeout

export interface PlatformErrorOptions {
  details?: readonly ErrorDetail[];
  headers?: Readonly<Record<string, string>>;
  cause?: unknown;
}

/** The only error that clients see (D-180): its message says what failed, why, and what to do next. The cause is not sent. */
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

  body(): { code: number; message: string; details?: readonly ErrorDetail[] } {
    return { code: this.status, message: this.message, ...(this.details && { details: this.details }) };
  }
}

/** The 403 of D-118. @param where names the resource on which the permission is missing */
export function forbidden(action: string, where: ErrorDetail): PlatformError {
  return new PlatformError(403, `You do not have permission to perform this action. Failed: '${action}'`, {
    details: [where],
  });
}

/** The 403 for actions of the root user (D-118). */
export function rootOnly(action: string): PlatformError {
  return forbidden(action, { pointer: '/', message: 'only the root user may do this; sign in as root' });
}

export function invalid(pointer: string, message: string): PlatformError {
  return new PlatformError(400, `${pointer} ${message}`, { details: [{ pointer, message }] });
}

/** Converts a thrown value for the client: a PlatformError is unchanged, anything else becomes a 500 without details (D-182). */
export function toPlatformError(thrown: unknown): PlatformError {
  if (thrown instanceof PlatformError) return thrown;
  // Express throws this for a path such as `/%zz`.
  if (thrown instanceof URIError)
    return new PlatformError(400, 'the path is not valid percent-encoding', { cause: thrown });
  return new PlatformError(500, 'internal error', { cause: thrown });
}

export function reasonOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

export function codeOf(thrown: unknown): string | undefined {
  return thrown instanceof Error && 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : undefined;
}
