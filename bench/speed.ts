// Terrarium beside other emulators and baselines: servers that do a part of the work. All serve the same two requests in short turns.
// Installs the others on demand; `baselines` measures beside the baselines alone. See bench/README.md.
//
//   node bench/run.mjs speed [baselines] [load]    `load` leaves out all but the requests
//   node bench/run.mjs speed memory                memory after 13,000 to 200,000 calls of 10 KB
import { setTimeout as wait } from 'node:timers/promises';
import { coldCalls, coldShapes, edits } from './speed/calls.ts';
import { type Line, printTable } from './speed/goals.ts';
import { ORDER } from './speed/handler.ts';
import {
  type Benchmark,
  type BenchmarkRequest,
  CLI_BEFORE,
  median,
  medianOf,
  type Round,
  runBench,
  type Subject,
} from './speed/harness.ts';
import { memoryMb, ownProcessorMs } from './speed/memory.ts';
import { endPeer, FUNCTION_PEERS, startPeer } from './speed/peers.ts';
import { storeLines } from './speed/store-lines.ts';
import type { Terrarium } from './speed/terrarium.ts';

const ROUND_MS = 400;
const WARM_UP_MS = 1_000;
const SETTLE_MS = 3_000;
const REST_MS = 10_000;
const CALLS = [13_000, 50_000, 100_000, 150_000, 200_000];
const TERRARIUM = 'Terrarium';
/** Terrarium with recording turned off. */
const UNRECORDED = 'unrecorded';

/** The request body and the number of connections. */
const KINDS = [
  { name: 'GET', method: 'GET', connections: [1, 10, 50] },
  { name: 'POST 10 KB', method: 'POST', body: ORDER, connections: [1, 10, 50] },
] as const;

/** A server with what each kind of request and number of connections measured. */
interface Server extends Pick<Subject, 'name' | 'child'> {
  port: number;
  path: string;
  measured: Map<string, Subject>;
}

async function measure(benchmark: Benchmark, servers: readonly Server[], rounds: number, most: number): Promise<void> {
  for (const { name, connections: counts, ...request } of KINDS) {
    for (const connections of counts.slice(-most)) {
      for (const { name: server, child, port, path, measured } of servers)
        measured.set(`${name} ${connections}`, {
          name: server,
          child,
          request: { port, path, ...request },
          rounds: [],
        });
      const subjects = servers.flatMap(({ measured }) => measured.get(`${name} ${connections}`) ?? []);
      await benchmark.measure(subjects, { rounds, roundMs: ROUND_MS, connections, warmUpMs: WARM_UP_MS });
    }
  }
}

function medianFigure({ measured }: Server, key: string, figure: keyof Round): number {
  const subject = measured.get(key);
  return subject ? medianOf(subject, figure) : Number.NaN;
}

function printServers(servers: readonly Server[]): void {
  const formatInteger = (value: number) => Math.round(value).toLocaleString('en');
  const rows = servers.map((server) => [
    server.name,
    ...KINDS.flatMap(({ name, connections }) => [
      connections
        .map((count) => formatInteger(medianFigure(server, `${name} ${count}`, 'perSecond')).replace('NaN', '-'))
        .join(' / '),
      medianFigure(server, `${name} 50`, 'p99Ms').toFixed(1),
      `${formatInteger(medianFigure(server, `${name} 10`, 'cpuUs'))} (${formatInteger(medianFigure(server, `${name} 10`, 'ownUs'))})`,
    ]),
    memoryMb(server.child.pid)?.toFixed(0) ?? 'not available here',
  ]);
  console.log(
    'requests/s at 1 / 10 / 50 connections, p99 at 50 in ms, processor time for a request at 10 in us (in brackets that of the ' +
      "server's own process), memory after the load in MB\n",
  );
  printTable(['', 'GET', 'p99', 'CPU', 'POST 10 KB', 'p99', 'CPU', 'memory'], rows);
  console.log('');
}

function loadLines(servers: readonly Server[]): Line[] {
  const named = (name: string) => servers.find((server) => server.name === name);
  const [terrarium, pool] = [named(TERRARIUM), named('pool')];
  if (!terrarium || !pool) return [];
  const peers = servers.filter(({ name }) => FUNCTION_PEERS.some((peer) => peer.name === name));
  const lines: Line[] = [];
  for (const [kind, ofPool, ofPeers, p99Ms] of [
    ['GET', 0.45, 2, 15],
    ['POST 10 KB', 0.5, 1, 50],
  ] as const) {
    for (const count of [10, 50]) {
      const key = `${kind} ${count}`;
      const line = {
        label: `${kind}, ${count} connections`,
        measured: medianFigure(terrarium, key, 'perSecond'),
        unit: '/s',
      };
      const reference = { name: pool.name, measured: medianFigure(pool, key, 'perSecond') };
      lines.push({ ...line, reference, goal: { atLeast: ofPool } });
      const [best] = [...peers].sort((a, b) => medianFigure(b, key, 'perSecond') - medianFigure(a, key, 'perSecond'));
      if (best) {
        const measured = medianFigure(best, key, 'perSecond');
        lines.push({ ...line, reference: { name: best.name, measured }, goal: { atLeast: ofPeers } });
      }
    }
    const [cpuUs, least] = [medianFigure(terrarium, `${kind} 10`, 'cpuUs'), medianFigure(pool, `${kind} 10`, 'cpuUs')];
    lines.push({
      label: `${kind}, processor time`,
      measured: cpuUs,
      unit: 'us',
      reference: { name: pool.name, measured: least },
    });
    const worst = medianFigure(terrarium, `${kind} 50`, 'p99Ms');
    lines.push({ label: `${kind}, 50 connections, p99`, measured: worst, unit: 'ms', goal: { atMost: p99Ms } });
  }
  const unrecorded = named(UNRECORDED);
  for (const { name } of KINDS) {
    if (!unrecorded) break;
    const key = `${name} 10`;
    const line = {
      label: `${name}, 10 connections, all recorded`,
      measured: medianFigure(terrarium, key, 'perSecond'),
      unit: '/s',
    };
    const reference = { name: UNRECORDED, measured: medianFigure(unrecorded, key, 'perSecond') };
    lines.push({ ...line, reference, goal: { atLeast: 0.8 } });
  }
  const usedMb = memoryMb(terrarium.child.pid);
  if (usedMb !== undefined)
    lines.push({ label: 'memory after that load', measured: usedMb, unit: 'MB', goal: { atMost: 300 } });
  return lines;
}

/** From the start of a process to the first answer of what it serves. */
async function startLines(benchmark: Benchmark, rounds: number): Promise<Line[]> {
  const took = { ours: [] as number[], express: [] as number[], oursCpu: [] as number[], expressCpu: [] as number[] };
  let idleMb: number | undefined;
  for (let round = 0; round < rounds; round += 1) {
    const otherMs = performance.now();
    const other = await benchmark.baseline('express');
    await (await fetch(`http://127.0.0.1:${other.port}/`)).text();
    took.express.push(performance.now() - otherMs);
    took.expressCpu.push(ownProcessorMs(other.child.pid));
    other.child.disconnect();
    const beganMs = performance.now();
    const platform = await benchmark.platform({ seed: 'demo' });
    await platform.ask('GET', '/meta/root');
    took.ours.push(performance.now() - beganMs);
    took.oursCpu.push(ownProcessorMs(platform.child.pid));
    if (round === rounds - 1) {
      await wait(SETTLE_MS);
      idleMb = memoryMb(platform.child.pid);
    }
    await platform.end();
  }
  const line = (label: string, terrariumMs: readonly number[], express: readonly number[]): Line => ({
    label: `start to first answer, ${label}`,
    measured: median(terrariumMs),
    unit: 'ms',
    reference: { name: 'express', measured: median(express) },
  });
  const lines: Line[] = [
    { ...line('demo world', took.ours, took.express), goal: { atMost: 1.5 } },
    line('processor time', took.oursCpu, took.expressCpu),
  ];
  if (idleMb !== undefined) lines.push({ label: 'memory, idle', measured: idleMb, unit: 'MB', goal: { atMost: 64 } });
  return lines;
}

async function callLines(platform: Terrarium, folder: string, rounds: number): Promise<Line[]> {
  const took = { ...(await coldCalls(platform, rounds)), ...(await edits(platform, folder, rounds)) };
  const goals = [
    ['cold call, 128 MB, a spare is ready', took.spare, 12],
    ['cold call, 128 MB, none is', took.none, 45],
    ['slowest of 20 cold calls at once', took.atOnce, 120],
    ['edit by API to served', took.byApi, 15],
    ['edit of a linked file to served', took.byFile, 40],
  ] as const;
  const { shapes, bareMs } = await coldShapes(platform, folder, rounds);
  const reference = { name: 'a bare process', measured: bareMs };
  return [
    ...goals.map(([label, measured, atMost]) => ({ label, measured, unit: 'ms', goal: { atMost } })),
    ...shapes.map(([shape, measured]) => ({ label: `cold call, none is, ${shape}`, measured, unit: 'ms', reference })),
  ];
}

/** Memory ten seconds after so many calls: what grew with the first thousands of calls must not go on growing. */
async function memoryLines(benchmark: Benchmark): Promise<Line[]> {
  const platform = await benchmark.platform();
  const { path } = await platform.publish();
  const request: BenchmarkRequest = { port: platform.gatewayPort, path, method: 'POST', body: ORDER };
  const rested: number[] = [];
  let callCount = 0;
  for (const until of CALLS) {
    while (callCount < until) {
      const beganMs = performance.now();
      const { perSecond } = await benchmark.load({ ...request, connections: 50, durationMs: ROUND_MS });
      callCount += Math.round((perSecond * (performance.now() - beganMs)) / 1000);
    }
    // Processes that a queue has called for end soon; only what remains counts.
    await wait(REST_MS);
    rested.push(memoryMb(platform.child.pid) ?? Number.NaN);
    console.log(`after ${callCount.toLocaleString('en')} calls of 10 KB: ${rested.at(-1)?.toFixed(0)} MB`);
  }
  const reference = { name: 'after the first 13,000', measured: rested[0] ?? Number.NaN };
  const label = `memory ten seconds after ${callCount.toLocaleString('en')} calls of 10 KB`;
  return [{ label, measured: rested.at(-1) ?? Number.NaN, unit: 'MB', reference, goal: { atMost: 1.2 } }];
}

async function main(benchmark: Benchmark, args: readonly string[]): Promise<Line[]> {
  if (args.includes('memory')) return memoryLines(benchmark);
  const isShort = args.includes('baselines');
  const rounds = isShort ? 2 : 5;
  const servers: Server[] = [];
  for (const kind of ['bare', 'pool'] as const)
    servers.push({ name: kind, ...(await benchmark.baseline(kind)), path: '/', measured: new Map() });
  for (const peer of isShort ? [] : FUNCTION_PEERS) {
    const serving = await startPeer(peer).catch((thrown: Error) => void console.error(thrown.message));
    if (!serving) continue;
    benchmark.atEnd(() => endPeer(serving));
    servers.push({ ...serving, path: '/', measured: new Map() });
  }
  const serve = async (name: string, cli?: string, more: readonly string[] = []): Promise<Terrarium> => {
    const platform = await benchmark.platform({ more }, cli);
    const { path } = await platform.publish();
    servers.push({ name, child: platform.child, port: platform.gatewayPort, path, measured: new Map() });
    return platform;
  };
  if (CLI_BEFORE) await serve('before', CLI_BEFORE);
  if (!isShort || args.includes('load')) await serve(UNRECORDED, undefined, ['--records-keep', 'nothing']);
  const platform = await serve(TERRARIUM);
  await measure(benchmark, servers, rounds, isShort ? 2 : 3);
  printServers(servers);
  const lines = loadLines(servers);
  if (args.includes('load')) return lines;
  lines.push(...(await callLines(platform, benchmark.folder, isShort ? 1 : 7)));
  lines.push(...(await storeLines(benchmark, platform, { rounds, withPeers: !isShort })));
  if (!isShort) lines.push(...(await startLines(benchmark, 5)));
  return lines;
}

await runBench(main);
