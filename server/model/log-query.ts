import { PlatformError } from './errors.ts';
import type { LogLine } from './invocation.ts';

/** Lines of a log that a reader wants (D-191), newest last. */
export interface LogQuery {
  /** Only lines at or after this time. */
  sinceMs: number;
  /** Only so many of the newest. */
  newest: number;
  /** Standard error too? */
  withStderr: boolean;
}

/** Query parameters of a log route as they came. */
export interface LogParameters {
  time?: string | undefined;
  stderr?: string | undefined;
}

/** What a reader gets who asks for no time. */
const DEFAULT_NEWEST = 1_000;
const UNIT_MS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const BACK = /^(\d{1,9})([smhd])$/;
/** A date, or date and time with an offset; without an offset it is UTC. */
const ISO = /^(\d{4}-\d\d-\d\d)(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?$/;

/**
 * Reads `?time=&stderr=` of a log route (D-191): `<n>s|m|h|d` back from now, an ISO timestamp, or `all`; `stderr=false`
 * leaves out standard error. Throws 400.
 */
export function parseLogQuery({ time, stderr }: LogParameters, nowMs: number): LogQuery {
  if (stderr !== undefined && stderr !== 'true' && stderr !== 'false') {
    throw new PlatformError(400, `stderr '${stderr.slice(0, 64)}' is neither true nor false`);
  }
  return { ...parseTime(time, nowMs), withStderr: stderr !== 'false' };
}

/** The lines of a log, oldest first, that a query asks for. */
export function selectLines(lines: readonly LogLine[], { sinceMs, newest, withStderr }: LogQuery): LogLine[] {
  const wanted = lines.filter((line) => line.atMs >= sinceMs && (withStderr || line.stream === 'stdout'));
  return wanted.slice(Math.max(0, wanted.length - newest));
}

function parseTime(time: string | undefined, nowMs: number): Pick<LogQuery, 'sinceMs' | 'newest'> {
  if (time === undefined) return { sinceMs: Number.NEGATIVE_INFINITY, newest: DEFAULT_NEWEST };
  const everything = { newest: Number.POSITIVE_INFINITY };
  if (time === 'all') return { sinceMs: Number.NEGATIVE_INFINITY, ...everything };
  const [, amount, unit] = BACK.exec(time) ?? [];
  // As: the expression allows no other units.
  if (amount && unit) return { sinceMs: nowMs - Number(amount) * UNIT_MS[unit as keyof typeof UNIT_MS], ...everything };
  const [, , clock, , , offset] = ISO.exec(time) ?? [];
  const sinceMs = ISO.test(time) ? Date.parse(clock && !offset ? `${time}Z` : time) : Number.NaN;
  if (Number.isNaN(sinceMs)) {
    throw new PlatformError(
      400,
      `time '${time.slice(0, 64)}' is none of: a number with s, m, h or d such as 15m, an ISO timestamp, or all`,
    );
  }
  return { sinceMs, ...everything };
}
