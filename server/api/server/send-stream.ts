import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Response } from 'express';
import { codeOf } from '../../model/errors.ts';
import { encoderFor } from './compress.ts';

/** The client disconnected, while the content was sent or before. */
const CLIENT_GONE = new Set<unknown>(['ERR_STREAM_PREMATURE_CLOSE', 'ERR_STREAM_UNABLE_TO_PIPE']);

/** Sends a stream as the response body. A client that disconnects is not an error; a source that fails closes the connection. */
export async function sendStream(content: Readable, res: Response): Promise<void> {
  try {
    const encoder = encoderFor(res);
    await (encoder ? pipeline(content, encoder, res) : pipeline(content, res));
  } catch (error) {
    if (!CLIENT_GONE.has(codeOf(error))) throw error;
  }
}
