import { IncomingMessage, type ServerOptions, ServerResponse } from 'node:http';
import type { Express } from 'express';

/**
 * Options for the server of an express app. Express changes the prototype of each request and response, which makes V8 lose their shape:
 * every access takes several times as long, also in node:http. Objects of these classes have the express prototype from the start.
 *
 * @param options the options of the server, with or without a class of responses
 */
export function forExpress(app: Express, options: ServerOptions = {}): ServerOptions {
  class AppRequest extends IncomingMessage {}
  class AppResponse<R extends IncomingMessage> extends (options.ServerResponse ?? ServerResponse)<R> {}
  app.request = prototypeFor(app, AppRequest.prototype, app.request);
  app.response = prototypeFor(app, AppResponse.prototype, app.response);
  return { ...options, IncomingMessage: AppRequest, ServerResponse: AppResponse };
}

/** The prototype of a class, extended with the methods of express. */
function prototypeFor<T extends object>(app: Express, prototype: object, expressOwn: T): T {
  Object.setPrototypeOf(prototype, Object.getPrototypeOf(expressOwn));
  return Object.assign(prototype, { app }) as T; // its prototype is that of express
}
