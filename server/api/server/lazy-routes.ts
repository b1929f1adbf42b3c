import type { RequestHandler } from 'express';

/** Routes whose modules are loaded on the first request, to keep the start fast. */
export function lazyRoutes(get: () => Promise<RequestHandler>): RequestHandler {
  let routes: RequestHandler | undefined;
  return async (req, res, next) => {
    routes ??= await get();
    routes(req, res, next);
  };
}
