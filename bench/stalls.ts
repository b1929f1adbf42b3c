// How long others wait while a world of 100,000 resources is kept, exported, checked and brought back: the longest time in which
// the event loop had no turn, in processor time of its thread, by the clock, and the longest pause for garbage. A floor stands beside
// it: JSON.stringify and JSON.parse of the same world, in one go.
//
//   node bench/run.mjs stalls [resources]
import { existsSync, openSync, readSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PerformanceObserver } from 'node:perf_hooks';
import { setTimeout as wait } from 'node:timers/promises';
import { growWorld } from '../e2e/large-world.ts';
import { startEmulator } from '../server/emulator.ts';
import { printLines } from './speed/goals.ts';

const GOAL_MS = 20;
const SETTLE_MS = 2_000;
const size = Number(process.argv[2] ?? 100_000);

interface Measured {
  what: string;
  /** Longest time between two turns of the loop. */
  longestMs: number;
  /** The same, in processor time of the thread alone: on a busy machine it waits for its turn, too. Equal where nobody tells. */
  longestOwnMs: number;
  /** Longest pause for garbage collection. */
  longestGcMs: number;
  tookMs: number;
}

const schedule = existsSync('/proc/thread-self/schedstat') ? openSync('/proc/thread-self/schedstat', 'r') : undefined;
const bytes = Buffer.alloc(64);

/** Processor time of this thread so far. */
function ownMs(): number {
  if (schedule === undefined) return performance.now();
  return Number.parseInt(bytes.toString('latin1', 0, readSync(schedule, bytes, 0, bytes.length, 0)), 10) / 1e6;
}

let longestGcMs = 0;
new PerformanceObserver((list) => {
  for (const { duration } of list.getEntries()) longestGcMs = Math.max(longestGcMs, duration);
}).observe({ entryTypes: ['gc'] });

/** Does something, and looks at each turn of the loop how long the one before it took. */
async function watched(what: string, work: () => unknown): Promise<Measured> {
  let [longestMs, longestOwnMs] = [0, 0];
  let [lastMs, lastOwnMs] = [performance.now(), ownMs()];
  let isOver = false;
  const look = (): void => {
    const [nowMs, nowOwnMs] = [performance.now(), ownMs()];
    longestMs = Math.max(longestMs, nowMs - lastMs);
    longestOwnMs = Math.max(longestOwnMs, nowOwnMs - lastOwnMs);
    [lastMs, lastOwnMs] = [nowMs, nowOwnMs];
    if (!isOver) setImmediate(look);
  };
  await wait(50);
  [lastMs, lastOwnMs] = [performance.now(), ownMs()];
  longestGcMs = 0;
  look();
  const beganMs = performance.now();
  await work();
  const tookMs = performance.now() - beganMs;
  isOver = true;
  look();
  await wait(50);
  return { what, longestMs, longestOwnMs, longestGcMs, tookMs };
}

const data = await mkdtemp(join(tmpdir(), 'terrarium-stalls-'));
try {
  await (await startEmulator({ data, seed: 'empty' })).stop();
  await growWorld(data, size);
  const platform = await startEmulator({ data, seed: 'empty' });
  const { baseUrl, rootCredentials } = platform;
  const Authorization = `Basic ${Buffer.from(`${rootCredentials.apiKey}:${rootCredentials.apiSecret}`).toString('base64')}`;
  const ask = async (method: string, path: string, body?: Uint8Array | string, type = 'application/json') => {
    const headers = { Authorization, ...(body !== undefined && { 'Content-Type': type }) };
    const answer = await fetch(baseUrl + path, { method, headers, ...(body !== undefined && { body }) });
    const bytes: Buffer[] = [];
    for await (const chunk of answer.body ?? []) bytes.push(Buffer.from(chunk));
    if (!answer.ok)
      throw new Error(`${method} ${path}: ${answer.status} ${Buffer.concat(bytes).toString().slice(0, 300)}`);
    return Buffer.concat(bytes);
  };
  const rows: Measured[] = [];
  // The client of this program is loaded with its first request, and what the start has left is thrown away.
  await ask('GET', '/inspect/snapshots');
  await wait(SETTLE_MS);
  const name = JSON.stringify({ name: 'kept' });
  rows.push(await watched('a snapshot under a name', () => ask('POST', '/inspect/snapshots', name)));
  rows.push(await watched('bring it back (nothing changed)', () => ask('POST', '/inspect/snapshots/kept/restore')));
  let archive: Buffer = Buffer.alloc(0);
  rows.push(
    await watched('export', async () => {
      archive = await ask('GET', '/inspect/archive');
    }),
  );
  rows.push(
    await watched('import, as a trial', () => ask('POST', '/inspect/archive?dryRun=true', archive, 'application/zip')),
  );
  rows.push(await watched('import', () => ask('POST', '/inspect/archive', archive, 'application/zip')));
  rows.push(await watched('stop, with the world written', () => platform.stop()));
  const text = await readFile(join(data, 'world.json'), 'utf8');
  const parse = await watched('floor: JSON.parse of the file', () => JSON.parse(text));
  const world: unknown = JSON.parse(text);
  rows.push(parse, await watched('floor: JSON.stringify of it', () => JSON.stringify(world)));
  console.log(
    `\nlongest time without a turn, ${size.toLocaleString('en')} resources, ${(text.length / 1e6).toFixed(0)} MB\n`,
  );
  printLines(
    rows.map(({ what, longestOwnMs, longestMs, longestGcMs, tookMs }) => ({
      what: `${what} (by the clock ${longestMs.toFixed(0)} ms, garbage ${longestGcMs.toFixed(0)}, as a whole ${tookMs.toFixed(0)})`,
      measured: longestOwnMs,
      unit: 'ms',
      ...(!what.startsWith('floor') && { goal: { atMost: GOAL_MS } }),
    })),
  );
} finally {
  await rm(data, { recursive: true, force: true });
}
