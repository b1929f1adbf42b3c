// What recording costs: small GETs and 10 KB POSTs through the gateway at a lambda, with what runs recorded and with nothing
// recorded, each platform a process of its own, in turns. Then the memory (PSS of the server and its lambdas) over many calls of 10 KB.
//
//   node bench/run.mjs records            the pair
//   node bench/run.mjs records memory N   memory after 0, 13,000 ... N calls (200,000 unless said)
//   node bench/run.mjs records profile    one platform with a processor profile of its server, written to .cpuprofile
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import autocannon from 'autocannon';
import { startEmulator } from '../server/emulator.ts';
import { printLines } from './speed/goals.ts';

const SELF = fileURLToPath(import.meta.url);
const ROUNDS = 3;
/** Counted, not timed: what is measured is code that has run often, however slow the machine is just now. */
const WARM_UP_CALLS = 5_000;
const ROUND_CALLS = 2_000;
/** Memory that has grown no more than so many times between the first thousands of calls and the last has not grown. */
const FLAT = 1.2;
const REST_MS = 10_000;
const CODE = 'exports.run = (event, context, callback) => callback(null, JSON.parse(event));';
const BODY = JSON.stringify({ rows: Array.from({ length: 100 }, (_, at) => ({ at, text: 'x'.repeat(80) })) }).slice(0);
const kinds = {
  GET: { method: 'GET' as const, path: '/web/echo' },
  'POST 10 KB': {
    method: 'POST' as const,
    path: '/web/echo',
    body: BODY,
    headers: { 'content-type': 'application/json' },
  },
};
type Kind = keyof typeof kinds;
type Keep = 'disk' | 'memory' | 'nothing';

/** In a child: a platform with a lambda of 128 MB behind an endpoint; tells its gateway's address, then its processor time when asked. */
async function serve(data: string, keep: Keep): Promise<void> {
  const { metaUrl, gatewayUrl, rootCredentials, stop } = await startEmulator({
    data,
    seed: 'empty',
    containers: { engine: 'none' },
    ...(keep !== 'disk' && { records: { keep } }),
  } as Parameters<typeof startEmulator>[0]);
  const auth = `Basic ${Buffer.from(`${rootCredentials.apiKey}:${rootCredentials.apiSecret}`).toString('base64')}`;
  const create = async (path: string, name: string, properties: object) => {
    const response = await fetch(`${metaUrl}${path}`, {
      method: 'POST',
      headers: { Authorization: auth, 'Content-Type': 'application/json' },
      body: JSON.stringify({ name, properties }),
    });
    const answer = await response.json();
    if (!response.ok) throw new Error(`${path} answered ${response.status}: ${JSON.stringify(answer)}`);
    return answer as { id: string };
  };
  const providers = await fetch(`${metaUrl}/root/providers`, { headers: { Authorization: auth } });
  const listed = (await providers.json()) as { id: string; name: string }[];
  const provider = { id: listed.find(({ name }) => name === 'default-lambda')?.id };
  const workspace = await create('/root/workspaces', 'bench', {});
  const environment = await create(`/root/workspaces/${workspace.id}/environments`, 'bench', {
    environment_type: 'development',
  });
  const at = `/root/environments/${environment.id}`;
  const runs = { runtime: 'nodejs', code_type: 'inline', code: CODE, handler: 'run', memory: 128 };
  const lambda = await create(`${at}/lambdas`, 'echo', { provider, ...runs });
  const api = await create(`${at}/apis`, 'web', {});
  await create(`/root/apis/${api.id}/apiendpoints`, 'echo', {
    resource: '/echo',
    implementation_type: 'lambda',
    implementation_id: lambda.id,
  });
  process.on('message', () => {
    const { user, system } = process.cpuUsage();
    process.send?.({ cpuUs: user + system, memory: process.memoryUsage() });
  });
  process.on('disconnect', () => void stop().then(() => process.exit()));
  process.send?.({ gatewayUrl });
}

interface Server {
  child: ChildProcess;
  gatewayUrl: string;
  data: string;
}

async function start(keep: Keep, execArgv: string[] = []): Promise<Server> {
  const data = mkdtempSync(join(tmpdir(), 'terrarium-records-'));
  const child = fork(SELF, ['serve', data, keep], { execArgv });
  const [{ gatewayUrl }] = await once(child, 'message');
  return { child, gatewayUrl, data };
}

async function end({ child, data }: Server): Promise<void> {
  child.disconnect();
  if (child.exitCode === null) await once(child, 'exit');
  rmSync(data, { recursive: true, force: true });
}

async function cpuUsOf({ child }: Server): Promise<number> {
  child.send('cpu');
  const [{ cpuUs }] = await once(child, 'message');
  return cpuUs;
}

interface Round {
  perSecond: number;
  p99Ms: number;
  cpuUs: number;
}

async function load(
  server: Server,
  kind: Kind,
  limit: { duration: number } | { amount: number },
  connections: number,
): Promise<Round> {
  const { path, ...request } = kinds[kind];
  const beforeUs = await cpuUsOf(server);
  const result = await autocannon({ url: `${server.gatewayUrl}${path}`, ...request, connections, ...limit });
  if (result.non2xx + result.errors > 0)
    throw new Error(`${result.non2xx} of ${result.requests.total} were not answered well, ${result.errors} not at all`);
  const cpuUs = ((await cpuUsOf(server)) - beforeUs) / result.requests.total;
  return { perSecond: result.requests.average, p99Ms: result.latency.p99, cpuUs };
}

function median(rounds: readonly Round[], figure: keyof Round): number {
  const sorted = rounds.map((round) => round[figure]).sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

/** Memory of a process and all below it, each page shared out among those that have it; Linux alone tells. */
function pssMb(pid: number): number {
  const parents = new Map<number, number[]>();
  for (const name of readdirSync('/proc').filter((one) => /^\d+$/.test(one))) {
    try {
      const parent = Number(
        readFileSync(`/proc/${name}/stat`, 'utf8')
          .replace(/^.*\) /s, '')
          .split(' ')[1],
      );
      parents.set(parent, [...(parents.get(parent) ?? []), Number(name)]);
    } catch {
      // It has ended meanwhile.
    }
  }
  const all = [pid];
  for (const one of all) all.push(...(parents.get(one) ?? []));
  const kib = all.map((one) => {
    try {
      return Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${one}/smaps_rollup`, 'utf8'))?.[1] ?? 0);
    } catch {
      return 0;
    }
  });
  return Math.round(kib.reduce((sum, one) => sum + one, 0) / 1024);
}

/** What the server's own memory is made of. */
async function heapOf({ child }: Server): Promise<string> {
  child.send('memory');
  const [{ memory }] = await once(child, 'message');
  const mb = (bytes: number) => Math.round(bytes / 1024 / 1024);
  const { rss, heapUsed, heapTotal, external, arrayBuffers } = memory;
  return `server alone: ${mb(rss)} MB resident, heap ${mb(heapUsed)} of ${mb(heapTotal)}, outside ${mb(external)}, buffers ${mb(arrayBuffers)}`;
}

async function compare(keeps: readonly Keep[]): Promise<void> {
  console.log('requests/s (p99 ms, processor time of the server in us a request), medians'.padEnd(30));
  for (const kind of Object.keys(kinds) as Kind[]) {
    for (const connections of [10, 50]) {
      const servers = [];
      for (const keep of keeps) servers.push({ keep, server: await start(keep), rounds: [] as Round[] });
      for (const { server } of servers) await load(server, kind, { amount: WARM_UP_CALLS }, connections);
      for (let round = 0; round < ROUNDS; round++) {
        for (const { server, rounds } of servers)
          rounds.push(await load(server, kind, { amount: ROUND_CALLS }, connections));
      }
      const off = servers.find(({ keep }) => keep === 'nothing');
      const cells = servers.map(({ keep, rounds }) => {
        const perSecond = median(rounds, 'perSecond');
        const ratio = off ? `, ${(perSecond / median(off.rounds, 'perSecond')).toFixed(2)} of off` : '';
        return `${keep} ${Math.round(perSecond)} (${median(rounds, 'p99Ms')} ms, ${median(rounds, 'cpuUs').toFixed(0)} us${ratio})`;
      });
      console.log(`${kind}, ${connections} connections`.padEnd(30), cells.join('   '));
      for (const { server } of servers) await end(server);
    }
  }
}

async function memory(calls: number): Promise<void> {
  if (!existsSync('/proc/self/smaps_rollup')) throw new Error('only Linux tells how much memory processes share');
  const server = await start('disk');
  const { pid = 0 } = server.child;
  console.log('calls of 10 KB', 0, `${pssMb(pid)} MB`);
  let made = 0;
  const rested: number[] = [];
  for (const until of [13_000, 50_000, 100_000, 150_000, 200_000].filter((one) => one <= calls)) {
    const round = await load(server, 'POST 10 KB', { amount: until - made }, 50);
    made = until;
    console.log('calls of 10 KB', made, `${pssMb(pid)} MB`, `${Math.round(round.perSecond)}/s`, await heapOf(server));
    // Processes that a wait has called for leave soon; what is held for good is what stays.
    await new Promise((resolve) => setTimeout(resolve, REST_MS));
    rested.push(pssMb(pid));
    console.log('ten seconds later', `${rested.at(-1)} MB`, await heapOf(server));
  }
  printLines([
    {
      what: `memory ten seconds after ${made.toLocaleString('en')} calls of 10 KB`,
      measured: rested.at(-1) ?? Number.NaN,
      unit: 'MB',
      beside: { name: 'after the first 13,000', measured: rested[0] ?? Number.NaN },
      goal: { atMost: FLAT },
    },
  ]);
  await end(server);
}

async function profile(kind: Kind): Promise<void> {
  const server = await start('disk', ['--cpu-prof', '--cpu-prof-dir', process.cwd()]);
  await load(server, kind, { duration: 2 }, 10);
  console.log(await load(server, kind, { duration: 8 }, 10));
  await end(server);
}

const [what = '', ...args] = process.argv.slice(2);
if (what === 'serve') await serve(args[0] ?? '', (args[1] ?? 'disk') as Keep);
else if (what === 'memory') await memory(Number(args[0] ?? 200_000));
else if (what === 'profile') await profile((args[0] ?? 'GET') as Kind);
else await compare(args.length > 0 ? (args as Keep[]) : ['disk', 'nothing']);
