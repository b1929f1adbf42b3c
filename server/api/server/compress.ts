import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { createGzip, gzip } from 'node:zlib';
import type { RequestHandler, Response } from 'express';
import { codeOf } from '../../model/errors.ts';

/** Compressing less saves nothing. */
const LEAST_BYTES = 1024;
const COMPRESSIBLE =
  /^(text\/(?!event-stream)|application\/(json|yaml|xml|javascript)|[\w.-]+\/[\w.-]+\+(json|yaml|xml))/;

const gzipped = promisify(gzip);

/**
 * Compresses the body of a response that is sent in one piece, outside the event loop, for clients that accept it. What is written
 * piece by piece (events, logs that are followed) is sent as it is written; `sendStream` is for other streams.
 */
export function compressAnswers(): RequestHandler {
  return (req, res, next) => {
    res.setHeader('Vary', 'Accept-Encoding');
    if (req.headers['accept-encoding'] !== undefined) compressEnd(res);
    next();
  };
}

function compressEnd(res: Response): void {
  const end = res.end.bind(res);
  const compressedEnd = (...args: Parameters<typeof end>) => {
    const [body, charset] = args;
    const bytes = typeof body === 'string' ? Buffer.from(body, charset) : body;
    const isWhole = !res.headersSent && Buffer.isBuffer(bytes) && bytes.length >= LEAST_BYTES;
    if (!isWhole || !announceGzip(res)) return end(...args);
    gzipped(bytes).then(
      (compressed) => end(compressed),
      (fault) => res.destroy(fault),
    );
    return res;
  };
  res.end = compressedEnd as typeof res.end; // its signatures begin with the body, or with a callback that is passed on
}

/** Sets the headers of a compressed response, if its client and its other headers allow one. */
function announceGzip(res: Response): boolean {
  const { req } = res;
  const type = String(res.getHeader('Content-Type') ?? '');
  const isTaken = res.hasHeader('Content-Encoding') || res.hasHeader('Content-Range');
  if (isTaken || req.method === 'HEAD' || !COMPRESSIBLE.test(type)) return false;
  if (req.headers['accept-encoding'] === undefined || req.acceptsEncodings('gzip', 'identity') !== 'gzip') return false;
  res.setHeader('Content-Encoding', 'gzip').removeHeader('Content-Length');
  const tag = res.getHeader('ETag');
  if (typeof tag === 'string' && !tag.startsWith('W/')) res.setHeader('ETag', `W/${tag}`);
  return true;
}

/** The client disconnected, while the content was sent or before. */
const CLIENT_GONE = new Set<unknown>(['ERR_STREAM_PREMATURE_CLOSE', 'ERR_STREAM_UNABLE_TO_PIPE']);

/** Sends a stream as the response body. A client that disconnects is not an error; a source that fails closes the connection. */
export async function sendStream(content: Readable, res: Response): Promise<void> {
  try {
    await (announceGzip(res) ? pipeline(content, createGzip(), res) : pipeline(content, res));
  } catch (error) {
    if (!CLIENT_GONE.has(codeOf(error))) throw error;
  }
}
