// Terrarium beside what a developer might take instead, and beside floors: servers that do a part of the work and nothing else.
// All of them serve the same two requests, in short turns, so that a busy moment of the machine meets them alike.
// `node bench/run.mjs speed` installs the others on demand; `floors` as argument measures beside the floors alone, in less than
// half a minute, and never fails. See bench/README.md for how to read the tables.
import { type ChildProcess, fork } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { coldCalls, edits, load, median } from './speed/calls.ts';
import { type Floor, runFloor, runPoolChild, startFloor } from './speed/floors.ts';
import { type Line, printLines, printTable } from './speed/goals.ts';
import { ORDER } from './speed/handler.ts';
import { type Load, type Loaded, putLoad } from './speed/load.ts';
import { memoryMb, ownProcessorMs, processorMs } from './speed/memory.ts';
import { endPeer, FUNCTION_PEERS, startPeer } from './speed/peers.ts';
import { storeLines } from './speed/stores.ts';
import { Terrarium } from './speed/terrarium.ts';

const SELF = fileURLToPath(import.meta.url);
const CLI = join(dirname(SELF), '..', 'server', 'cli.js');
/** The command line of another build, to be measured beside this one. */
const CLI_BEFORE = process.env.BENCH_BEFORE;
const ROUND_MS = 400;
const WARM_UP_ANSWERS = 1_500;
const SETTLE_MS = 3_000;
const OURS = 'Terrarium';
/** The same with nothing recorded. */
const UNRECORDED = 'unrecorded';

/** What is sent, and over how many connections. */
const KINDS = [
  { name: 'GET', method: 'GET', connections: [1, 10, 50] },
  { name: 'POST 10 KB', method: 'POST', body: ORDER, connections: [1, 10, 50] },
] as const;

/**
 * `cpuUs`: what the server and all below it took of the processors for one request, the steadiest figure on a busy machine; `ownUs`:
 * what of it the server's own process took.
 */
type Round = Loaded & { cpuUs: number; ownUs: number };

interface Server {
  name: string;
  child: ChildProcess;
  port: number;
  path: string;
  /** By what was sent and the number of connections. */
  rounds: Map<string, Round[]>;
}

async function measure(servers: readonly Server[], loader: ChildProcess, rounds: number, most: number): Promise<void> {
  for (let round = 0; round <= rounds; round += 1) {
    for (const { name, connections, ...request } of KINDS) {
      for (const count of connections.slice(-most)) {
        for (const { child, port, path, rounds: kept } of servers) {
          // The first round warms up: what is measured is code that has run often, however slow the machine is just now.
          const warmUp = round === 0 && { leastAnswers: WARM_UP_ANSWERS };
          const asked: Load = { port, path, ...request, connections: count, durationMs: ROUND_MS, ...warmUp };
          const [beforeMs, ownBeforeMs] = [processorMs(child.pid) ?? Number.NaN, ownProcessorMs(child.pid)];
          const loaded = await load(loader, asked);
          const tookMs = (processorMs(child.pid) ?? Number.NaN) - beforeMs;
          const ownMs = ownProcessorMs(child.pid) - ownBeforeMs;
          const requests = loaded.perSecond * (ROUND_MS / 1000);
          const [cpuUs, ownUs] = [(tookMs * 1000) / requests, (ownMs * 1000) / requests];
          const key = `${name} ${count}`;
          if (round > 0) kept.set(key, [...(kept.get(key) ?? []), { ...loaded, cpuUs, ownUs }]);
        }
      }
    }
  }
}

const of = ({ rounds }: Server, key: string, figure: keyof Round): number =>
  median((rounds.get(key) ?? []).map((round) => round[figure]));

function printServers(servers: readonly Server[]): void {
  const whole = (value: number) => Math.round(value).toLocaleString('en');
  const rows = servers.map((server) => [
    server.name,
    ...KINDS.flatMap(({ name, connections }) => [
      connections.map((count) => whole(of(server, `${name} ${count}`, 'perSecond')).replace('NaN', '-')).join(' / '),
      of(server, `${name} 50`, 'p99Ms').toFixed(1),
      `${whole(of(server, `${name} 10`, 'cpuUs'))} (${whole(of(server, `${name} 10`, 'ownUs'))})`,
    ]),
    memoryMb(server.child.pid)?.toFixed(0) ?? 'not told here',
    String([...server.rounds.values()].flat().reduce((sum, { refused }) => sum + refused, 0)),
  ]);
  console.log(
    'requests/s at 1 / 10 / 50 connections, p99 at 50 in ms, processor time for a request at 10 in us (in brackets that of the ' +
      "server's own process), memory after the load in MB\n",
  );
  printTable(['', 'GET', 'p99', 'CPU', 'POST 10 KB', 'p99', 'CPU', 'memory', 'refused'], rows);
  console.log('');
}

function loadLines(servers: readonly Server[]): Line[] {
  const named = (name: string) => servers.find((server) => server.name === name);
  const [ours, pool] = [named(OURS), named('pool')];
  if (!ours || !pool) return [];
  const peers = servers.filter(({ name }) => FUNCTION_PEERS.some((peer) => peer.name === name));
  const lines: Line[] = [];
  for (const [kind, ofPool, ofPeers, p99Ms] of [
    ['GET', 0.45, 2, 15],
    ['POST 10 KB', 0.5, 1, 50],
  ] as const) {
    for (const count of [10, 50]) {
      const key = `${kind} ${count}`;
      const line = { what: `${kind}, ${count} connections`, measured: of(ours, key, 'perSecond'), unit: '/s' };
      const beside = { name: pool.name, measured: of(pool, key, 'perSecond') };
      lines.push({ ...line, beside, goal: { atLeast: ofPool } });
      const [best] = [...peers].sort((one, other) => of(other, key, 'perSecond') - of(one, key, 'perSecond'));
      if (best) {
        const measured = of(best, key, 'perSecond');
        lines.push({ ...line, beside: { name: best.name, measured }, goal: { atLeast: ofPeers } });
      }
    }
    const [cpuUs, least] = [of(ours, `${kind} 10`, 'cpuUs'), of(pool, `${kind} 10`, 'cpuUs')];
    lines.push({
      what: `${kind}, processor time`,
      measured: cpuUs,
      unit: 'us',
      beside: { name: pool.name, measured: least },
    });
    const worst = of(ours, `${kind} 50`, 'p99Ms');
    lines.push({ what: `${kind}, 50 connections, p99`, measured: worst, unit: 'ms', goal: { atMost: p99Ms } });
  }
  const unrecorded = named(UNRECORDED);
  for (const { name } of KINDS) {
    if (!unrecorded) break;
    const key = `${name} 10`;
    const line = { what: `${name}, 10 connections, all recorded`, measured: of(ours, key, 'perSecond'), unit: '/s' };
    const beside = { name: UNRECORDED, measured: of(unrecorded, key, 'perSecond') };
    lines.push({ ...line, beside, goal: { atLeast: 0.8 } });
  }
  const usedMb = memoryMb(ours.child.pid);
  if (usedMb !== undefined)
    lines.push({ what: 'memory after that load', measured: usedMb, unit: 'MB', goal: { atMost: 300 } });
  return lines;
}

/** From the start of a process to the first answer of what it serves. */
async function startLines(folder: string, rounds: number): Promise<Line[]> {
  const [ours, express]: [number[], number[]] = [[], []];
  const [oursCpu, expressCpu]: [number[], number[]] = [[], []];
  let idleMb: number | undefined;
  for (let round = 0; round < rounds; round += 1) {
    const otherMs = performance.now();
    const other = await startFloor('express', SELF, folder);
    await (await fetch(`http://127.0.0.1:${other.port}/`)).text();
    express.push(performance.now() - otherMs);
    expressCpu.push(ownProcessorMs(other.child.pid));
    other.child.disconnect();
    const beganMs = performance.now();
    const platform = await Terrarium.start(CLI, folder, { seed: 'demo' });
    await platform.ask('GET', '/meta/root');
    ours.push(performance.now() - beganMs);
    oursCpu.push(ownProcessorMs(platform.child.pid));
    if (round === rounds - 1) {
      await wait(SETTLE_MS);
      idleMb = memoryMb(platform.child.pid);
    }
    await platform.end();
  }
  const beside = { name: 'express', measured: median(express) };
  const lines: Line[] = [
    { what: 'start to first answer, demo world', measured: median(ours), unit: 'ms', beside, goal: { atMost: 1.5 } },
    {
      what: 'start to first answer, processor time',
      measured: median(oursCpu),
      unit: 'ms',
      beside: { name: 'express', measured: median(expressCpu) },
    },
  ];
  if (idleMb !== undefined) lines.push({ what: 'memory, idle', measured: idleMb, unit: 'MB', goal: { atMost: 64 } });
  return lines;
}

async function callLines(platform: Terrarium, folder: string, rounds: number): Promise<Line[]> {
  const cold = await coldCalls(platform, rounds);
  const edit = await edits(platform, folder, rounds);
  const line = (what: string, measured: number, atMost: number): Line => ({
    what,
    measured,
    unit: 'ms',
    goal: { atMost },
  });
  return [
    line('cold call, 128 MB, a spare is ready', cold.spare, 12),
    line('cold call, 128 MB, none is', cold.none, 45),
    line('slowest of 20 cold calls at once', cold.atOnce, 120),
    line('edit by API to served', edit.byApi, 15),
    line('edit of a linked file to served', edit.byFile, 40),
  ];
}

async function main(args: readonly string[]): Promise<void> {
  const isShort = args.includes('floors');
  const rounds = isShort ? 2 : 5;
  const folder = mkdtempSync(join(tmpdir(), 'terrarium-bench-'));
  const loader = fork(SELF, ['load']);
  const ends: (() => unknown)[] = [() => loader.disconnect()];
  try {
    const servers: Server[] = [];
    for (const kind of ['bare', 'pool'] as const) {
      const { child, port } = await startFloor(kind, SELF, folder);
      ends.push(() => child.disconnect());
      servers.push({ name: kind, child, port, path: '/', rounds: new Map() });
    }
    for (const peer of isShort ? [] : FUNCTION_PEERS) {
      const serving = await startPeer(peer).catch((thrown: Error) => void console.error(thrown.message));
      if (!serving) continue;
      ends.push(() => endPeer(serving));
      servers.push({ ...serving, path: '/', rounds: new Map() });
    }
    const serve = async (name: string, cli: string, more: readonly string[] = []): Promise<Terrarium> => {
      const platform = await Terrarium.start(cli, folder, { more });
      ends.push(() => platform.end());
      const { path } = await platform.publish();
      servers.push({ name, child: platform.child, port: platform.gatewayPort, path, rounds: new Map() });
      return platform;
    };
    if (CLI_BEFORE) await serve('before', CLI_BEFORE);
    if (!isShort || args.includes('load')) await serve(UNRECORDED, CLI, ['--records-keep', 'nothing']);
    const platform = await serve(OURS, CLI);
    await measure(servers, loader, rounds, isShort ? 2 : 3);
    printServers(servers);
    const lines = loadLines(servers);
    if (args.includes('load')) return printLines(lines);
    lines.push(...(await callLines(platform, folder, isShort ? 1 : 7)));
    lines.push(...(await storeLines({ platform, loader, self: SELF, folder, rounds, withPeers: !isShort })));
    if (!isShort) lines.push(...(await startLines(folder, 5)));
    printLines(lines);
  } finally {
    for (const end of ends.reverse()) await end();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

const [role = '', ...args] = process.argv.slice(2);
if (role === 'load') {
  process.on('message', (asked) => void putLoad(asked as Load).then((loaded) => process.send?.(loaded))); // our own requests
  process.on('disconnect', () => process.exit());
} else if (role === 'floor') {
  await runFloor(args[0] as Floor, SELF, args[1] ?? ''); // startFloor gives one of them
} else if (role === 'pool-child') {
  runPoolChild();
} else await main([role, ...args]);
