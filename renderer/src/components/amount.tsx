import { useSyncExternalStore } from 'react';
import { agoText, bytesText, clockText, dayText, durationText, fullTimeText } from './amounts.ts';

const TICK_MS = 5000;
let nowMs = Date.now();
const watchers = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;

function subscribeToClock(watcher: () => void): () => void {
  watchers.add(watcher);
  // While nothing showed a time, it was not read.
  if (timer === undefined) nowMs = Date.now();
  timer ??= setInterval(() => {
    nowMs = Date.now();
    for (const watch of watchers) watch();
  }, TICK_MS);
  return () => {
    watchers.delete(watcher);
    if (watchers.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

/** The time now in ms since 1970; moves on every five seconds, for all who look at once. */
export function useNowMs(): number {
  return useSyncExternalStore(subscribeToClock, () => nowMs);
}

export interface TimeProps {
  /** ISO text or ms since 1970. */
  at: string | number;
  /** `ago` (the default): `3 min ago`; `clock`: `22:41:07.318`; `day`: `22 Nov 2026, 22:41:07`. */
  as?: 'ago' | 'clock' | 'day';
}

/** A moment; the full time is its title. */
export function Time({ at, as = 'ago' }: TimeProps) {
  const atMs = typeof at === 'number' ? at : Date.parse(at);
  if (Number.isNaN(atMs)) return <span>{at}</span>;
  return (
    <time dateTime={new Date(atMs).toISOString()} title={fullTimeText(atMs)} className="whitespace-nowrap">
      {as === 'clock' ? clockText(atMs) : as === 'day' ? dayText(atMs) : <Ago atMs={atMs} />}
    </time>
  );
}

function Ago({ atMs }: { atMs: number }) {
  return agoText(atMs, Math.max(useNowMs(), atMs));
}

/** A span of time in ms; `-` when there is none. */
export function Duration({ ms }: { ms: number | undefined | null }) {
  return <span className="whitespace-nowrap">{ms === undefined || ms === null ? '-' : durationText(ms)}</span>;
}

/** An amount of bytes; the exact number is its title. */
export function Bytes({ bytes }: { bytes: number | undefined | null }) {
  if (bytes === undefined || bytes === null) return <span>-</span>;
  return (
    <span className="whitespace-nowrap" title={`${bytes.toLocaleString('en')} bytes`}>
      {bytesText(bytes)}
    </span>
  );
}
