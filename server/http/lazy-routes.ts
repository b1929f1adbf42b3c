import type { RequestHandler } from 'express';

/** Routes of which a start makes nothing: to load what they are made of is no part of it. */
export function lazyRoutes(get: () => Promise<RequestHandler>): RequestHandler {
  let routes: RequestHandler | undefined;
  return async (req, res, next) => {
    routes ??= await get();
    routes(req, res, next);
  };
}
