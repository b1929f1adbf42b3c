// What the control plane costs its clients: reading one resource and listing a thousand expanded, beside a bare express that answers
// the same value by `response.json`; a durable create and a patch in a world of 100,000 resources beside one of 100; and how long a
// start on 100,000 takes. All take turns. BENCH_BEFORE names the command line of another build to be measured, too.
//
//   node bench/run.mjs control-plane [reads | growth]
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import express from 'express';
import { growWorld } from '../e2e/large-world.ts';
import { createLoad, median } from './speed/calls.ts';
import { type Line, printLines } from './speed/goals.ts';
import { type Load, putLoad } from './speed/load.ts';
import { processorMs } from './speed/memory.ts';
import { AUTHORIZATION, Terrarium } from './speed/terrarium.ts';
import { type Asked, measureInTurns, medianOf, type Subject } from './speed/turns.ts';

const SELF = fileURLToPath(import.meta.url);
const CLI = join(dirname(SELF), '..', 'server', 'cli.js');
const CLI_BEFORE = process.env.BENCH_BEFORE;
const LISTED = 1_000;
const [SMALL, LARGE] = [100, 100_000];
const START_ROUNDS = 3;

/** In a process of its own: answers every GET with the value that it is sent. */
function runExpress(): void {
  process.once('message', (value) => {
    const app = express();
    app.get('/', (_request, response) => void response.json(value));
    const server = app.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port)); // it has one now
  });
  process.on('disconnect', () => process.exit());
}

/** Requests a second of the last beside each other, with a goal beside the one that the goal names; and processor time. */
function linesOf(
  what: string,
  subjects: readonly Subject[],
  goal: { beside: string; atLeast: number } | undefined,
): Line[] {
  const ours = subjects.at(-1);
  if (!ours) return [];
  return subjects.slice(0, -1).flatMap((other): Line[] => [
    {
      what,
      measured: medianOf(ours, 'perSecond'),
      unit: '/s',
      beside: { name: other.name, measured: medianOf(other, 'perSecond') },
      ...(goal?.beside === other.name && { goal: { atLeast: goal.atLeast } }),
    },
    {
      what: `${what}, processor time`,
      measured: medianOf(ours, 'cpuUs'),
      unit: 'us',
      beside: { name: other.name, measured: medianOf(other, 'cpuUs') },
    },
  ]);
}

async function reads(folder: string, loader: ChildProcess, ends: (() => unknown)[]): Promise<Line[]> {
  const platforms = [];
  for (const [name, cli] of [['before', CLI_BEFORE] as const, ['Terrarium', CLI] as const]) {
    if (cli === undefined) continue;
    const platform = await Terrarium.start(cli, folder);
    ends.push(() => platform.end());
    const create = await createLoad(platform);
    const list = `${await platform.environment()}/lambdas?expand=true`;
    for (let count = 0; count < LISTED; count += 1)
      await platform.ask('POST', create.path, JSON.parse((create.body ?? '').replace('{n}', String(count))));
    const [first] = await platform.ask<{ id: string }[]>('GET', list);
    const paths: Record<string, string> = {
      'read one': `/meta/root/lambdas/${first?.id}`,
      [`list ${LISTED}, expanded`]: list,
    };
    platforms.push({
      name,
      platform,
      paths,
    });
  }
  const lines: Line[] = [];
  const [some] = platforms;
  for (const [what, path] of Object.entries(some?.paths ?? {})) {
    const value = await some?.platform.ask<object>('GET', path);
    const child = fork(SELF, ['express']);
    child.send(value ?? {});
    const [port] = await once(child, 'message');
    const subjects: Subject[] = [
      { name: 'express', child, asked: { port, method: 'GET', path: '/' }, rounds: [] },
      ...platforms.map(({ name, platform, paths }) => ({
        name,
        child: platform.child,
        asked: {
          port: Number(new URL(platform.baseUrl).port),
          method: 'GET',
          path: paths[what] ?? path,
          headers: { Authorization: AUTHORIZATION },
        },
        rounds: [],
      })),
    ];
    await measureInTurns(subjects, loader);
    child.disconnect();
    lines.push(...linesOf(what, subjects, { beside: 'express', atLeast: 0.7 }));
  }
  return lines;
}

/** Starts on a large world, in turns with the build before if there is one: by the clock, and processor time. */
async function starts(folder: string, data: string): Promise<Line[]> {
  const builds = [
    { name: 'before', cli: CLI_BEFORE, tookMs: [] as number[], cpuMs: [] as number[] },
    { name: 'Terrarium', cli: CLI, tookMs: [] as number[], cpuMs: [] as number[] },
  ];
  for (let round = 0; round < START_ROUNDS; round += 1) {
    for (const { cli, tookMs, cpuMs } of builds) {
      if (cli === undefined) continue;
      const beganMs = performance.now();
      const platform = await Terrarium.start(cli, folder, { data });
      await platform.ask('GET', '/meta/root');
      tookMs.push(performance.now() - beganMs);
      cpuMs.push(processorMs(platform.child.pid) ?? Number.NaN);
      await platform.end();
    }
  }
  const [before, ours] = builds;
  const what = `start to first answer, ${LARGE.toLocaleString('en')} resources`;
  const line = (name: string, of: 'tookMs' | 'cpuMs'): Line => ({
    what: name,
    measured: median(ours?.[of] ?? []),
    unit: 'ms',
    ...(CLI_BEFORE !== undefined && { beside: { name: 'before', measured: median(before?.[of] ?? []) } }),
  });
  return [
    { what, measured: median(ours?.tookMs ?? []), unit: 'ms', goal: { atMost: 2_000 } },
    ...(CLI_BEFORE === undefined ? [] : [line(what, 'tookMs')]),
    line(`${what}, processor time`, 'cpuMs'),
  ];
}

async function growth(folder: string, loader: ChildProcess, ends: (() => unknown)[]): Promise<Line[]> {
  const lines: Line[] = [];
  const platforms: { name: string; platform: Terrarium; lambda: string }[] = [];
  for (const size of [SMALL, LARGE]) {
    const data = mkdtempSync(join(folder, 'world-'));
    await (await Terrarium.start(CLI, folder, { data })).end();
    const { lambda } = await growWorld(data, size);
    // Written once by itself, so that what is measured opens a file of its own and not one that was edited by hand.
    const first = await Terrarium.start(CLI, folder, { data });
    await first.ask('POST', '/meta/root/orgs', { name: 'one-more' });
    await first.end();
    if (size === LARGE) lines.push(...(await starts(folder, data)));
    const platform = await Terrarium.start(CLI, folder, { data });
    ends.push(() => platform.end());
    platforms.push({ name: `in a world of ${size.toLocaleString('en')}`, platform, lambda });
  }
  const requests: Record<string, (platform: Terrarium, lambda: string) => Promise<Asked>> = {
    'durable create': (platform) => createLoad(platform),
    'durable patch': async (platform, lambda) => ({
      ...(await createLoad(platform)),
      method: 'PATCH',
      path: `/meta/root/lambdas/${lambda}`,
      body: JSON.stringify([{ op: 'add', path: '/description', value: '{n}' }]),
    }),
  };
  for (const [what, asked] of Object.entries(requests)) {
    const subjects: Subject[] = [];
    for (const { name, platform, lambda } of platforms)
      subjects.push({ name, child: platform.child, asked: await asked(platform, lambda), rounds: [] });
    await measureInTurns(subjects, loader);
    const [small, large] = subjects;
    if (small && large)
      lines.push({
        what: `${what} ${large.name}, processor time`,
        measured: medianOf(large, 'cpuUs'),
        unit: 'us',
        beside: { name: small.name, measured: medianOf(small, 'cpuUs') },
        goal: { atMost: 1.2 },
      });
  }
  return lines;
}

async function main(only: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'terrarium-bench-'));
  const loader = fork(SELF, ['load']);
  const ends: (() => unknown)[] = [() => loader.disconnect()];
  try {
    const lines: Line[] = [];
    if (only !== 'growth') lines.push(...(await reads(folder, loader, ends)));
    if (only !== 'reads') lines.push(...(await growth(folder, loader, ends)));
    printLines(lines);
  } finally {
    for (const end of ends.reverse()) await end();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

const [role = ''] = process.argv.slice(2);
if (role === 'load') {
  process.on('message', (asked) => void putLoad(asked as Load).then((loaded) => process.send?.(loaded))); // our own requests
  process.on('disconnect', () => process.exit());
} else if (role === 'express') runExpress();
else await main(role);
