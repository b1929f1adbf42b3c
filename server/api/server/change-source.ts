import type { IncomingMessage } from 'node:http';

/** The request header by which the command line, MCP tools and the window identify themselves for the history. */
const CLIENT_HEADER = 'x-terrarium-client';

/** The source of a change: any client of the API, unless it identifies itself as one of ours. */
export function changeSourceOf(req: IncomingMessage): 'api' | 'cli' | 'mcp' | 'ui' {
  const client = req.headers[CLIENT_HEADER];
  return client === 'cli' || client === 'mcp' || client === 'ui' ? client : 'api';
}
