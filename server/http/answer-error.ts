import { STATUS_CODES } from 'node:http';
import type { ErrorRequestHandler } from 'express';
import { PlatformError, toPlatformError } from '../model/errors.ts';

/**
 * The last handler of a router: renders whatever was thrown as JSON with its status and headers (D-180). What is not a
 * PlatformError is a fault of the emulator: it is reported to `onFault` and answered as a 500 that tells nothing.
 *
 * @param bodyOf the router's own error body; the default is the resource service's
 */
export function answerErrors(
  onFault: (fault: unknown) => void,
  bodyOf: (error: PlatformError) => object = (error) => error.body(),
): ErrorRequestHandler {
  return (thrown, _req, res, next) => {
    const error = toPlatformError(refusalIn(thrown));
    if (error.status === 500) onFault(thrown);
    if (res.headersSent) return next(thrown);
    res.status(error.status).set(error.headers).json(bodyOf(error));
  };
}

/** Of the refusals that express and its files throw, those that are told as they are; any other is a bad request. */
const TOLD = [403, 404, 413, 416] as const;

/** What express and its files refuse of a request is no fault of ours. Their messages name places on the disk. */
function refusalIn(thrown: unknown): unknown {
  const { status, statusCode } = Object(thrown);
  if (typeof status !== 'number' || status !== statusCode || status < 400 || status > 499) return thrown;
  const told = TOLD.find((one) => one === status) ?? 400;
  return new PlatformError(
    told,
    `nothing is to be had so (${STATUS_CODES[told]}): look at the address of the request`,
    {
      cause: thrown,
    },
  );
}
