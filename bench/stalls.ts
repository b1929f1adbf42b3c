// How long others wait while a world of 100,000 resources is kept, exported, checked and brought back: the longest time in which
// the event loop had no turn. A floor stands beside it: JSON.stringify and JSON.parse of the same world, in one go.
//
//   node bench/run.mjs stalls [resources]
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { growWorld } from '../e2e/large-world.ts';
import { startEmulator } from '../server/emulator.ts';
import { printLines } from './speed/goals.ts';

const GOAL_MS = 20;
const size = Number(process.argv[2] ?? 100_000);

interface Measured {
  what: string;
  longestMs: number;
  tookMs: number;
}

/** Does something, and looks at each turn of the loop how long the one before it took. */
async function watched(what: string, work: () => unknown): Promise<Measured> {
  let longestMs = 0;
  let lastMs = performance.now();
  let isOver = false;
  const look = (): void => {
    const nowMs = performance.now();
    longestMs = Math.max(longestMs, nowMs - lastMs);
    lastMs = nowMs;
    if (!isOver) setImmediate(look);
  };
  look();
  const beganMs = performance.now();
  await work();
  const tookMs = performance.now() - beganMs;
  isOver = true;
  look();
  await wait(50);
  return { what, longestMs, tookMs };
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
    rows.map(({ what, longestMs, tookMs }) => ({
      what: `${what} (${tookMs.toFixed(0)} ms as a whole)`,
      measured: longestMs,
      unit: 'ms',
      ...(!what.startsWith('floor') && { goal: { atMost: GOAL_MS } }),
    })),
  );
} finally {
  await rm(data, { recursive: true, force: true });
}
