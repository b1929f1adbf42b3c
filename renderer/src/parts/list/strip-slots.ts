/** What a list shows of a row on its strip. */
export interface StripPoint {
  key: string;
  atMs: number;
  /** How long it took, in milliseconds; undefined where that is not what the list is about. */
  tookMs?: number | undefined;
  hasFailed: boolean;
}

/** A part of the time that a strip shows. */
export interface StripSlot {
  count: number;
  failed: number;
  /** The one that took longest. */
  slowest: StripPoint | undefined;
}

/** The points by time in so many equal slots, the oldest first; those outside are left out. */
export function slotsOf(points: readonly StripPoint[], fromMs: number, toMs: number, slots: number): StripSlot[] {
  const made: StripSlot[] = Array.from({ length: slots }, () => ({ count: 0, failed: 0, slowest: undefined }));
  const spanMs = Math.max(1, toMs - fromMs);
  for (const point of points) {
    if (point.atMs < fromMs || point.atMs > toMs) continue;
    const slot = made[Math.min(slots - 1, Math.floor(((point.atMs - fromMs) / spanMs) * slots))];
    if (!slot) continue;
    slot.count += 1;
    slot.failed += point.hasFailed ? 1 : 0;
    if ((point.tookMs ?? -1) >= (slot.slowest?.tookMs ?? -1)) slot.slowest = point;
  }
  return made;
}

/** The share of a strip's height that a value takes: small ones are seen beside large ones. */
export function heightShare(value: number, most: number): number {
  return most <= 0 ? 0 : Math.sqrt(value / most);
}
