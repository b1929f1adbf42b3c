import { STATUS_CODES } from 'node:http';
import type { ErrorRequestHandler } from 'express';
import { type ErrorCode, errorCodes } from '../../model/error-codes.ts';
import { PlatformError, toPlatformError } from '../../model/errors.ts';
import { errorBody } from './error-body.ts';

/**
 * The last handler of a router: returns errors as JSON with their status and headers (D-180). An error other than PlatformError is an
 * internal error: it is reported to `onFault`, and the client gets a 500 without details.
 *
 * The path decides on the form of the body (`errorBody`).
 */
export function answerErrors(onFault: (fault: unknown) => void): ErrorRequestHandler {
  return (thrown, req, res, next) => {
    const error = toPlatformError(refusalIn(thrown));
    if (error.status === 500) onFault(thrown);
    if (res.headersSent) return next(thrown);
    const [path = ''] = req.originalUrl.split('?', 1);
    res.status(error.status).set(error.headers).json(errorBody(path, error));
  };
}

/** Codes of errors from express by status; any other status becomes 400. */
const EXPRESS_CODES: Readonly<Record<number, ErrorCode>> = {
  403: 'forbidden',
  404: 'not_found',
  413: 'body_too_large',
  416: 'range_not_satisfiable',
};

/** Errors from express about a request are client errors. Their messages can contain local paths. */
function refusalIn(thrown: unknown): unknown {
  const { status, statusCode } = Object(thrown);
  if (typeof status !== 'number' || status !== statusCode || status < 400 || status > 499) return thrown;
  const reason = EXPRESS_CODES[status] ?? 'invalid_request';
  return new PlatformError(
    reason,
    `the request cannot be handled (${STATUS_CODES[errorCodes[reason].status]}). Check the URL.`,
    {
      cause: thrown,
    },
  );
}
