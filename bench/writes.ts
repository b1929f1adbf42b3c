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
import { createLoad, load } from './speed/calls.ts';
import { type Floor, runFloor, startFloor } from './speed/floors.ts';
import { printTable } from './speed/goals.ts';
import { type Load, putLoad } from './speed/load.ts';
import { AUTHORIZATION, Terrarium } from './speed/terrarium.ts';
import { type Asked, CONNECTIONS, measureInTurns, medianOf, ROUND_MS, type Subject } from './speed/turns.ts';

const SELF = fileURLToPath(import.meta.url);
const CLI = join(dirname(SELF), '..', 'server', 'cli.js');
const CLI_BEFORE = process.env.BENCH_BEFORE;
const SIZE = 10_000;

/** What is measured of a platform: a lambda more, another variable of one, another image of a container. */
async function requestsOf(platform: Terrarium): Promise<Record<string, Asked>> {
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
  const patch = (path: string, pointer: string): Asked => ({
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
      const requests = await requestsOf(platform);
      await grow(platform, loader, requests.create, size);
      platforms.push({ name, platform, requests });
    }
    const [some] = platforms;
    if (!some) return;
    for (const what of Object.keys(some.requests)) {
      const subjects: Subject[] = platforms.flatMap(({ name, platform: { child }, requests }) => {
        const asked = requests[what];
        return asked ? [{ name, child, asked, rounds: [] }] : [];
      });
      const [first] = subjects;
      for (const kind of ['journal', 'express'] as const) {
        const { child, port } = await startFloor(kind, SELF, folder);
        ends.push(() => child.disconnect());
        if (first)
          subjects.push({ name: kind, child, asked: { ...first.asked, method: 'POST', port, path: '/' }, rounds: [] });
      }
      await measureInTurns(subjects, loader);
      print(what, subjects);
    }
  } finally {
    for (const end of ends.reverse()) await end();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function grow(platform: Terrarium, loader: ChildProcess, asked: Asked | undefined, size: number): Promise<void> {
  const count = async () => (await platform.ask<unknown[]>('GET', `${await platform.environment()}/lambdas`)).length;
  while (asked && (await count()) < size)
    await load(loader, { ...asked, connections: CONNECTIONS, durationMs: ROUND_MS });
}

function print(what: string, subjects: readonly Subject[]): void {
  const rows = subjects.map((subject) => [
    subject.name,
    medianOf(subject, 'cpuUs').toFixed(0),
    medianOf(subject, 'perSecond').toFixed(0),
  ]);
  console.log('');
  printTable([what, 'CPU, us', 'a second'], rows);
}

const [role = '', ...args] = process.argv.slice(2);
if (role === 'load') {
  process.on('message', (asked) => void putLoad(asked as Load).then((loaded) => process.send?.(loaded))); // our own requests
  process.on('disconnect', () => process.exit());
} else if (role === 'floor') {
  await runFloor(args[0] as Floor, SELF, args[1] ?? ''); // startFloor gives one of them
} else await main(role === '' ? SIZE : Number(role));
