import { STATUS_CODES } from 'node:http';
import type { ErrorRequestHandler } from 'express';
import { ERROR_CODES, type ErrorCode, errorCodes } from '../../model/error-codes.ts';
import { PlatformError, toPlatformError } from '../../model/errors.ts';
import { errorFormOf } from '../schemas/forms.ts';

/** The last handler of a router (D-180). A thrown value other than PlatformError is reported to `onFault`; the client gets a 500 without details. */
export function answerErrors(onFault: (fault: unknown) => void): ErrorRequestHandler {
  return (thrown, req, res, next) => {
    const error = toPlatformError(refusalIn(thrown));
    if (error.status === 500) onFault(thrown);
    if (res.headersSent) return next(thrown);
    const [path = ''] = req.originalUrl.split('?', 1);
    res.status(error.status).set(error.headers).json(errorBody(path, error));
  };
}

/** The usual reason of a status, for errors that come without one and for clients that compare reasons. */
export function reasonFor(status: number): ErrorCode {
  if (status === 503) return 'overloaded';
  const unknownStatus = status < 500 ? 'invalid_request' : 'internal_error';
  return ERROR_CODES.find((code) => errorCodes[code].status === status) ?? unknownStatus;
}

/** Errors from express about a request are client errors. Their messages can contain local paths. */
function refusalIn(thrown: unknown): unknown {
  if (thrown instanceof URIError) return thrown;
  const { status, statusCode } = Object(thrown);
  if (typeof status !== 'number' || status !== statusCode || status < 400 || status > 499) return thrown;
  const reason = reasonFor(status);
  return new PlatformError(
    reason,
    `the request cannot be handled (${STATUS_CODES[errorCodes[reason].status]}). Check the URL.`,
    { cause: thrown },
  );
}

/** A refusal with an error code of RFC 6749, always 400 here (D-171). */
export class TokenError extends PlatformError {
  readonly error: 'invalid_grant' | 'invalid_client' | 'unsupported_grant_type';

  constructor(error: TokenError['error'], description: string) {
    super('invalid_body', description);
    this.error = error;
  }
}

/** The body of an error in the format of its path (D-180). @param path '' if it is unknown */
export function errorBody(path: string, error: PlatformError): object {
  const { status: code, reason, message, details } = error;
  switch (errorFormOf(path)) {
    case 'TokenError':
      return { error: tokenErrorOf(error), error_description: message, code };
    case 'SecurityError': {
      // Each violation with its location, for the author of a program.
      const developerMessage = details?.map(({ pointer, message }) => `${pointer}: ${message}`).join('; ') ?? message;
      return { code, reason, message, resource: path.slice(0, MAX_PATH_CHARACTERS), developerMessage };
    }
    default:
      return error.body();
  }
}

const MAX_PATH_CHARACTERS = 1_000;

function tokenErrorOf(error: PlatformError): string {
  if (error instanceof TokenError) return error.error;
  if (error.status === 429) return 'invalid_grant';
  return error.status >= 500 ? 'server_error' : 'invalid_request';
}
