// Captured at start, because a lambda may replace the globals of its own process.
const OwnDate = Date;
const machineNow = Date.now.bind(Date);

let aheadMs = 0;

/** The time of the platform's clock (D-222), in milliseconds since 1970. */
export function platformNow(): number {
  return machineNow() + aheadMs;
}

/** The milliseconds by which the platform's clock is ahead of the machine's. */
export function clockAheadMs(): number {
  return aheadMs;
}

/** Makes `Date` show the platform's clock, so many milliseconds ahead of the machine's. Timers and `performance` keep the machine's time. */
export function showPlatformClock(newAheadMs: number): void {
  const isShown = OwnDate.now === platformNow;
  aheadMs = newAheadMs;
  // A lambda's own fake stays.
  if (isShown || newAheadMs === 0 || globalThis.Date !== OwnDate) return;
  OwnDate.now = platformNow;
  const PlatformDate = new Proxy(OwnDate, {
    construct: (target, args, newTarget) =>
      Reflect.construct(target, args.length === 0 ? [platformNow()] : args, newTarget),
    apply: () => new OwnDate(platformNow()).toString(),
  });
  OwnDate.prototype.constructor = PlatformDate;
  globalThis.Date = PlatformDate;
}
