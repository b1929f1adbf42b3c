import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Response } from 'express';
import { codeOf } from '../model/reason.ts';

/** Sends a stream as the body of an answer. A reader who goes away in the middle is no fault; a source that fails ends the connection. */
export async function sendStream(content: Readable, res: Response): Promise<void> {
  try {
    await pipeline(content, res);
  } catch (error) {
    if (codeOf(error) !== 'ERR_STREAM_PREMATURE_CLOSE') throw error;
  }
}
