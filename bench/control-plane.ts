// Measures reads beside a bare express with the same value, creates and patches in a world of 10,000 resources beside one of 100, and a start
// on 10,000. BENCH_BEFORE names the command line of another build to measure, too.
//
//   node bench/run.mjs control-plane [reads | growth]
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import express from 'express';
import { growWorld } from '../e2e/large-world.ts';
import { createLoad } from './speed/calls.ts';
import type { Line } from './speed/goals.ts';
import { type Benchmark, CLI, CLI_BEFORE, median, medianOf, runBench, type Subject } from './speed/harness.ts';
import { processorMs } from './speed/memory.ts';
import { AUTHORIZATION, type Terrarium } from './speed/terrarium.ts';

const BUILDS = [
  ...(CLI_BEFORE === undefined ? [] : [{ name: 'before', cli: CLI_BEFORE }]),
  { name: 'Terrarium', cli: CLI },
];
const LISTED = 1_000;
const [SMALL, LARGE] = [100, 10_000];
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

/** The last subject beside each other one: requests a second, and processor time. */
function linesOf(label: string, subjects: readonly Subject[]): Line[] {
  const mainSubject = subjects.at(-1);
  if (!mainSubject) return [];
  const line = (other: Subject, figure: 'perSecond' | 'cpuUs') => ({
    measured: medianOf(mainSubject, figure),
    reference: { name: other.name, measured: medianOf(other, figure) },
  });
  return subjects.slice(0, -1).flatMap((other): Line[] => [
    { label, unit: '/s', ...line(other, 'perSecond'), ...(other.name === 'express' && { goal: { atLeast: 0.7 } }) },
    { label: `${label}, processor time`, unit: 'us', ...line(other, 'cpuUs') },
  ]);
}

async function reads(benchmark: Benchmark): Promise<Line[]> {
  const platforms: { name: string; platform: Terrarium; paths: Record<string, string> }[] = [];
  for (const { name, cli } of BUILDS) {
    const platform = await benchmark.platform({}, cli);
    const create = await createLoad(platform);
    const list = `${await platform.environment()}/lambdas?expand=true`;
    for (let count = 0; count < LISTED; count += 1)
      await platform.ask('POST', create.path, JSON.parse((create.body ?? '').replace('{n}', String(count))));
    const [first] = await platform.ask<{ id: string }[]>('GET', list);
    const paths = { 'read one': `/meta/root/lambdas/${first?.id}`, [`list ${LISTED}, expanded`]: list };
    platforms.push({ name, platform, paths });
  }
  const lines: Line[] = [];
  const [some] = platforms;
  for (const [label, path] of Object.entries(some?.paths ?? {})) {
    const child = benchmark.fork('express');
    child.send((await some?.platform.ask<object>('GET', path)) ?? {});
    const [port] = await once(child, 'message');
    const subjects: Subject[] = platforms.map(({ name, platform, paths }) => ({
      name,
      child: platform.child,
      request: {
        port: platform.port,
        method: 'GET',
        path: paths[label] ?? path,
        headers: { Authorization: AUTHORIZATION },
      },
      rounds: [],
    }));
    subjects.unshift({ name: 'express', child, request: { port, method: 'GET', path: '/' }, rounds: [] });
    await benchmark.measure(subjects);
    child.disconnect();
    lines.push(...linesOf(label, subjects));
  }
  return lines;
}

/** Starts on a large world, in turns with the build before if there is one: by the clock, and processor time. */
async function starts(benchmark: Benchmark, data: string): Promise<Line[]> {
  const builds = BUILDS.map((build) => ({ ...build, tookMs: [] as number[], cpuMs: [] as number[] }));
  for (let round = 0; round < START_ROUNDS; round += 1) {
    for (const { cli, tookMs, cpuMs } of builds) {
      const beganMs = performance.now();
      const platform = await benchmark.platform({ data }, cli);
      await platform.ask('GET', '/meta/root');
      tookMs.push(performance.now() - beganMs);
      cpuMs.push(processorMs(platform.child.pid) ?? Number.NaN);
      await platform.end();
    }
  }
  const label = `start to first answer, ${LARGE.toLocaleString('en')} resources`;
  return builds.flatMap(({ name, tookMs, cpuMs }): Line[] => [
    { label: `${label}, ${name}`, measured: median(tookMs), unit: 'ms', goal: { atMost: 2_000 } },
    { label: `${label}, ${name}, processor time`, measured: median(cpuMs), unit: 'ms' },
  ]);
}

async function growth(benchmark: Benchmark): Promise<Line[]> {
  const lines: Line[] = [];
  const worlds: { name: string; platform: Terrarium; lambda: string }[] = [];
  for (const size of [SMALL, LARGE]) {
    const data = mkdtempSync(join(benchmark.folder, 'world-'));
    await (await benchmark.platform({ data })).end();
    const { lambda } = await growWorld(data, size);
    // Created separately, so that the measurement opens an unmodified file.
    const first = await benchmark.platform({ data });
    await first.ask('POST', '/meta/root/orgs', { name: 'one-more' });
    await first.end();
    if (size === LARGE) lines.push(...(await starts(benchmark, data)));
    worlds.push({
      name: `in a world of ${size.toLocaleString('en')}`,
      platform: await benchmark.platform({ data }),
      lambda,
    });
  }
  for (const operation of ['durable create', 'durable patch']) {
    const subjects: Subject[] = [];
    for (const { name, platform, lambda } of worlds) {
      const patch = {
        method: 'PATCH',
        path: `/meta/root/lambdas/${lambda}`,
        body: JSON.stringify([{ op: 'add', path: '/description', value: '{n}' }]),
      };
      const request = { ...(await createLoad(platform)), ...(operation === 'durable patch' && patch) };
      subjects.push({ name, child: platform.child, request, rounds: [] });
    }
    await benchmark.measure(subjects);
    const [small, large] = subjects;
    if (!small || !large) continue;
    const reference = { name: small.name, measured: medianOf(small, 'cpuUs') };
    const measured = medianOf(large, 'cpuUs');
    lines.push({
      label: `${operation} ${large.name}, processor time`,
      measured,
      unit: 'us',
      reference,
      goal: { atMost: 1.2 },
    });
  }
  return lines;
}

await runBench(
  async (benchmark, [selectedPart]) => [
    ...(selectedPart === 'growth' ? [] : await reads(benchmark)),
    ...(selectedPart === 'reads' ? [] : await growth(benchmark)),
  ],
  { express: runExpress },
);
