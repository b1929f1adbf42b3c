import { PlatformError } from '../../model/errors.ts';

/** A refusal with an error code of RFC 6749, always 400 here (D-171). */
export class TokenError extends PlatformError {
  readonly error: 'invalid_grant' | 'invalid_client' | 'unsupported_grant_type';

  constructor(error: TokenError['error'], description: string) {
    super('invalid_body', description);
    this.error = error;
  }
}

/**
 * The body of an error of the control plane (D-180). The path decides on its form, because some requests are refused before a service sees
 * them.
 *
 * @param path of the request without the query; '' if it is unknown
 */
export function errorBody(path: string, error: PlatformError): object {
  if (/^\/security(\/[^/]+)?\/oauth\/issue\/?$/.test(path)) {
    return { error: tokenErrorOf(error), error_description: error.message, code: error.status };
  }
  if (!/^\/security(\/|$)/.test(path)) return error.body();
  const { status: code, reason, message, details } = error;
  // Each violation with its location, for the author of a program.
  const developerMessage = details?.map(({ pointer, message }) => `${pointer}: ${message}`).join('; ') ?? message;
  return { code, reason, message, resource: path.slice(0, MAX_PATH_CHARACTERS), developerMessage };
}

const MAX_PATH_CHARACTERS = 1_000;

function tokenErrorOf(error: PlatformError): string {
  if (error instanceof TokenError) return error.error;
  if (error.status === 429) return 'invalid_grant';
  return error.status >= 500 ? 'server_error' : 'invalid_request';
}
