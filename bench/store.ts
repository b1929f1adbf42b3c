// Measures a commit, the longest stall of the event loop while the whole world is written, removed or restored, and the opening of a world,
// at 100 and 10,000 resources. Each world has its own process, and all take turns. Look at the ratios.
//
//   node bench/run.mjs store
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import type { Cause } from '../server/model/commit.ts';
import type { World } from '../server/model/record.ts';
import type { FsyncPolicy } from '../server/storage/files/files.ts';
import { changesBetween } from '../server/storage/world/world-patch.ts';
import { openStore } from '../server/storage/world/world-store.ts';
import { record, rootId, smallWorld } from '../server/testing/small-world.ts';
import type { Line } from './speed/goals.ts';
import { type Benchmark, runBench } from './speed/harness.ts';

const SIZES = [100, 10_000];
/** One operation on the whole world may delay other requests for this long. */
const LONGEST_TURN_MS = 500;
const ROUNDS = 30;
const COMMITS = 150;
const WHOLE_ROUNDS = 6;
const IDLE_MS = 500;

const cause: Cause = { actor: null, via: 'api', action: 'container.update' };

function makeWorld(size: number): World {
  const world = smallWorld();
  let parent = rootId;
  for (let i = 1; i < size; i++) {
    const isEnvironment = i % 50 === 1;
    const resource = isEnvironment
      ? record('environments', `record-${i}`, { properties: { environment_type: 'development' } })
      : record('containers', `record-${i}`, { parent, properties: containerProperties(i) });
    world.resources[resource.id] = resource;
    if (isEnvironment) parent = resource.id;
  }
  return world;
}

const containerProperties = (i: number) => ({
  container_type: 'DOCKER',
  image: `registry.example.com/shop/service-${i}:1.0.${i}`,
  num_instances: 1,
  cpus: 0.1,
  memory: 128,
  env: { LOG_LEVEL: 'info', DATABASE_URL: `postgres://database-${i}.example.com/shop`, REGION: 'eu' },
  provider: { id: rootId, name: 'default-docker' },
  port_mappings: [{ protocol: 'tcp', name: 'web', expose_endpoint: true, container_port: 8080 }],
});

async function timeMs(work: () => Promise<unknown>): Promise<number> {
  const startMs = performance.now();
  await work();
  return performance.now() - startMs;
}

/** The longest time between two turns of the event loop while `work` runs. */
async function longestStallMs(work: () => Promise<unknown>): Promise<number> {
  let [longestMs, lastMs, isOver] = [0, performance.now(), false];
  const look = () => {
    const nowMs = performance.now();
    longestMs = Math.max(longestMs, nowMs - lastMs);
    lastMs = nowMs;
    if (!isOver) setImmediate(look);
  };
  setImmediate(look);
  await work();
  isOver = true;
  look();
  return longestMs;
}

/** In a process of its own: keeps a world, does the jobs that its parent sends, and answers each with milliseconds. */
async function keepWorld(dir: string, fsync: FsyncPolicy, size: number): Promise<void> {
  const medium = { kind: 'folder', dir } as const;
  const open = () =>
    openStore({ medium, createWorld: () => makeWorld(size), nowMs: Date.now, fsync, onWarning: console.error });
  let store = await open();
  const ids = [...store.world.resources.keys()];
  const change = (i: number) => {
    const record = store.view.find(ids[Math.floor(Math.random() * ids.length)] ?? '');
    const image = `registry.example.com/shop/service:1.1.${i}`;
    return store.commit({ put: record ? [{ ...record, properties: { ...record.properties, image } }] : [] }, cause);
  };
  const jobs: Record<string, () => Promise<number>> = {
    async inTurn() {
      const ms = await timeMs(async () => {
        for (let i = 0; i < COMMITS; i++) await change(i);
      });
      return ms / COMMITS;
    },
    atOnce: async () =>
      (await timeMs(() => Promise.all(Array.from({ length: COMMITS }, (_, i) => change(i))))) / COMMITS,
    idle: () => longestStallMs(() => wait(IDLE_MS)),
    whole: () =>
      longestStallMs(async () => {
        const { seq } = store;
        await store.commit({ remove: ids.slice(1) }, cause);
        const { resources } = await store.history.worldAt({ seq });
        await store.commit(changesBetween(store.world.resources, resources), cause);
      }),
    // Closing makes a snapshot, by the same steps as in the background.
    write: () => longestStallMs(() => store.close()),
    async open() {
      const ms = await timeMs(async () => {
        store = await open();
      });
      await change(0);
      return ms;
    },
  };
  process.on('message', async (job: string) => process.send?.(await jobs[job]?.()));
  process.on('disconnect', () => process.exit());
  process.send?.(0);
}

async function main(benchmark: Benchmark): Promise<Line[]> {
  const start = async (fsync: FsyncPolicy, size: number) => {
    const child = benchmark.fork('world', `${benchmark.folder}/${fsync}-${size}`, fsync, String(size));
    await once(child, 'message');
    const answers = new Map<string, number[]>();
    return {
      async ask(job: string): Promise<void> {
        child.send(job);
        const [ms] = await once(child, 'message');
        answers.set(job, [...(answers.get(job) ?? []), ms]);
      },
      /**
       * Returns the time of the fastest round after the first, which warms up. Other work on the machine disturbed this
       * round least.
       */
      best: (job: string): number => Math.min(...(answers.get(job) ?? []).slice(1)),
    };
  };
  const never = await Promise.all(SIZES.map((size) => start('never', size)));
  const batch = await Promise.all(SIZES.map((size) => start('batch', size)));
  for (let round = 0; round <= ROUNDS; round++) {
    for (const world of [...never, ...batch]) await world.ask('inTurn');
    for (const world of batch) await world.ask('atOnce');
  }
  for (let round = 0; round <= WHOLE_ROUNDS; round++) {
    for (const world of batch) for (const job of ['idle', 'whole', 'write', 'open']) await world.ask(job);
  }
  const rows = [
    ['a commit, never synced', never, 'inTurn', 'us'],
    ['a commit, synced (default)', batch, 'inTurn', 'us'],
    [`a commit of ${COMMITS} at once, synced`, batch, 'atOnce', 'us'],
    ['longest stall, idle', batch, 'idle', 'ms'],
    ['longest stall, removing and restoring the world', batch, 'whole', 'ms'],
    ['longest stall, writing the world', batch, 'write', 'ms'],
    ['opening the world', batch, 'open', 'ms'],
  ] as const;
  return rows.flatMap(([label, worlds, job, unit]) => {
    const [small, ...larger] = worlds.map((world) => world.best(job) * (unit === 'us' ? 1_000 : 1));
    const reference = { name: `${SIZES[0]}`, measured: small ?? Number.NaN };
    return larger.map((measured, at): Line => {
      const size = (SIZES[at + 1] ?? 0).toLocaleString('en');
      const comparison = label.startsWith('longest stall') ? { goal: { atMost: LONGEST_TURN_MS } } : { reference };
      return { label: `${label}, ${size} resources`, measured, unit, ...comparison };
    });
  });
}

await runBench(main, {
  world: (dir = '', fsync = '', size = '') => keepWorld(dir, fsync as FsyncPolicy, Number(size)), // as main passed it
});
