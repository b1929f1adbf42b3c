import { type IncomingMessage, type ServerOptions, ServerResponse } from 'node:http';

const ANNOUNCED_MS = 5_000;
const UNANNOUNCED_MS = 10_000;

/**
 * Options for a listener with keep-alive connections. The listener waits longer than it announces, because a client can send a request at
 * the last moment or notice the end late on a busy machine. Otherwise the client would get ECONNRESET and could not know whether the
 * request was executed.
 *
 * @param announcedMs time that responses announce
 */
export function keepIdleConnections(announcedMs = ANNOUNCED_MS): ServerOptions {
  class PatientResponse<Request extends IncomingMessage = IncomingMessage> extends ServerResponse<Request> {
    constructor(request: Request, options?: object) {
      // node:http supports these options, but its types do not include them.
      super(...([request, options] as unknown as [Request]));
      // By then, node:http has set the announced time and up to a second, unless a further request has been received.
      this.once('close', () => {
        const { socket } = request;
        if ((socket.timeout ?? 0) >= announcedMs) socket.setTimeout(announcedMs + UNANNOUNCED_MS);
      });
    }
  }
  return { keepAliveTimeout: announcedMs, ServerResponse: PatientResponse };
}
