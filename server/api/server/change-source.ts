import type { IncomingMessage } from 'node:http';

/** The request header by which the command line and the window identify themselves for the history. */
const CLIENT_HEADER = 'x-terrarium-client';

/** The source of a change: any client of the API, unless it identifies itself as the command line or the window. */
export function changeSourceOf(req: IncomingMessage): 'api' | 'cli' | 'ui' {
  const client = req.headers[CLIENT_HEADER];
  return client === 'cli' || client === 'ui' ? client : 'api';
}
