import { type IncomingMessage, type ServerOptions, ServerResponse } from 'node:http';

/** How long clients are told that they may keep a connection without a request. */
const ANNOUNCED_S = 5;
/** How long it is kept. */
const KEPT_MS = 15_000;

/**
 * Options of a listener whose clients send again on connections that were idle. A client that keeps to what it is told sends at the
 * last moment, and one on a busy machine notices late that the time is over: it is not to find the connection closed, as it would
 * where both count the same seconds (ECONNRESET, and nobody knows whether the request was carried out).
 */
export function keepIdleConnections(): ServerOptions {
  return { keepAliveTimeout: KEPT_MS, ServerResponse: AnnouncingResponse };
}

class AnnouncingResponse<Request extends IncomingMessage = IncomingMessage> extends ServerResponse<Request> {
  constructor(request: Request, options?: object) {
    // As: node:http hands over options that its types leave out.
    super(...([request, options] as unknown as [Request]));
    this.setHeader('Keep-Alive', `timeout=${ANNOUNCED_S}`);
  }
}
