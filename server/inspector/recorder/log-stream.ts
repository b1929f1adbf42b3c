import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import type { Response } from 'express';
import type { Notifier } from '../../api/server/notifier.ts';
import { PlatformError } from '../../model/errors.ts';
import type { LogPage } from '../../runtimes/lambdas/lambda-service.ts';
import { toLineView } from './recorded-invocation.ts';

/** While there is nothing to tell the line is shown to be alive, and looked at whether the source still is. In seconds. */
const HEARTBEAT_S = 15;
/** Lines that come close together go together: a viewer draws no faster, and the source is asked less often. */
const GATHER_MS = 100;

/**
 * Sends a log as server-sent events: `lines` with `{lines, hasGap}`, each with the cursor of its end as id. The next page is read only after
 * the previous one was sent, so nothing accumulates. Ends when the reader disconnects or loses its permission, or the source fails.
 *
 * @param from start of the log, a cursor; undefined: the newest lines
 * @param read returns the lines after a cursor; an error of its first call is the response
 */
export async function streamLog(
  res: Response,
  from: string | undefined,
  read: (after: string | undefined) => LogPage | Promise<LogPage>,
  { notifier, ...wait }: { notifier: Notifier; topic: string; requireAccess(): void },
): Promise<void> {
  let after = from;
  const find = async () => {
    const piece = await read(after);
    after = piece.cursor;
    return piece;
  };
  // Errors of the request or the engine get a status code, because nothing has been sent yet.
  let piece = await find();
  res.writeHead(200, {
    'Content-Type': 'text/event-stream; charset=utf-8',
    'Cache-Control': 'no-store',
    'X-Accel-Buffering': 'no',
  });
  res.write('retry: 1000\n\n');
  let isFirst = true;
  while (!res.closed) {
    const isEvent = hasNews(piece) || isFirst;
    isFirst = false;
    if (!res.write(isEvent ? eventOf(piece) : ': still here\n\n')) await drained(res);
    await pause(GATHER_MS);
    if (res.closed) return;
    try {
      piece = await notifier.waitFor(find, hasNews, { ...wait, waitS: HEARTBEAT_S, res });
    } catch (failure) {
      // The headers have been sent: the stream ends, and the reader's next request gets the reason.
      res.end();
      if (failure instanceof PlatformError) return;
      throw failure;
    }
  }
}

export const hasNews = ({ lines, hasGap }: LogPage): boolean => lines.length > 0 || hasGap;

function eventOf({ lines, cursor, hasGap }: LogPage): string {
  return `id: ${cursor}\nevent: lines\ndata: ${JSON.stringify({ lines: lines.map(toLineView), hasGap })}\n\n`;
}

/** Resolves when all written data has been consumed, or the connection has ended. */
async function drained(res: Response): Promise<void> {
  if (res.closed) return;
  const wait = new AbortController();
  await Promise.race([once(res, 'drain', wait), once(res, 'close', wait)]);
  wait.abort();
}
