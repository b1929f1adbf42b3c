import { once } from 'node:events';
import { type IncomingMessage, type Server, type ServerOptions, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Starts to listen; rejects with the error of the operating system. @param at.port 0 selects a free port */
export async function listenAt(server: Server, at: { host: string; port: number }): Promise<AddressInfo> {
  server.listen(at.port, at.host);
  await once(server, 'listening');
  return server.address() as AddressInfo; // a server on a TCP port always has an address
}

/** Stops listening; running requests get a moment to finish. */
export async function closeWithin(server: Server, graceMs: number): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  server.closeIdleConnections();
  const timer = setTimeout(() => server.closeAllConnections(), graceMs);
  await closed;
  clearTimeout(timer);
}

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

export interface ArrivalTimes {
  headersMs: number;
  requestMs: number;
}

/** The limits of listeners without explicit ones. */
const ARRIVAL_TIMES: ArrivalTimes = { headersMs: 20_000, requestMs: 60_000 };

/** Interval at which node:http checks the limits; its default of 30 s would add to each of them. */
const CHECK_MS = 1_000;

/** Options for a listener that disconnects slow clients, because each one uses a connection and memory. */
export function cutSlowClients({ headersMs, requestMs }: ArrivalTimes = ARRIVAL_TIMES): ServerOptions {
  return { headersTimeout: headersMs, requestTimeout: requestMs, connectionsCheckingInterval: CHECK_MS };
}
