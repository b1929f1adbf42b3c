// Load test of the shipped server, in less than two minutes on any machine: mixed load with memory and descriptors over time, kills,
// data folders that are moved away, a full disk, and an engine that hangs. Each line says how much was tried, what of the acknowledged
// was lost, and how many responses were faults (5xx other than a 503 with its reason). Exits with 1 when anything was lost or at fault.
// `node bench/run.mjs stress 4` does four times as much, and takes up to four times as long.
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { CLI } from './speed/harness.ts';
import { usageOf } from './speed/memory.ts';
import { AUTHORIZATION, Terrarium } from './speed/terrarium.ts';

const TIMES = Math.max(1, Number(process.argv[2] ?? 1));
/** For all parts together, without what the last step of each takes to end. */
const LIMIT_MS = 90_000 * TIMES;
const WRITERS = 6;
const LOAD_S = 10 * TIMES;
const KILLS = 6 * TIMES;
const SWAPS = 3 * TIMES;
/** A kill comes up to so long after the first write. */
const LONGEST_RUN_MS = 1_500;
const ANSWER_LIMIT_MS = 15_000;
const SMALL_DISK = 'size=6m';

const tempFolder = await mkdtemp(join(tmpdir(), 'terrarium-stress-'));
let folders = 0;
const newFolder = () => join(tempFolder, `data-${++folders}`);

/** When the present part has to begin nothing more, by `performance.now()`. */
let untilMs = 0;
const isTimeUp = () => performance.now() >= untilMs;

/** The counts of outcomes in one part of the test. */
class Tally {
  tried = 0;
  acknowledged = 0;
  refused = 0;
  lost = 0;
  faults = 0;
  unanswered = 0;

  /** Counts an answer; undefined: there was none. */
  saw(status: number | undefined): void {
    this.tried += 1;
    if (status === undefined) this.unanswered += 1;
    else if (status < 300) this.acknowledged += 1;
    else if (status < 500 || status === 503) this.refused += 1;
    else this.faults += 1;
  }

  print(name: string, more = ''): void {
    const counts = `tried ${this.tried}, acknowledged ${this.acknowledged}, refused ${this.refused}, unanswered ${this.unanswered}`;
    console.log(`${name.padEnd(14)} ${counts} / lost ${this.lost} / 5xx ${this.faults}${more && ` / ${more}`}`);
    if (this.lost + this.faults > 0) process.exitCode = 1;
  }
}

const start = (data: string, how: { seed?: string; engine?: string } = {}) =>
  Terrarium.start(CLI, tempFolder, { data, ...how });

interface Answer {
  status: number;
  text: string;
}

/** Resolves to undefined when there was no answer. */
async function send(method: string, url: string, body?: string, headers = {}): Promise<Answer | undefined> {
  try {
    const response = await fetch(url, {
      method,
      redirect: 'manual',
      headers: {
        Authorization: AUTHORIZATION,
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body }),
      signal: AbortSignal.timeout(ANSWER_LIMIT_MS),
    });
    return { status: response.status, text: await response.text() };
  } catch {
    return undefined;
  }
}

const create = ({ baseUrl }: Terrarium, name: string) => send('POST', `${baseUrl}/meta/root`, JSON.stringify({ name }));

/** Counts what of the acknowledged a platform does not have, and ends it; resolves to the milliseconds that the end took. */
async function countLost(server: Terrarium, acknowledgedNames: ReadonlySet<string>, tally: Tally): Promise<number> {
  const answer = await send('GET', `${server.baseUrl}/meta/orgs`);
  const found = new Set(JSON.parse(answer?.text ?? '[]').map(({ name }: { name: string }) => name));
  tally.lost += [...acknowledgedNames].filter((name) => !found.has(name)).length;
  return server.end();
}

/** Creates organizations until a request is rejected or gets no response; adds the acknowledged ones to the set. */
async function write(server: Terrarium, name: string, acknowledgedNames: Set<string>, tally: Tally): Promise<void> {
  for (let count = 0; ; count++) {
    const answer = await create(server, `${name}-${count}`);
    tally.saw(answer?.status);
    if (answer?.status !== 201) return;
    acknowledgedNames.add(`${name}-${count}`);
  }
}

const writeAll = (server: Terrarium, name: string, acknowledgedNames: Set<string>, tally: Tally) =>
  Promise.all(Array.from({ length: WRITERS }, (_, at) => write(server, `${name}-w${at}`, acknowledgedNames, tally)));

/** Writes, reads, calls of lambdas and leads, all at once. */
async function load(): Promise<void> {
  const server = await start(newFolder(), { seed: 'demo' });
  const tally = new Tally();
  const acknowledgedNames = new Set<string>();
  let isOver = false;
  const requests: ((count: number) => Promise<Answer | undefined>)[] = [
    async (count) => {
      const answer = await create(server, `load-${count}`);
      if (answer?.status === 201) acknowledgedNames.add(`load-${count}`);
      return answer;
    },
    () => send('GET', `${server.baseUrl}/meta/demo/lambdas?expand=true`),
    () => send('POST', `${server.gatewayUrl}/website/lead`, '{"payload":{"firstName":"A","email":"a@example.com"}}'),
    () => send('POST', `${server.gatewayUrl}/api/async`, '{"payload":{"orders":[]}}'),
    () => send('GET', `${server.baseUrl}/inspect/history?limit=20`),
  ];
  const workers = requests.map(async (request) => {
    for (let count = 0; !isOver; count++) tally.saw((await request(count))?.status);
  });
  const samples: string[] = [];
  for (let at = 0; at < 5; at++) {
    const usage = usageOf(server.child.pid);
    samples.push(usage ? `${usage.megabytes} MB ${usage.descriptors} fd` : 'not available here');
    await wait((LOAD_S * 1000) / 5);
  }
  isOver = true;
  await Promise.all(workers);
  await countLost(server, acknowledgedNames, tally);
  tally.print('load', samples.join(', '));
}

async function kills(): Promise<void> {
  const data = newFolder();
  const [tally, acknowledgedNames] = [new Tally(), new Set<string>()];
  let slowestStopMs = 0;
  let kill = 0;
  for (; kill < KILLS && !(kill > 1 && isTimeUp()); kill++) {
    const server = await start(data);
    const written = writeAll(server, `k${kill}`, acknowledgedNames, tally);
    await wait(Math.random() * LONGEST_RUN_MS);
    const signal = kill % 2 === 0 ? 'SIGKILL' : 'SIGTERM';
    const ms = await server.end(signal);
    if (signal === 'SIGTERM') slowestStopMs = Math.max(slowestStopMs, ms);
    await written;
  }
  await countLost(await start(data), acknowledgedNames, tally);
  tally.print('kills', `${kill} kills, slowest stop ${(slowestStopMs / 1000).toFixed(1)} s`);
}

async function swaps(): Promise<void> {
  const tally = new Tally();
  let swap = 0;
  for (; swap < SWAPS && !(swap > 0 && isTimeUp()); swap++) {
    const [data, away] = [newFolder(), newFolder()];
    const [ofA, ofB] = [new Set<string>(), new Set<string>()];
    const a = await start(data);
    const written = writeAll(a, 'a', ofA, tally);
    await wait(Math.random() * LONGEST_RUN_MS);
    await rename(data, away);
    const b = await start(data);
    await written;
    for (const name of ['b0', 'b1']) if ((await create(b, name))?.status === 201) ofB.add(name);
    await a.end();
    if ((await create(b, 'b2'))?.status === 201) ofB.add('b2');
    await b.end();
    await countLost(await start(away), ofA, tally);
    await countLost(await start(data), ofB, tally);
  }
  tally.print('folder swaps', `${swap} swaps`);
}

async function fullDisk(): Promise<void> {
  const disk = newFolder();
  await mkdir(disk);
  const run = promisify(execFile);
  const obstacle = await run('mount', ['-t', 'tmpfs', '-o', SMALL_DISK, 'tmpfs', disk]).then(
    () => undefined,
    (error: Error) => error.message.trim().split('\n').at(-1),
  );
  if (obstacle !== undefined) {
    console.log(`${'full disk'.padEnd(14)} not tried: no small file system can be mounted here (${obstacle})`);
    return;
  }
  try {
    const [tally, acknowledgedNames] = [new Tally(), new Set<string>()];
    const server = await start(join(disk, 'data'));
    let round = 0;
    for (; round < 3 && !(round > 0 && isTimeUp()); round++) {
      const written = writeAll(server, `f${round}`, acknowledgedNames, tally);
      await wait(300);
      const free = fill(join(disk, 'filler'));
      await written;
      free();
    }
    await server.end('SIGKILL');
    await countLost(await start(join(disk, 'data')), acknowledgedNames, tally);
    tally.print('full disk', `${round} times full`);
  } finally {
    await run('umount', [disk]);
  }
}

/** Fills the disk; returns a function that frees it. */
function fill(path: string): () => void {
  const file = openSync(path, 'w');
  const chunk = Buffer.alloc(64 * 1024);
  for (let length = chunk.length; length >= 1; ) {
    try {
      writeSync(file, chunk, 0, length);
    } catch {
      length = Math.floor(length / 2);
    }
  }
  closeSync(file);
  return () => rmSync(path);
}

/** An engine's socket that takes every connection and never says a word. */
async function hungEngine(): Promise<void> {
  const socketFile = join(tempFolder, 'engine.sock');
  const proxy = createServer((socket) => socket.on('error', () => {}).resume());
  proxy.listen(socketFile);
  await once(proxy, 'listening');
  const [tally, acknowledgedNames] = [new Tally(), new Set<string>()];
  const server = await start(newFolder(), { seed: 'demo', engine: `unix://${socketFile}` });
  for (let count = 0; count < 20 && !(count > 0 && isTimeUp()); count++) {
    const answer = await create(server, `h-${count}`);
    tally.saw(answer?.status);
    if (answer?.status === 201) acknowledgedNames.add(`h-${count}`);
    tally.saw((await send('GET', `${server.baseUrl}/meta/demo/containers?expand=true`))?.status);
  }
  const stopMs = await countLost(server, acknowledgedNames, tally);
  proxy.close();
  tally.print('hung engine', `stop ${(stopMs / 1000).toFixed(1)} s`);
}

try {
  const beganAtMs = performance.now();
  const parts = [load, kills, swaps, fullDisk, hungEngine];
  for (const [at, part] of parts.entries()) {
    // What one part leaves over is for those after it.
    const nowMs = performance.now();
    untilMs = nowMs + (beganAtMs + LIMIT_MS - nowMs) / (parts.length - at);
    await part();
  }
  console.log(`${((performance.now() - beganAtMs) / 1000).toFixed(0)} s in all`);
} finally {
  await rm(tempFolder, { recursive: true, force: true });
}
