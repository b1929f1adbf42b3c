import type { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { type BrotliOptions, brotliCompress, constants, createBrotliCompress, createGzip, gzip } from 'node:zlib';
import type { RequestHandler, Response } from 'express';
import { codeOf } from '../../model/errors.ts';

/** Compressing less saves nothing. */
const LEAST_BYTES = 1024;
const COMPRESSIBLE =
  /^(text\/(?!event-stream)|application\/(json|yaml|xml|javascript)|[\w.-]+\/[\w.-]+\+(json|yaml|xml))/;

/** As small as gzip makes it, in less time. */
const BROTLI: BrotliOptions = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } };
const [gzipped, brotlied] = [promisify(gzip), promisify(brotliCompress)];
const ENCODINGS = {
  gzip: { whole: (body: Buffer) => gzipped(body), stream: (): Transform => createGzip() },
  br: { whole: (body: Buffer) => brotlied(body, BROTLI), stream: (): Transform => createBrotliCompress(BROTLI) },
};

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
    const encoding = isWhole ? encodingFor(res) : undefined;
    if (!encoding) return end(...args);
    encoding.whole(bytes).then(
      (compressed) => end(compressed),
      (fault) => res.destroy(fault),
    );
    return res;
  };
  res.end = compressedEnd as typeof res.end; // its signatures begin with the body, or with a callback that is passed on
}

/** Returns the encoding of a response, if its client and its headers allow compression. Sets the headers. */
function encodingFor(res: Response): (typeof ENCODINGS)['gzip'] | undefined {
  const { req } = res;
  const type = String(res.getHeader('Content-Type') ?? '');
  const isTaken = res.hasHeader('Content-Encoding') || res.hasHeader('Content-Range');
  if (isTaken || req.method === 'HEAD' || !COMPRESSIBLE.test(type)) return undefined;
  const name = req.headers['accept-encoding'] !== undefined && req.acceptsEncodings('gzip', 'br', 'identity');
  if (name !== 'gzip' && name !== 'br') return undefined;
  res.setHeader('Content-Encoding', name).removeHeader('Content-Length');
  const tag = res.getHeader('ETag');
  if (typeof tag === 'string' && !tag.startsWith('W/')) res.setHeader('ETag', `W/${tag}`);
  return ENCODINGS[name];
}

/** The client disconnected, while the content was sent or before. */
const CLIENT_GONE = new Set<unknown>(['ERR_STREAM_PREMATURE_CLOSE', 'ERR_STREAM_UNABLE_TO_PIPE']);

/** Sends a stream as the response body. A client that disconnects is not an error; a source that fails closes the connection. */
export async function sendStream(content: Readable, res: Response): Promise<void> {
  try {
    const encoder = encodingFor(res)?.stream();
    await (encoder ? pipeline(content, encoder, res) : pipeline(content, res));
  } catch (error) {
    if (!CLIENT_GONE.has(codeOf(error))) throw error;
  }
}
