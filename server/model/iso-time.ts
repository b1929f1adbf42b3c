/** A moment as answers tell it: ISO-8601, UTC, with milliseconds (D-014). */
export function timeOf(atMs: number): string {
  return new Date(atMs).toISOString();
}

/** The same of one that may not have been: then there is nothing to tell. */
export function timeIfAny(atMs: number | undefined): string | undefined {
  return atMs === undefined ? undefined : timeOf(atMs);
}
