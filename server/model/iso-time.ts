/** A time in responses: ISO-8601, UTC, with milliseconds (D-014). */
export function timeOf(atMs: number): string {
  return new Date(atMs).toISOString();
}

const ISO = /^(\d{4}-\d\d-(\d\d))(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?$/;

/** Milliseconds since 1970 of an ISO date, or date and time; UTC without an offset. NaN for any other text. */
export function epochMsOf(text: string): number {
  const [, date = '', day, time, , , offset] = ISO.exec(text) ?? [];
  // Date.parse takes February 31 for March 3.
  const isDate = new Date(date).getUTCDate() === Number(day);
  return isDate ? Date.parse(time && !offset ? `${text}Z` : text) : Number.NaN;
}

export function timeIfAny(atMs: number | undefined): string | undefined {
  return atMs === undefined ? undefined : timeOf(atMs);
}

/** With tenths of milliseconds, because parts of a call take less than one. */
export function exactTimeOf(atMs: number): string {
  const tenths = Math.round(atMs * 10);
  const second = Math.trunc(tenths / 10_000);
  if (second !== latest.second) latest = { second, text: timeOf(second * 1_000).slice(0, -'000Z'.length) };
  return `${latest.text}${String(tenths - second * 10_000).padStart(4, '0')}Z`;
}

/** The milliseconds that `Date.parse` reads from `exactTimeOf`. */
export function wholeMsOf(atMs: number): number {
  return Math.trunc(Math.round(atMs * 10) / 10);
}

/** Every request has several times of the same second. */
let latest = { second: 0, text: '1970-01-01T00:00:00.' };

export function tenthsBetween(fromMs: number, untilMs: number): number {
  return Math.round((untilMs - fromMs) * 10) / 10;
}
