import { PlatformError } from '../../model/errors.ts';
import type { LogLine } from '../../model/invocation.ts';
import { invalidCursor, type LogParameters } from '../../model/log-query.ts';
import type { Uuid } from '../../model/record.ts';
import type { ContainerOperations } from '../../runtimes/containers/container-operations.ts';
import type { LogPage } from '../../runtimes/lambdas/lambda-service.ts';

/** Output of containers' instances, asked of their engine. */
export type ContainerLog = Pick<ContainerOperations, 'lines' | 'linesSince' | 'follow'>;

/** Number of the newest lines with which a stream starts. */
const FIRST_LINES = 1_000;
/** Maximum number of lines between two reads; more are skipped, and the gap is reported. */
const MAX_LINES_AT_ONCE = 5_000;

/** Reads one page of a container's log: what D-191 gives, or what came after a cursor. Throws 400 for a malformed cursor. */
export function containerPage(
  log: ContainerLog,
  containerId: Uuid,
  { after, stderr, ...query }: LogParameters & { after: string | undefined },
): () => Promise<LogPage> {
  const from = after === undefined ? undefined : parseCursor(after);
  const time = from === undefined ? query.time : new Date(from.atMs).toISOString();
  return async () => pageAfter(from, await log.lines(containerId, { time, stderr }));
}

/** Reads a container's log for a stream: the newest lines, or those since a cursor, and each that follows. */
export function containerStream(
  log: ContainerLog,
  containerId: Uuid,
): (cursor: string | undefined) => Promise<LogPage> {
  let isBegun = false;
  return async (cursor) => {
    const from = cursor === undefined ? undefined : parseCursor(cursor);
    const limit = from ? MAX_LINES_AT_ONCE : FIRST_LINES;
    const lines = await log.linesSince(containerId, from?.atMs ?? 0, limit).catch((failure: unknown) => {
      // The engine disconnected while the log is followed: it continues at the same line when the engine is back.
      if (isBegun && failure instanceof PlatformError && failure.status === 503) return [];
      throw failure;
    });
    isBegun = true;
    return { ...pageAfter(from, lines), hasGap: from !== undefined && lines.length >= MAX_LINES_AT_ONCE };
  };
}

/** A place in a log: a millisecond, and how many of its lines were read. */
interface LogPlace {
  atMs: number;
  count: number;
}

/** Returns the lines after a position. @param lines oldest first, with all since the millisecond of the position */
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
