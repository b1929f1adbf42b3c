// What a create and a patch over HTTP cost in a world of 10,000 resources, on disk when they are answered: processor time of the
// whole tree for a request, the steadiest figure on a busy machine, and requests a second; beside floors that do a part of the
// work (bare express with JSON, a journal with fdatasync), in the same turns. BENCH_BEFORE names the command line of another
// build to be measured, too.
//
//   node bench/run.mjs writes [RESOURCES]
import { type ChildProcess, fork } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createLoad, load, median } from './speed/calls.ts';
import { type Floor, runFloor, startFloor } from './speed/floors.ts';
import { printTable } from './speed/goals.ts';
import { type Load, type Loaded, putLoad } from './speed/load.ts';
import { processorMs } from './speed/memory.ts';
import { AUTHORIZATION, Terrarium } from './speed/terrarium.ts';

const SELF = fileURLToPath(import.meta.url);
const CLI = join(dirname(SELF), '..', 'server', 'cli.js');
const CLI_BEFORE = process.env.BENCH_BEFORE;
const SIZE = 10_000;
const ROUNDS = 5;
const ROUND_MS = 1_000;
const CONNECTIONS = 10;

type Wish = Omit<Load, 'durationMs' | 'connections'>;
type Round = Loaded & { cpuUs: number };

interface Subject {
  name: string;
  child: ChildProcess;
  wish: Wish;
  rounds: Round[];
}

/** What is measured of a platform: a lambda more, another variable of one, another image of a container. */
async function wishesOf(platform: Terrarium): Promise<Record<string, Wish>> {
  const create = await createLoad(platform);
  const { id: lambda } = await platform.publish();
  const container = await platform.ask('POST', `${await platform.environment()}/containers`, {
    name: 'patched',
    properties: {
      container_type: 'DOCKER',
      image: 'registry.example.com/shop/web:1',
      num_instances: 0,
      provider: { id: await engineOf(platform) },
      env: { LOG_LEVEL: 'info', DATABASE_URL: 'postgres://database.example.com/shop', REGION: 'eu' },
      port_mappings: [{ protocol: 'tcp', name: 'web', expose_endpoint: true, container_port: 8080 }],
    },
  });
  const patch = (path: string, pointer: string): Wish => ({
    ...create,
    method: 'PATCH',
    path: `/meta/root/${path}`,
    headers: { Authorization: AUTHORIZATION },
    body: JSON.stringify([{ op: 'add', path: pointer, value: 'registry.example.com/shop/web:{n}' }]),
  });
  return {
    create,
    'patch of a lambda': patch(`lambdas/${lambda}`, '/description'),
    'patch of a container': patch(`containers/${container.id}`, '/properties/image'),
  };
}

async function engineOf(platform: Terrarium): Promise<string> {
  const { id } = await platform.ask('POST', '/meta/root/providers', {
    name: 'engine',
    resource_type: 'Platform::Configuration::Provider::CaaS::Docker',
    properties: {},
  });
  return id;
}

async function main(size: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'terrarium-bench-'));
  const loader = fork(SELF, ['load']);
  const ends: (() => unknown)[] = [() => loader.disconnect()];
  try {
    const platforms = [];
    for (const [name, cli] of [['before', CLI_BEFORE] as const, ['Terrarium', CLI] as const]) {
      if (cli === undefined) continue;
      const platform = await Terrarium.start(cli, folder);
      ends.push(() => platform.end());
      const wishes = await wishesOf(platform);
      await grow(platform, loader, wishes.create, size);
      platforms.push({ name, platform, wishes });
    }
    const [some] = platforms;
    if (!some) return;
    for (const what of Object.keys(some.wishes)) {
      const subjects: Subject[] = platforms.flatMap(({ name, platform: { child }, wishes }) => {
        const wish = wishes[what];
        return wish ? [{ name, child, wish, rounds: [] }] : [];
      });
      const [first] = subjects;
      for (const kind of ['journal', 'express'] as const) {
        const { child, port } = await startFloor(kind, SELF, folder);
        ends.push(() => child.disconnect());
        if (first)
          subjects.push({ name: kind, child, wish: { ...first.wish, method: 'POST', port, path: '/' }, rounds: [] });
      }
      await measure(subjects, loader);
      print(what, subjects);
    }
  } finally {
    for (const end of ends.reverse()) await end();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function grow(platform: Terrarium, loader: ChildProcess, wish: Wish | undefined, size: number): Promise<void> {
  const count = async () => (await platform.ask<unknown[]>('GET', `${await platform.environment()}/lambdas`)).length;
  while (wish && (await count()) < size)
    await load(loader, { ...wish, connections: CONNECTIONS, durationMs: ROUND_MS });
}

async function measure(subjects: readonly Subject[], loader: ChildProcess): Promise<void> {
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const { name, child, wish, rounds } of subjects) {
      const beforeMs = processorMs(child.pid) ?? Number.NaN;
      const loaded = await load(loader, { ...wish, connections: CONNECTIONS, durationMs: ROUND_MS });
      const tookMs = (processorMs(child.pid) ?? Number.NaN) - beforeMs;
      if (loaded.refused > 0) throw new Error(`${name}: ${loaded.refused} of ${wish.method} ${wish.path} refused`);
      // The first round warms up.
      if (round > 0) rounds.push({ ...loaded, cpuUs: (tookMs * 1000) / ((loaded.perSecond * ROUND_MS) / 1000) });
    }
  }
}

function print(what: string, subjects: readonly Subject[]): void {
  const rows = subjects.map(({ name, rounds }) => [
    name,
    median(rounds.map(({ cpuUs }) => cpuUs)).toFixed(0),
    median(rounds.map(({ perSecond }) => perSecond)).toFixed(0),
  ]);
  console.log('');
  printTable([what, 'CPU, us', 'a second'], rows);
}

const [role = '', ...args] = process.argv.slice(2);
if (role === 'load') {
  process.on('message', (wish) => void putLoad(wish as Load).then((loaded) => process.send?.(loaded))); // our own wishes
  process.on('disconnect', () => process.exit());
} else if (role === 'floor') {
  await runFloor(args[0] as Floor, SELF, args[1] ?? ''); // startFloor gives one of them
} else await main(role === '' ? SIZE : Number(role));
