import { pipeline, type Readable } from 'node:stream';
import { constants, createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import type { RemoteResponse } from './send-request.ts';

/** The body of a response without its content encoding. One that is missing or ends early is no error of the decoder. */
export function decodedBody({ body, headers }: Pick<RemoteResponse, 'body' | 'headers'>): Readable {
  const { Z_SYNC_FLUSH, BROTLI_OPERATION_FLUSH } = constants;
  const encoding = headers['content-encoding'];
  if (encoding === 'gzip') return pipeline(body, createGunzip({ finishFlush: Z_SYNC_FLUSH }), () => {});
  if (encoding === 'deflate') return pipeline(body, createInflate({ finishFlush: Z_SYNC_FLUSH }), () => {});
  if (encoding === 'br')
    return pipeline(body, createBrotliDecompress({ finishFlush: BROTLI_OPERATION_FLUSH }), () => {});
  return body;
}
