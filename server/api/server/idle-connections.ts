import { type IncomingMessage, type ServerOptions, ServerResponse } from 'node:http';

const ANNOUNCED_S = 5;
const KEPT_MS = 15_000;

/**
 * Options for a listener with keep-alive connections. The listener waits longer than it announces, because a client can send a request at
 * the last moment or notice the end late on a busy machine. Otherwise the client would get ECONNRESET and could not know whether the
 * request was executed.
 */
export function keepIdleConnections(): ServerOptions {
  return { keepAliveTimeout: KEPT_MS, ServerResponse: AnnouncingResponse };
}

class AnnouncingResponse<Request extends IncomingMessage = IncomingMessage> extends ServerResponse<Request> {
  constructor(request: Request, options?: object) {
    // node:http supports these options, but its types do not include them.
    super(...([request, options] as unknown as [Request]));
    this.setHeader('Keep-Alive', `timeout=${ANNOUNCED_S}`);
  }
}
