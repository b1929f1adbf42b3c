import type { Response } from 'express';
import { PlatformError } from '../model/errors.ts';
import type { Uuid } from '../model/ids.ts';
import type { LogLine } from '../model/invocation.ts';
import type { LogParameters } from '../model/log-query.ts';
import type { Arrivals } from './arrivals.ts';

/** Output of containers' instances, asked of their engine. */
export interface ContainerLog {
  /** Oldest first. Rejects with 400 for a malformed query, 503 when the engine does not answer. */
  lines(containerId: Uuid, query: LogParameters): Promise<LogLine[]>;
  /** Tells each line from now on until the returned function is called. */
  follow(containerId: Uuid, onLine: () => void): Promise<() => void>;
}

export interface ContainerLogPage {
  lines: LogLine[];
  /** Given back as `after`, it leads to what has come since. */
  cursor: string;
  hasGap: boolean;
}

/** One page of a container's log: what D-191 gives, or what came after a cursor; the first line is waited for, if asked. */
export async function readContainerLog(
  log: ContainerLog,
  containerId: Uuid,
  query: LogParameters & { after: string | undefined; waitS: string | undefined },
  { arrivals, res }: { arrivals: Arrivals; res: Response },
): Promise<ContainerLogPage> {
  const { after, waitS, stderr } = query;
  const sinceMs = after === undefined ? undefined : parseCursor(after);
  const find = async (): Promise<ContainerLogPage> => {
    const time = sinceMs === undefined ? query.time : new Date(sinceMs).toISOString();
    const lines = await log.lines(containerId, { time, stderr });
    // Lines of the cursor's own millisecond were on the page before.
    const fresh = sinceMs === undefined ? lines : lines.filter(({ atMs }) => atMs > sinceMs);
    return { lines: fresh, cursor: String(fresh.at(-1)?.atMs ?? sinceMs ?? 0), hasGap: false };
  };
  const unfollow =
    waitS === undefined ? () => undefined : await log.follow(containerId, () => arrivals.announce(containerId));
  try {
    return await arrivals.look(find, ({ lines }) => lines.length > 0, { topic: containerId, waitS, res });
  } finally {
    unfollow();
  }
}

function parseCursor(after: string): number {
  if (/^\d{1,16}$/.test(after)) return Number(after);
  throw new PlatformError(400, `after '${after.slice(0, 64)}' is no cursor: send the one of the page before, or none`);
}
