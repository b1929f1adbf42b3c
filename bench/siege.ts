// Lays siege to the shipped server, in less than two minutes on any machine, however much it gets done: mixed load with its memory and descriptors over time, kills, folders
// taken from under it, a full disk, an engine that hangs, and nonsense on every route. Each line says how much was tried, what of
// the acknowledged was lost, and how many answers were faults (5xx other than a 503 with its reason). Ends with 1 when anything
// was lost or at fault. `node bench/run.mjs siege 4` does four times as much of everything, and takes up to four times as long.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readdirSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';

const TIMES = Math.max(1, Number(process.argv[2] ?? 1));
/** For all parts together, without what the last step of each takes to end. */
const LIMIT_MS = 90_000 * TIMES;
const WRITERS = 6;
const LOAD_S = 10 * TIMES;
const KILLS = 6 * TIMES;
const SWAPS = 3 * TIMES;
const NONSENSE_PER_ROUTE = 4 * TIMES;
/** A kill comes up to so long after the first write. */
const LONGEST_RUN_MS = 1_500;
const ANSWER_LIMIT_MS = 15_000;
const START_LIMIT_MS = 60_000;
const SMALL_DISK = 'size=6m';

const KEY = { TERRARIUM_ROOT_API_KEY: 'siege', TERRARIUM_ROOT_API_SECRET: 'siege' };
const auth = `Basic ${Buffer.from('siege:siege').toString('base64')}`;
const cli = join(process.cwd(), 'dist', 'server', 'cli.js');
const place = await mkdtemp(join(tmpdir(), 'terrarium-siege-'));
let folders = 0;
const newFolder = () => join(place, `data-${++folders}`);

/** When the present part has to begin nothing more, by `performance.now()`. */
let untilMs = 0;
const isTimeUp = () => performance.now() >= untilMs;

/** What came of one part of the siege. */
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

interface Server {
  baseUrl: string;
  metaUrl: string;
  gatewayUrl: string;
  child: ChildProcess;
  /** What it wrote to standard error. */
  complaints(): string;
  /** Ends it; resolves to how long that took, in milliseconds. */
  end(signal: NodeJS.Signals): Promise<number>;
}

async function start(data: string, { seed = 'empty', engine = 'none' } = {}): Promise<Server> {
  const readyFile = join(place, 'ready.json');
  const args = ['start', '--headless', '--data', data, '--seed', seed, '--ready-file', readyFile];
  const ports = ['--base-port', '0', '--gateway-port', '0'];
  const child = spawn(process.execPath, [cli, ...args, ...ports], {
    cwd: place,
    env: { PATH: process.env.PATH, ...KEY, TERRARIUM_CONTAINERS_ENGINE: engine },
  });
  let [out, err] = ['', ''];
  child.stdout.on('data', (text) => {
    out += text;
  });
  child.stderr.on('data', (text) => {
    err += text;
  });
  const ended = once(child, 'close');
  const tooLong = wait(START_LIMIT_MS, undefined, { ref: false });
  while (!out.includes('Ctrl+C')) {
    await Promise.race([once(child.stdout, 'data'), ended, tooLong]);
    if (child.exitCode !== null) throw new Error(`the server did not start: ${err}`);
  }
  return {
    ...JSON.parse(readFileSync(readyFile, 'utf8')),
    child,
    complaints: () => err,
    async end(signal) {
      const beganAtMs = performance.now();
      child.kill(signal);
      await ended;
      return performance.now() - beganAtMs;
    },
  };
}

interface Sent {
  status: number;
  text: string;
}

/** Resolves to undefined when there was no answer. */
async function send(method: string, url: string, body?: string, headers = {}): Promise<Sent | undefined> {
  try {
    const response = await fetch(url, {
      method,
      redirect: 'manual',
      headers: { Authorization: auth, ...(body !== undefined && { 'Content-Type': 'application/json' }), ...headers },
      ...(body !== undefined && { body }),
      signal: AbortSignal.timeout(ANSWER_LIMIT_MS),
    });
    return { status: response.status, text: await response.text() };
  } catch {
    return undefined;
  }
}

const create = ({ metaUrl }: Server, name: string) => send('POST', `${metaUrl}/root`, JSON.stringify({ name }));

async function namesIn({ metaUrl }: Server): Promise<Set<string>> {
  const found = await send('GET', `${metaUrl}/orgs`);
  return new Set(JSON.parse(found?.text ?? '[]').map(({ name }: { name: string }) => name));
}

/** Creates organizations until it is refused or nobody answers; the acknowledged ones go into the set. */
async function write(server: Server, name: string, kept: Set<string>, tally: Tally): Promise<void> {
  for (let count = 0; ; count++) {
    const answer = await create(server, `${name}-${count}`);
    tally.saw(answer?.status);
    if (answer?.status !== 201) return;
    kept.add(`${name}-${count}`);
  }
}

const writeAll = (server: Server, name: string, kept: Set<string>, tally: Tally) =>
  Promise.all(Array.from({ length: WRITERS }, (_, at) => write(server, `${name}-w${at}`, kept, tally)));

/** Memory and descriptors of a process, where the system tells them. */
function usageOf({ child }: Server): { megabytes: number; descriptors: number } | undefined {
  try {
    const [, kilobytes] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8')) ?? [];
    return {
      megabytes: Math.round(Number(kilobytes) / 1024),
      descriptors: readdirSync(`/proc/${child.pid}/fd`).length,
    };
  } catch {
    return undefined;
  }
}

/** Writes, reads, calls of lambdas and leads, all at once. */
async function load(): Promise<void> {
  const server = await start(newFolder(), { seed: 'demo' });
  const tally = new Tally();
  const kept = new Set<string>();
  let isOver = false;
  const requests: ((count: number) => Promise<Sent | undefined>)[] = [
    async (count) => {
      const answer = await create(server, `load-${count}`);
      if (answer?.status === 201) kept.add(`load-${count}`);
      return answer;
    },
    () => send('GET', `${server.metaUrl}/demo/lambdas?expand=true`),
    () => send('POST', `${server.gatewayUrl}/website/lead`, '{"payload":{"firstName":"A","email":"a@example.com"}}'),
    () => send('POST', `${server.gatewayUrl}/api/async`, '{"payload":{"orders":[]}}'),
    () => send('GET', `${server.baseUrl}/inspect/history?limit=20`),
  ];
  const workers = requests.map(async (request) => {
    for (let count = 0; !isOver; count++) tally.saw((await request(count))?.status);
  });
  const samples: string[] = [];
  for (let at = 0; at < 5; at++) {
    const usage = usageOf(server);
    samples.push(usage ? `${usage.megabytes} MB ${usage.descriptors} fd` : 'not told here');
    await wait((LOAD_S * 1000) / 5);
  }
  isOver = true;
  await Promise.all(workers);
  const found = await namesIn(server);
  tally.lost = [...kept].filter((name) => !found.has(name)).length;
  await server.end('SIGTERM');
  tally.print('load', samples.join(', '));
}

async function kills(): Promise<void> {
  const data = newFolder();
  const [tally, kept] = [new Tally(), new Set<string>()];
  let slowestStopMs = 0;
  let kill = 0;
  for (; kill < KILLS && !(kill > 1 && isTimeUp()); kill++) {
    const server = await start(data);
    const written = writeAll(server, `k${kill}`, kept, tally);
    await wait(Math.random() * LONGEST_RUN_MS);
    const signal = kill % 2 === 0 ? 'SIGKILL' : 'SIGTERM';
    const ms = await server.end(signal);
    if (signal === 'SIGTERM') slowestStopMs = Math.max(slowestStopMs, ms);
    await written;
  }
  const last = await start(data);
  const found = await namesIn(last);
  tally.lost = [...kept].filter((name) => !found.has(name)).length;
  await last.end('SIGTERM');
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
    await a.end('SIGTERM');
    if ((await create(b, 'b2'))?.status === 201) ofB.add('b2');
    await b.end('SIGTERM');
    for (const [folder, kept] of [
      [away, ofA],
      [data, ofB],
    ] as const) {
      const again = await start(folder);
      const found = await namesIn(again);
      tally.lost += [...kept].filter((name) => !found.has(name)).length;
      await again.end('SIGTERM');
    }
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
    const [tally, kept] = [new Tally(), new Set<string>()];
    const server = await start(join(disk, 'data'));
    let round = 0;
    for (; round < 3 && !(round > 0 && isTimeUp()); round++) {
      const written = writeAll(server, `f${round}`, kept, tally);
      await wait(300);
      const free = fill(join(disk, 'filler'));
      await written;
      free();
    }
    await server.end('SIGKILL');
    const again = await start(join(disk, 'data'));
    const found = await namesIn(again);
    tally.lost = [...kept].filter((name) => !found.has(name)).length;
    await again.end('SIGTERM');
    tally.print('full disk', `${round} times full`);
  } finally {
    await run('umount', [disk]);
  }
}

/** Takes all the room that is left; gives back what frees it. */
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
  const socketFile = join(place, 'engine.sock');
  const proxy = createServer((socket) => socket.on('error', () => {}).resume());
  proxy.listen(socketFile);
  await once(proxy, 'listening');
  const [tally, kept] = [new Tally(), new Set<string>()];
  const server = await start(newFolder(), { seed: 'demo', engine: `unix://${socketFile}` });
  for (let count = 0; count < 20 && !(count > 0 && isTimeUp()); count++) {
    const answer = await create(server, `h-${count}`);
    tally.saw(answer?.status);
    if (answer?.status === 201) kept.add(`h-${count}`);
    tally.saw((await send('GET', `${server.metaUrl}/demo/containers?expand=true`))?.status);
  }
  const found = await namesIn(server);
  tally.lost = [...kept].filter((name) => !found.has(name)).length;
  const stopMs = await server.end('SIGTERM');
  proxy.close();
  tally.print('hung engine', `stop ${(stopMs / 1000).toFixed(1)} s`);
}

const PIECES = [
  '',
  '{',
  '[]',
  'null',
  '{}',
  '"x"',
  '[{"op":"add"}]',
  '{"name":1}',
  '{"name":"\\u0000"}',
  '{"__proto__":{}}',
];
const VALUES = [
  'root',
  'x',
  '..',
  '%00',
  '%F0%9F%90%9B',
  '00000000-0000-4000-8000-000000000000',
  '-1',
  'a'.repeat(300),
  '%2e%2e%2f',
];
const QUERIES = ['', '?expand=true', '?limit=-1', '?limit=9e9', '?query=((((', '?before=x&after=x', '?%00=%00'];

function anyOf<T>(all: readonly T[]): T {
  const one = all[Math.floor(Math.random() * all.length)];
  if (one === undefined) throw new Error('there is nothing to choose from');
  return one;
}

/** Nonsense on every route of the document, with and without credentials. */
async function nonsense(): Promise<void> {
  const server = await start(newFolder(), { seed: 'demo' });
  const tally = new Tally();
  const document = JSON.parse((await send('GET', `${server.baseUrl}/openapi.json`))?.text ?? '{"paths":{}}');
  const routes = Object.entries(document.paths as Record<string, object>).flatMap(([path, methods]) =>
    Object.keys(methods)
      .filter((method) => /^(get|put|post|patch|delete|head)$/.test(method))
      // Streams never end; they are told from others by waiting for them to.
      .filter(() => !/events|stream/.test(path))
      .map((method) => ({ path, method: method.toUpperCase() })),
  );
  const faults = new Set<string>();
  for (let count = 0; count < NONSENSE_PER_ROUTE; count++) {
    for (const { path, method } of routes) {
      if (isTimeUp()) break;
      const target = path.replace(/\{[^}]+\}/g, () => anyOf(VALUES)) + anyOf(QUERIES);
      const headers = anyOf([
        {},
        {},
        { Authorization: 'Basic ????' },
        { 'Content-Type': 'text/plain' },
        { Accept: '*' },
      ]);
      const body = method === 'GET' || method === 'HEAD' ? undefined : anyOf(PIECES);
      const origin = /^\/(meta|security|inspect|log|openapi|docs|ui)\b/.test(path) ? server.baseUrl : server.gatewayUrl;
      const answer = await send(method, `${origin}${target}`, body, headers);
      tally.saw(answer?.status);
      if (answer && answer.status >= 500 && answer.status !== 503 && answer.status !== 501) {
        faults.add(`${method} ${target} ${body ?? ''}: ${answer.status} ${answer.text.slice(0, 120)}`);
      }
      if (answer?.status === 501) tally.faults -= 1; // what is not emulated says so
    }
  }
  await server.end('SIGTERM');
  tally.print('nonsense', `${routes.length} routes`);
  for (const fault of [...faults].slice(0, 10)) console.log(`    ${fault}`);
}

try {
  const beganAtMs = performance.now();
  const parts = [load, kills, swaps, fullDisk, hungEngine, nonsense];
  for (const [at, part] of parts.entries()) {
    // What one part leaves over is for those after it.
    const nowMs = performance.now();
    untilMs = nowMs + (beganAtMs + LIMIT_MS - nowMs) / (parts.length - at);
    await part();
  }
  console.log(`${((performance.now() - beganAtMs) / 1000).toFixed(0)} s in all`);
} finally {
  await rm(place, { recursive: true, force: true });
}
