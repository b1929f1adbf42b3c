const UNITS_MS = { w: 604_800_000, d: 86_400_000, h: 3_600_000, m: 60_000, s: 1_000 } as const;

/** `1h 30m`, `90 minutes`, `5400` (seconds). */
export function spanMs(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d+$/.test(text.trim())) return Number(text) * 1_000;
  let sum = 0;
  for (const [, count, unit] of text.matchAll(/(\d{1,9}) {0,9}([wdhms])/g))
    sum += Number(count) * UNITS_MS[unit as keyof typeof UNITS_MS];
  return sum === 0 ? undefined : sum;
}
