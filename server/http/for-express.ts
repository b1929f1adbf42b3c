import { IncomingMessage, type ServerOptions, ServerResponse } from 'node:http';
import type { Express } from 'express';

/**
 * Options of the server of an express app. By itself express gives each request and response another prototype when it comes, from
 * where on V8 knows their shape no more: every look at one of them takes several times as long, in node:http as well. Of the classes
 * that this gives the server they have that prototype from the beginning.
 *
 * @param options the server's own, with a class of responses or without
 */
export function forExpress(app: Express, options: ServerOptions = {}): ServerOptions {
  class AppRequest extends IncomingMessage {}
  class AppResponse<R extends IncomingMessage> extends (options.ServerResponse ?? ServerResponse)<R> {}
  app.request = prototypeFor(app, AppRequest.prototype, app.request);
  app.response = prototypeFor(app, AppResponse.prototype, app.response);
  return { ...options, IncomingMessage: AppRequest, ServerResponse: AppResponse };
}

/** The prototype of a class, which from now on can do what express's own can. */
function prototypeFor<T extends object>(app: Express, prototype: object, expressOwn: T): T {
  Object.setPrototypeOf(prototype, Object.getPrototypeOf(expressOwn));
  return Object.assign(prototype, { app }) as T; // as: its own prototype is that of express's
}
