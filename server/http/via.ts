import type { IncomingMessage } from 'node:http';

/** The request header by which our own command line and window say who they are, so that the history can tell. */
const CLIENT_HEADER = 'x-terrarium-client';

/** Through what a change is asked for: any client of the API, unless it says to be the command line or the window. */
export function viaOf(req: IncomingMessage): 'api' | 'cli' | 'ui' {
  const client = req.headers[CLIENT_HEADER];
  return client === 'cli' || client === 'ui' ? client : 'api';
}
