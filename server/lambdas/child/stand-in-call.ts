import type { IncomingMessage, RequestOptions } from 'node:http';
import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { EXECUTION_HEADER } from '../../model/execution-header.ts';
import type { StandInAddress } from '../protocol.ts';

/** Statuses whose answer has no body (Fetch standard). */
const BODILESS = new Set([204, 205, 304]);
/** Headers of one connection; they say nothing about the next. */
const HOP_BY_HOP = new Set(['connection', 'keep-alive', 'transfer-encoding']);

/**
 * Repeats a request at a stand-in, body and answer streamed.
 *
 * @param send the request function of Node for the stand-in's protocol
 * @param executionId invocation that made the call, if it was made in one
 * @param onSent told of the request before it is sent
 */
export function askStandIn(
  request: Request,
  { host, port, caPem }: StandInAddress,
  send: typeof import('node:https').request,
  executionId: string | undefined,
  onSent: (outgoing: object) => void,
): Promise<Response> {
  return new Promise((resolve, reject) => {
    const url = new URL(request.url);
    const { [EXECUTION_HEADER]: _, ...headers } = Object.fromEntries(request.headers);
    const options: RequestOptions = {
      host,
      port,
      method: request.method,
      path: url.pathname + url.search,
      headers: { host: url.host, ...headers, ...(executionId !== undefined && { [EXECUTION_HEADER]: executionId }) },
    };
    // The certificate names the stand-in, not the CRM; that it is this very one is proof enough.
    const trust = caPem && { ca: caPem, checkServerIdentity: () => undefined };
    const outgoing = send({ ...options, ...trust }, (answer) => resolve(responseOf(answer)));
    onSent(outgoing);
    outgoing.on('error', reject);
    // As: the same streams, typed once by the web's and once by Node's declarations.
    if (request.body) Readable.fromWeb(request.body as ReadableStream).pipe(outgoing);
    else outgoing.end();
  });
}

/** An answer that nobody gave. */
export function madeUpResponse(status: number, text: string): Response {
  if (BODILESS.has(status)) return new Response(null, { status });
  return new Response(text, { status, headers: { 'content-type': 'text/plain; charset=utf-8' } });
}

function responseOf(answer: IncomingMessage): Response {
  const { statusCode: status = 502, statusMessage: statusText = '' } = answer;
  const headers = new Headers();
  for (const [name, values = []] of Object.entries(answer.headersDistinct)) {
    if (!HOP_BY_HOP.has(name)) for (const value of values) headers.append(name, value);
  }
  if (BODILESS.has(status)) answer.resume();
  // As: see above.
  const body = BODILESS.has(status)
    ? null
    : (Readable.toWeb(answer) as unknown as ConstructorParameters<typeof Response>[0]);
  return new Response(body, { status, statusText, headers });
}
