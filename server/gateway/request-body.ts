import type { IncomingMessage, ServerResponse } from 'node:http';
import { PlatformError } from '../model/errors.ts';

export const NO_BODY = new Uint8Array(0);

/** The client went away before its request was complete: there is nobody to answer. */
export class ClientGone extends Error {}

/** Does the request announce a body? */
export function hasBody(request: IncomingMessage): boolean {
  return request.headers['transfer-encoding'] !== undefined || (request.headers['content-length'] ?? '0') !== '0';
}

/** Throws 413 when the request announces a body over the limit. */
export function refuseLargeBody(request: IncomingMessage, maxBytes: number): void {
  if (Number(request.headers['content-length']) > maxBytes) throw tooLarge(maxBytes);
}

/**
 * The whole request body. Throws 413 as soon as it is known to be over the limit: nothing beyond is kept, and the rest is
 * read and thrown away, so that the client gets the answer. Throws ClientGone when the client breaks off.
 *
 * @param response where a client that asked first (`Expect: 100-continue`) is told to go on
 */
export async function readBody(
  request: IncomingMessage,
  response: ServerResponse,
  maxBytes: number,
): Promise<Uint8Array> {
  if (!hasBody(request)) return NO_BODY;
  refuseLargeBody(request, maxBytes);
  if (request.headers.expect !== undefined && request.httpVersion === '1.1') response.writeContinue();
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  await new Promise<void>((resolve, reject) => {
    request.on('data', (chunk: Buffer) => {
      sizeBytes += chunk.length;
      if (sizeBytes <= maxBytes) chunks.push(chunk);
      else {
        chunks.length = 0;
        reject(tooLarge(maxBytes));
      }
    });
    request.on('end', resolve);
    const breakOff = () => request.complete || reject(new ClientGone());
    request.on('error', breakOff);
    request.on('close', breakOff);
  });
  return chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks, sizeBytes);
}

/** The 413 of a body over the limit (D-185). */
export function tooLarge(maxBytes: number): PlatformError {
  return new PlatformError(413, `the request body is over ${maxBytes} bytes`);
}
