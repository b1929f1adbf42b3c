import type { Response } from 'express';
import type { Arrivals } from '../http/arrivals.ts';
import { PlatformError } from '../model/errors.ts';
import type { Uuid } from '../model/ids.ts';
import type { LogLine } from '../model/invocation.ts';
import type { LogParameters } from '../model/log-query.ts';
import { type LogPiece, streamLog } from './log-stream.ts';

/** Output of containers' instances, asked of their engine. */
export interface ContainerLog {
  /** Oldest first. Rejects with 400 for a malformed query, 503 when the engine does not answer. */
  lines(containerId: Uuid, query: LogParameters): Promise<LogLine[]>;
  /** At or after a moment, oldest first, at most so many of the newest. Rejects with 503 likewise. */
  linesSince(containerId: Uuid, sinceMs: number, newest: number): Promise<LogLine[]>;
  /** Tells that there is something new, from now on until the returned function is called, also after the engine was away. */
  follow(containerId: Uuid, onNews: () => void): Promise<() => void>;
}

/** A stream begins with so many of the newest lines. */
const FIRST_LINES = 1_000;
/** What is more than this between two looks is skipped, and the gap is told. */
const MAX_LINES_AT_ONCE = 5_000;

/** One page of a container's log: what D-191 gives, or what came after a cursor; the first line is waited for, if asked. */
export async function readContainerLog(
  log: ContainerLog,
  containerId: Uuid,
  query: LogParameters & { after: string | undefined; waitS: number },
  { arrivals, res }: { arrivals: Arrivals; res: Response },
): Promise<LogPiece> {
  const { after, waitS, stderr } = query;
  const from = after === undefined ? undefined : parseCursor(after);
  const find = async (): Promise<LogPiece> => {
    const time = from === undefined ? query.time : new Date(from.atMs).toISOString();
    return pageAfter(from, await log.lines(containerId, { time, stderr }));
  };
  const unfollow = waitS === 0 ? () => undefined : await log.follow(containerId, () => arrivals.announce(containerId));
  try {
    return await arrivals.look(find, ({ lines }) => lines.length > 0, { topic: containerId, waitS, res });
  } finally {
    unfollow();
  }
}

/** Answers with a container's log, live: the newest lines, or those since a cursor, and each that follows. */
export async function streamContainerLog(
  log: ContainerLog,
  containerId: Uuid,
  after: string | undefined,
  { arrivals, res }: { arrivals: Arrivals; res: Response },
): Promise<void> {
  let isBegun = false;
  const read = async (cursor: string | undefined): Promise<LogPiece> => {
    if (cursor === undefined) {
      const newest = await log.linesSince(containerId, 0, FIRST_LINES);
      isBegun = true;
      return pageAfter(undefined, newest);
    }
    const from = parseCursor(cursor);
    const lines = await log.linesSince(containerId, from.atMs, MAX_LINES_AT_ONCE).catch((failure: unknown) => {
      // The engine has gone while somebody reads: it is gone on where they are once it is back.
      if (isBegun && failure instanceof PlatformError && failure.status === 503) return [];
      throw failure;
    });
    isBegun = true;
    return { ...pageAfter(from, lines), hasGap: lines.length >= MAX_LINES_AT_ONCE };
  };
  // Followed before it is read: nothing that is written in between is missed.
  const unfollow = await log.follow(containerId, () => arrivals.announce(containerId));
  try {
    await streamLog(res, after, read, { arrivals, topic: containerId });
  } finally {
    unfollow();
  }
}

/** A place in a log: a millisecond, and how many of its lines were read. */
interface LogPlace {
  atMs: number;
  count: number;
}

/** What of lines, oldest first and all since a place's millisecond, comes after that place. */
function pageAfter(from: LogPlace | undefined, lines: readonly LogLine[]): LogPiece {
  let toSkip = from?.count ?? 0;
  const fresh = lines.filter(({ atMs }) => {
    if (!from || atMs > from.atMs) return true;
    if (atMs < from.atMs) return false;
    toSkip -= 1;
    return toSkip < 0;
  });
  const lastMs = fresh.at(-1)?.atMs;
  if (lastMs === undefined) return { lines: fresh, cursor: printCursor(from ?? { atMs: 0, count: 0 }), hasGap: false };
  const count = fresh.filter(({ atMs }) => atMs === lastMs).length + (lastMs === from?.atMs ? from.count : 0);
  return { lines: fresh, cursor: printCursor({ atMs: lastMs, count }), hasGap: false };
}

const printCursor = ({ atMs, count }: LogPlace) => `${atMs}-${count}`;

function parseCursor(after: string): LogPlace {
  const [, atMs, count] = /^(\d{1,16})-(\d{1,9})$/.exec(after) ?? [];
  if (atMs !== undefined && count !== undefined) return { atMs: Number(atMs), count: Number(count) };
  throw new PlatformError(400, `after '${after.slice(0, 64)}' is no cursor: send the one of the page before, or none`);
}
