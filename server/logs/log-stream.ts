import { setTimeout as pause } from 'node:timers/promises';
import type { Response } from 'express';
import type { Arrivals } from '../http/arrivals.ts';
import { PlatformError } from '../model/errors.ts';
import type { LogLine } from '../model/invocation.ts';
import { shownLine } from '../traffic/shown-invocation.ts';

/** While there is nothing to tell the line is shown to be alive, and looked at whether the source still is. In seconds. */
const HEARTBEAT_S = 15;
/** Lines that come close together go together: a viewer draws no faster, and the source is asked less often. */
const GATHER_MS = 100;

/** Lines of a log from where a reader has got to. */
export interface LogPiece {
  /** Oldest first. */
  lines: readonly LogLine[];
  /** Where the next piece begins. */
  cursor: string;
  /** Were there lines in between that are gone? */
  hasGap: boolean;
}

/**
 * Answers with a log as server-sent events: `lines` with `{lines, hasGap}`, each with the cursor of its end as id, so that a
 * reader who comes back with that id (`Last-Event-ID`) goes on there. The next piece is not read before the one before has been
 * taken: a slow reader waits for itself only, and nothing piles up here. Ends when the reader goes, the source fails or the
 * platform stops.
 *
 * @param from cursor to begin after; undefined: with the newest lines
 * @param read gives what has come since a cursor; what it throws at first is the answer
 */
export async function streamLog(
  res: Response,
  from: string | undefined,
  read: (after: string | undefined) => LogPiece | Promise<LogPiece>,
  { arrivals, topic }: { arrivals: Arrivals; topic: string },
): Promise<void> {
  let after = from;
  const find = async () => {
    const piece = await read(after);
    after = piece.cursor;
    return piece;
  };
  // What is wrong with the request, or the engine, is told with a status: nothing has been sent yet.
  let piece = await find();
  res.writeHead(200, {
    'Content-Type': 'text/event-stream; charset=utf-8',
    'Cache-Control': 'no-store',
    'X-Accel-Buffering': 'no',
  });
  res.write('retry: 1000\n\n');
  let isFirst = true;
  while (!res.closed) {
    const hasNews = piece.lines.length > 0 || piece.hasGap || isFirst;
    isFirst = false;
    if (!res.write(hasNews ? eventOf(piece) : ': still here\n\n')) await drained(res);
    await pause(GATHER_MS);
    if (res.closed) return;
    try {
      const wait = { topic, waitS: HEARTBEAT_S, res };
      piece = await arrivals.look(find, ({ lines, hasGap }) => lines.length > 0 || hasGap, wait);
    } catch (failure) {
      // Its headers are sent: the end of the stream says it, and the reader's next try is told why.
      res.end();
      if (failure instanceof PlatformError) return;
      throw failure;
    }
  }
}

function eventOf({ lines, cursor, hasGap }: LogPiece): string {
  return `id: ${cursor}\nevent: lines\ndata: ${JSON.stringify({ lines: lines.map(shownLine), hasGap })}\n\n`;
}

/** Resolves when all that was written has been taken, or nobody will take it any more. */
function drained(res: Response): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      res.off('drain', end);
      res.off('close', end);
      resolve();
    };
    res.on('drain', end);
    res.on('close', end);
    if (res.closed) end();
  });
}
