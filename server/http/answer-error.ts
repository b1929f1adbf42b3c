import type { ErrorRequestHandler } from 'express';
import { type PlatformError, toPlatformError } from '../model/errors.ts';

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
    const error = toPlatformError(thrown);
    if (error.status === 500) onFault(thrown);
    if (res.headersSent) return next(thrown);
    res.status(error.status).set(error.headers).json(bodyOf(error));
  };
}
