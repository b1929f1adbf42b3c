import type { Response } from 'express';
import type { Notifier } from '../../api/server/notifier.ts';
import { PlatformError } from '../../model/errors.ts';
import type { LogLine } from '../../model/invocation.ts';
import { invalidCursor, type LogParameters } from '../../model/log-query.ts';
import type { Uuid } from '../../model/record.ts';
import type { ContainerOperations } from '../../runtimes/containers/container-operations.ts';
import type { LogPage } from '../../runtimes/lambdas/lambda-service.ts';
import { streamLog } from './log-stream.ts';

/** Output of containers' instances, asked of their engine. */
export type ContainerLog = Pick<ContainerOperations, 'lines' | 'linesSince' | 'follow'>;

interface Waiting {
  notifier: Notifier;
  res: Response;
  requireAccess(): void;
}

/** Number of the newest lines with which a stream starts. */
const FIRST_LINES = 1_000;
/** What is more than this between two looks is skipped, and the gap is reported. */
const MAX_LINES_AT_ONCE = 5_000;

/** One page of a container's log: what D-191 gives, or what came after a cursor; the first line is waited for, if asked. */
export async function readContainerLog(
  log: ContainerLog,
  containerId: Uuid,
  query: LogParameters & { after: string | undefined; waitS: number },
  { notifier, ...waiting }: Waiting,
): Promise<LogPage> {
  const { after, waitS, stderr } = query;
  const from = after === undefined ? undefined : parseCursor(after);
  const find = async (): Promise<LogPage> => {
    const time = from === undefined ? query.time : new Date(from.atMs).toISOString();
    return pageAfter(from, await log.lines(containerId, { time, stderr }));
  };
  const unfollow = waitS === 0 ? () => undefined : await log.follow(containerId, () => notifier.notify(containerId));
  try {
    return await notifier.waitFor(find, ({ lines }) => lines.length > 0, { topic: containerId, waitS, ...waiting });
  } finally {
    unfollow();
  }
}

/** Answers with a container's log, live: the newest lines, or those since a cursor, and each that follows. */
export async function streamContainerLog(
  log: ContainerLog,
  containerId: Uuid,
  after: string | undefined,
  { notifier, res, requireAccess }: Waiting,
): Promise<void> {
  let isBegun = false;
  const read = async (cursor: string | undefined): Promise<LogPage> => {
    if (cursor === undefined) {
      const newest = await log.linesSince(containerId, 0, FIRST_LINES);
      isBegun = true;
      return pageAfter(undefined, newest);
    }
    const from = parseCursor(cursor);
    const lines = await log.linesSince(containerId, from.atMs, MAX_LINES_AT_ONCE).catch((failure: unknown) => {
      // The engine disconnected while the log is followed: it continues at the same line when the engine is back.
      if (isBegun && failure instanceof PlatformError && failure.status === 503) return [];
      throw failure;
    });
    isBegun = true;
    return { ...pageAfter(from, lines), hasGap: lines.length >= MAX_LINES_AT_ONCE };
  };
  // Followed before it is read: nothing that is written in between is missed.
  const unfollow = await log.follow(containerId, () => notifier.notify(containerId));
  try {
    await streamLog(res, after, read, { notifier, topic: containerId, requireAccess });
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
function pageAfter(from: LogPlace | undefined, lines: readonly LogLine[]): LogPage {
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
  throw invalidCursor(after);
}
