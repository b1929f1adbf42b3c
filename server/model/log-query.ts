import { PlatformError } from './errors.ts';
import type { LogLine } from './invocation.ts';
import { epochMsOf } from './iso-time.ts';

export interface LogQuery {
  sinceMs: number;
  newest: number;
  withStderr: boolean;
}

export interface LogParameters {
  time?: string | undefined;
  stderr?: string | undefined;
}

const DEFAULT_NEWEST = 1_000;
export const UNIT_MS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const BACK = /^(\d{1,9})([smhd])$/;

/** `?time=` (D-191) is `<n>s|m|h|d` back from now, an ISO timestamp, or `all`; `stderr=false` leaves it out. Throws 400. */
export function parseLogQuery({ time, stderr }: LogParameters, nowMs: number): LogQuery {
  if (stderr !== undefined && stderr !== 'true' && stderr !== 'false') {
    throw new PlatformError('invalid_query', `stderr '${stderr.slice(0, 64)}' must be true or false`);
  }
  return { ...parseTime(time, nowMs), withStderr: stderr !== 'false' };
}

export function selectLines(lines: readonly LogLine[], { sinceMs, newest, withStderr }: LogQuery): LogLine[] {
  const matchingLines = lines.filter((line) => line.atMs >= sinceMs && (withStderr || line.stream === 'stdout'));
  return matchingLines.slice(Math.max(0, matchingLines.length - newest));
}

function parseTime(time: string | undefined, nowMs: number): Pick<LogQuery, 'sinceMs' | 'newest'> {
  if (time === undefined) return { sinceMs: Number.NEGATIVE_INFINITY, newest: DEFAULT_NEWEST };
  const everything = { newest: Number.POSITIVE_INFINITY };
  if (time === 'all') return { sinceMs: Number.NEGATIVE_INFINITY, ...everything };
  const [, amount, unit] = BACK.exec(time) ?? [];
  // The expression allows no other units.
  if (amount && unit) return { sinceMs: nowMs - Number(amount) * UNIT_MS[unit as keyof typeof UNIT_MS], ...everything };
  const sinceMs = epochMsOf(time);
  if (Number.isNaN(sinceMs)) {
    throw new PlatformError(
      'invalid_query',
      `time '${time.slice(0, 64)}' must be a number with s, m, h or d such as 15m, an ISO timestamp, or all`,
    );
  }
  return { sinceMs, ...everything };
}

export function invalidCursor(cursor: string): PlatformError {
  const shortenedCursor = cursor.slice(0, 64);
  return new PlatformError(
    'invalid_query',
    `after '${shortenedCursor}' is not a valid cursor. Send the cursor of the previous page, or omit it.`,
  );
}
