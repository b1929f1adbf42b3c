/** A number with its unit: `1 call`, `1,200 calls`. @param several the plural, if it is not formed with an s */
export function counted(count: number, singular: string, several = `${singular}s`): string {
  return `${count.toLocaleString('en')} ${count === 1 ? singular : several}`;
}

/** A share as a percentage; a small one is not shown as none, nor an almost full one as all. */
export function shareText(share: number): string {
  if (share > 0 && share < 0.01) return '< 1 %';
  if (share < 1 && share > 0.99) return '> 99 %';
  return `${Math.round(share * 100)} %`;
}

/** A span of time as people say it: `0.4 ms`, `38 ms`, `1.42 s`, `3 min 5 s`, `2 h 10 min`. */
export function durationText(ms: number): string {
  if (ms < 10) return `${Number(ms.toFixed(1))} ms`;
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 10_000) return `${(ms / 1000).toFixed(2)} s`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  const s = Math.round(ms / 1000);
  if (s < 3600) return `${Math.floor(s / 60)} min ${s % 60} s`;
  const minutes = Math.round(s / 60);
  if (minutes < 48 * 60) return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
  return `${Math.round(minutes / 1440)} d`;
}

const UNITS = ['B', 'kB', 'MB', 'GB', 'TB'];

/** An amount of bytes: `512 B`, `1.4 kB`, `12 MB`; a kB is 1,000 bytes. */
export function bytesText(bytes: number): string {
  let amount = bytes;
  let unit = 0;
  while (amount >= 999.5 && unit < UNITS.length - 1) {
    amount /= 1000;
    unit += 1;
  }
  const digits = unit === 0 || amount >= 99.95 ? 0 : amount >= 9.95 ? 0 : 1;
  return `${amount.toFixed(digits)} ${UNITS[unit]}`;
}

/** Returns the age of a moment: `just now`, `12 s ago`, `3 min ago`, `2 h ago`, `5 d ago`; `in 3 min` for a moment in the future. */
export function agoText(atMs: number, nowMs: number): string {
  const s = Math.round(Math.abs(nowMs - atMs) / 1000);
  if (s < 5) return 'just now';
  const amount =
    s < 60
      ? `${s} s`
      : s < 3600
        ? `${Math.floor(s / 60)} min`
        : s < 172_800
          ? `${Math.floor(s / 3600)} h`
          : `${Math.floor(s / 86_400)} d`;
  return atMs <= nowMs ? `${amount} ago` : `in ${amount}`;
}

const CLOCK = new Intl.DateTimeFormat('en-GB', {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  fractionalSecondDigits: 3,
});
const FULL = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' });

/** The time of day with milliseconds, local: `22:41:07.318`. */
export function clockText(atMs: number): string {
  return CLOCK.format(atMs);
}

/** Day and time, local: `22 Nov 2026, 22:41:07`. */
export function dayText(atMs: number): string {
  return FULL.format(atMs);
}

export function fullTimeText(atMs: number): string {
  return `${dayText(atMs)} (${new Date(atMs).toISOString()})`;
}
