import { pipeline } from 'node:stream/promises';
import { createMcpHandler } from '@modelcontextprotocol/server';
import type { RequestHandler } from 'express';
import { ToolClient } from '../../api/mcp/tool-client.ts';
import { toolServers } from '../../api/mcp/tool-server.ts';
import { readJson } from '../../api/server/read-body.ts';

/**
 * Answers requests of the streamable HTTP transport without sessions: each tool call is a request with the credentials of its own.
 *
 * @param baseUrl returns the address at which this process reaches the platform
 */
export function toolHandler(baseUrl: () => string): RequestHandler {
  const createServer = toolServers();
  const handler = createMcpHandler(({ requestInfo }) =>
    createServer(() => new ToolClient(baseUrl(), requestInfo?.headers.get('authorization') ?? undefined)),
  );
  return async (req, res) => {
    const { method } = req;
    const ended = new AbortController();
    res.once('close', () => ended.abort());
    // Not `headersDistinct`: the credentials of a session of the window are added to `headers`.
    const headers = Object.entries(req.headers).flatMap(([name, value = []]) =>
      [value].flat().map((text): [string, string] => [name, text]),
    );
    const parsedBody = method === 'POST' ? await readJson(req) : undefined;
    const request = new Request(new URL(req.originalUrl, baseUrl()), { method, headers, signal: ended.signal });
    const answer = await handler.fetch(request, { parsedBody });
    res.status(answer.status).setHeaders(answer.headers);
    await pipeline(answer.body ?? [], res).catch((failure: unknown) => {
      if (!ended.signal.aborted) throw failure;
    });
  };
}
