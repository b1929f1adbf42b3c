/** A moment as answers tell it: ISO-8601, UTC, with milliseconds (D-014). */
export function timeOf(atMs: number): string {
  return new Date(atMs).toISOString();
}
