import { existsSync, openSync, readSync } from 'node:fs';
import { PerformanceObserver } from 'node:perf_hooks';
import { setInterval } from 'node:timers'; // never the fake one of a test
import { setImmediate as nextTurn } from 'node:timers/promises';

const schedule = existsSync('/proc/thread-self/schedstat') ? openSync('/proc/thread-self/schedstat', 'r') : undefined;
const bytes = Buffer.alloc(64);

/** Can the processor time of a single thread be read here? */
export const canWatchTurns = schedule !== undefined;

/** Processor time of this thread so far. The time in which other processes had the processor does not count. */
function threadMs(): number {
  if (schedule === undefined) return 0;
  return Number.parseInt(bytes.toString('latin1', 0, readSync(schedule, bytes, 0, bytes.length, 0)), 10) / 1e6;
}

/** Processor time of `exampleMs` on the reference processor when it is idle. Limits are stated for that processor. */
const EXAMPLE_MS = 60;

function exampleMs(): number {
  const one = { id: 'an id', name: 'a name', properties: { number: 1, list: [1, '1'] } };
  const example = JSON.stringify(Array.from({ length: 10_000 }, () => one));
  const beginMs = threadMs();
  for (let count = 0; count < 10; count += 1) JSON.stringify(JSON.parse(example));
  return threadMs() - beginMs;
}

/** The slowest of so many: what is compared with them is the slowest of many turns, and the speed of a shared processor changes at any time. */
const EXAMPLES = 5;

/** How many times slower this thread is now than on the reference processor: other programs use the same processor, caches and memory. */
function slowness(): number {
  const beginMs = threadMs();
  const slower = Math.max(1, ...Array.from({ length: EXAMPLES }, () => exampleMs() / EXAMPLE_MS));
  // The comparison is not a turn of the platform.
  last.threadMs += threadMs() - beginMs;
  return slower;
}

/** What a processor time just measured would be on the reference processor without other programs. */
export function undisturbedMs(ms: number, slownessBefore = 1): number {
  return ms / Math.max(slownessBefore, slowness());
}

interface Span {
  beginMs: number;
  endMs: number;
}

interface Turn extends Span {
  threadMs: number;
}

/**
 * Processor time of the longest of these turns. Collecting garbage does not count: when it happens, and how long it takes, depends on all
 * that is in the memory of the process, such as what is left over from earlier tests.
 */
async function longestOf(turns: readonly Turn[], collections: readonly Span[]): Promise<number> {
  // Collections are announced in a later turn.
  if (turns.length > 0) await nextTurn();
  const tookMs = turns.map(({ beginMs, endMs, threadMs: tookMs }) =>
    collections.reduce(
      (restMs, one) => restMs - Math.max(0, Math.min(one.endMs, endMs) - Math.max(one.beginMs, beginMs)),
      tookMs,
    ),
  );
  return Math.max(0, ...tookMs);
}

/** An observer that adds each collection of garbage to a list. */
function collectionsTo(list: () => Span[]): PerformanceObserver {
  return new PerformanceObserver((seen) => {
    for (const { startTime, duration } of seen.getEntries())
      list().push({ beginMs: startTime, endMs: startTime + duration });
  });
}

/** Turns below it are not remembered. */
const SHORT_MS = 5;

/** Does something, and returns with its result the longest processor time of one turn of the event loop meanwhile, see `undisturbedMs`. */
export async function watchTurns<T>(work: () => Promise<T>): Promise<{ result: T; longestMs: number }> {
  const slownessBefore = slowness();
  const turns: Turn[] = [];
  const collections: Span[] = [];
  const collector = collectionsTo(() => collections);
  collector.observe({ entryTypes: ['gc'] });
  let isOver = false;
  let last = { atMs: performance.now(), threadMs: threadMs() };
  const sample = (): void => {
    const now = { atMs: performance.now(), threadMs: threadMs() };
    const tookMs = now.threadMs - last.threadMs;
    if (tookMs > SHORT_MS) turns.push({ beginMs: last.atMs, endMs: now.atMs, threadMs: tookMs });
    last = now;
    if (!isOver) setImmediate(sample);
  };
  setImmediate(sample);
  const result = await work();
  isOver = true;
  sample();
  const longestMs = await longestOf(turns, collections);
  collector.disconnect();
  return { result, longestMs: undisturbedMs(longestMs, slownessBefore) };
}

/** Processor time that one turn of the event loop may take while a platform runs in this process. */
export const LONGEST_TURN_MS = 100;

/** How often the time is read: what a turn took is known up to this. */
const SAMPLE_INTERVAL_MS = 5;

let platforms = 0;
let timer: NodeJS.Timeout | undefined;
let last = { atMs: 0, threadMs: 0 };
/** Long turns since they were last asked for, and the collections of garbage meanwhile. */
let longTurns: Turn[] = [];
let collections: Span[] = [];
const collector = collectionsTo(() => collections);

function sample(): void {
  const now = { atMs: performance.now(), threadMs: threadMs() };
  const tookMs = now.threadMs - last.threadMs;
  if (tookMs > LONGEST_TURN_MS) longTurns.push({ beginMs: last.atMs, endMs: now.atMs, threadMs: tookMs });
  last = now;
}

/** Watches the turns of a platform in this process, until the returned function is called. */
export function watchPlatform(): () => void {
  platforms += 1;
  if (canWatchTurns && !timer) {
    last = { atMs: performance.now(), threadMs: threadMs() };
    collector.observe({ entryTypes: ['gc'] });
    timer = setInterval(sample, SAMPLE_INTERVAL_MS).unref();
  }
  return () => {
    platforms -= 1;
    if (platforms <= 0) stopWatching();
  };
}

export function stopWatching(): void {
  platforms = 0;
  clearInterval(timer);
  collector.disconnect();
  timer = undefined;
}

/** Forgets the turns up to now. */
export function resetTurns(): void {
  if (timer) sample();
  longTurns = [];
  collections = [];
}

/** Processor time of the longest turn since the last call; 0 if none took longer than the limit. */
export async function takeLongestTurn(limitMs: number): Promise<number> {
  if (timer) sample();
  const longestMs = await longestOf(longTurns, collections);
  resetTurns();
  return longestMs <= limitMs ? 0 : undisturbedMs(longestMs);
}
