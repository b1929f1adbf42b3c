// What a commit costs in worlds of 100, 10,000 and 100,000 resources, beside lowdb's own JSONFile adapter, which writes the
// whole file each time. Each size runs in a process of its own, and all of them take turns, so that a busy moment of the
// machine meets them alike. Look at the ratios; the figures are this machine's.
import { type ChildProcess, fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Low } from 'lowdb';
import { JSONFile } from 'lowdb/node';
import type { Cause } from '../server/model/commit.ts';
import type { StoredResource, World } from '../server/model/record.ts';
import type { FsyncPolicy } from '../server/store/files.ts';
import { openStore, type WorldStore } from '../server/store/world-store.ts';

const SIZES = [100, 10_000, 100_000];
const ROUNDS = 30;
const COMMITS = 150;
/** JSONFile takes a second to write a large world. */
const JSON_FILE_ROUNDS = 4;
const STALL_ROUNDS = 5;
const IDLE_MS = 500;

const cause: Cause = { actor: null, via: 'api', action: 'container.update' };

type Job =
  | 'never'
  | 'batch'
  | 'burst'
  | 'jsonFile'
  | 'idleStall'
  | 'snapshotStall'
  | 'jsonFileStall'
  | 'reopen'
  | 'jsonFileReopen'
  | 'end';

function makeWorld(size: number): World {
  const rootId = randomUUID();
  const at = '2024-05-01T12:00:00.000Z';
  const common = { state: 'Active', owner: rootId, created: { by: rootId, at } } as const;
  const modified = { action: 'create', by: rootId, at } as const;
  const resources: World['resources'] = {};
  resources[rootId] = { id: rootId, type: 'orgs', name: 'root', parent: null, ...common, modified, properties: {} };
  let environmentId = rootId;
  for (let i = 1; i < size; i++) {
    const id = randomUUID();
    const isEnvironment = i % 50 === 1;
    const parent = isEnvironment ? rootId : environmentId;
    if (isEnvironment) environmentId = id;
    const type = isEnvironment ? 'environments' : 'containers';
    const properties = isEnvironment
      ? { environment_type: 'development' }
      : {
          container_type: 'DOCKER',
          image: `registry.example.com/shop/service-${i}:1.0.${i}`,
          num_instances: 1,
          cpus: 0.1,
          memory: 128,
          env: { LOG_LEVEL: 'info', DATABASE_URL: `postgres://database-${i}.example.com/shop`, REGION: 'eu' },
          provider: { id: rootId, name: 'default-docker' },
          port_mappings: [{ protocol: 'tcp', name: 'web', expose_endpoint: true, container_port: 8080 }],
        };
    resources[id] = { id, type, name: `${type}-${i}`, parent, ...common, modified, properties };
  }
  return { format: 1, id: randomUUID(), resources };
}

/** A record with another image, as a deployment makes it. */
function redeployed(record: StoredResource, tag: string): StoredResource {
  return { ...record, properties: { ...record.properties, image: `registry.example.com/shop/service:${tag}` } };
}

/** The longest time for which nothing else had its turn while `work` ran. */
async function longestStallMs(work: () => Promise<unknown>): Promise<number> {
  let longestMs = 0;
  let isOver = false;
  let lastMs = performance.now();
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

async function inOwnProcess(size: number): Promise<void> {
  const dir = await mkdtemp(join(tmpdir(), 'terrarium-bench-'));
  const world = makeWorld(size);
  const ids = Object.keys(world.resources);
  const pick = () => ids[Math.floor(Math.random() * ids.length)] ?? '';
  const open = (fsync: FsyncPolicy) =>
    openStore({
      medium: { kind: 'folder', dir: join(dir, fsync) },
      indexing: { wordOf: (type) => (type === 'orgs' || type === 'environments' ? type : 'containers'), references },
      createWorld: () => world,
      nowMs: Date.now,
      fsync,
      onWarning: console.error,
    });
  const never = await open('never');
  let batch = await open('batch');
  const jsonFile = new Low(new JSONFile<World>(join(dir, 'lowdb.json')), world);
  await jsonFile.write();

  const commitOne = (store: WorldStore, i: number) => {
    const record = store.view.find(pick());
    return store.commit({ put: record ? [redeployed(record, `1.1.${i}`)] : [] }, cause);
  };
  const inTurn = async (store: WorldStore) => {
    const startMs = performance.now();
    for (let i = 0; i < COMMITS; i++) await commitOne(store, i);
    return (performance.now() - startMs) / COMMITS;
  };
  const jobs: Record<Job, () => Promise<number>> = {
    never: () => inTurn(never),
    batch: () => inTurn(batch),
    async burst() {
      const startMs = performance.now();
      await Promise.all(Array.from({ length: COMMITS }, (_, i) => commitOne(batch, i)));
      return (performance.now() - startMs) / COMMITS;
    },
    async jsonFile() {
      const writes = Math.max(1, Math.min(50, Math.round(20_000 / size)));
      const startMs = performance.now();
      for (let i = 0; i < writes; i++) {
        const record = world.resources[pick()];
        if (record) world.resources[record.id] = redeployed(record, `1.1.${i}`);
        await jsonFile.write();
      }
      return (performance.now() - startMs) / writes;
    },
    idleStall: () => longestStallMs(() => setTimeout(IDLE_MS)),
    // Closing makes a snapshot, by the same steps as in the background.
    snapshotStall: () => longestStallMs(() => batch.close()),
    jsonFileStall: () => longestStallMs(() => jsonFile.write()),
    async reopen() {
      const startMs = performance.now();
      batch = await open('batch');
      const tookMs = performance.now() - startMs;
      await commitOne(batch, 0);
      return tookMs;
    },
    async jsonFileReopen() {
      const startMs = performance.now();
      await jsonFile.read();
      return performance.now() - startMs;
    },
    async end() {
      await Promise.all([never.close(), batch.close()]);
      await rm(dir, { recursive: true });
      return 0;
    },
  };
  process.on('message', async (job: Job) => process.send?.(await jobs[job]()));
  process.send?.(0);
}

function references(record: StoredResource): string[] {
  const provider = record.properties['provider'];
  return provider && typeof provider === 'object' && 'id' in provider ? [String(provider.id)] : [];
}

async function ask(child: ChildProcess, job?: Job): Promise<number> {
  if (job) child.send(job);
  const [answer] = await once(child, 'message');
  return answer;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

async function main(): Promise<void> {
  const children = SIZES.map((size) => ({ size, child: fork(fileURLToPath(import.meta.url), [String(size)]) }));
  for (const { child } of children) await ask(child);
  const rows: [Job, string][] = [
    ['never', 'journal, fsync never'],
    ['batch', 'journal, fsync batch (default)'],
    ['burst', `journal, fsync batch, ${COMMITS} at once`],
    ['jsonFile', 'lowdb JSONFile (never syncs)'],
  ];
  const times = new Map<string, number[]>();
  for (let round = 0; round <= ROUNDS; round++) {
    for (const [job] of rows) {
      if (job === 'jsonFile' && round > JSON_FILE_ROUNDS) continue;
      for (const { size, child } of children) {
        const ms = await ask(child, job);
        if (round > 0) times.set(`${job} ${size}`, [...(times.get(`${job} ${size}`) ?? []), ms]); // round 0 warms up
      }
    }
  }
  // The best round is the one that the rest of the machine disturbed least.
  const at = (job: Job, size: number) => Math.min(...(times.get(`${job} ${size}`) ?? []));
  const [smallest = 0, , largest = 0] = SIZES;
  console.log(`One commit in a world of so many resources: ms, best round\n`);
  const print = (name: string, cells: string[]) =>
    console.log(name.padEnd(38) + cells.map((cell) => cell.padStart(12)).join(''));
  print('', [...SIZES.map((size) => size.toLocaleString('en')), `x ${largest / smallest}`]);
  for (const [job, name] of rows) {
    const growth = at(job, largest) / at(job, smallest);
    print(name, [...SIZES.map((size) => at(job, size).toFixed(4)), `${growth.toFixed(2)} x`]);
  }
  const factors = (job: Job) => SIZES.map((size) => `${Math.round(at('jsonFile', size) / at(job, size))} x`);
  print('JSONFile / journal, fsync never', factors('never'));
  print('JSONFile / journal, fsync batch', factors('batch'));

  const stalls: [Job, string][] = [
    ['idleStall', 'while nothing is done'],
    ['snapshotStall', 'journal, while a snapshot is made'],
    ['jsonFileStall', 'lowdb JSONFile, while it writes'],
  ];
  const openings: [Job, string][] = [
    ['reopen', 'journal'],
    ['jsonFileReopen', 'lowdb JSONFile (no indexes)'],
  ];
  const rounds = children.map(() => new Map<Job, number[]>());
  for (const [index, { child }] of children.entries()) {
    for (let round = 0; round < STALL_ROUNDS; round++) {
      for (const [job] of [...stalls, ...openings]) {
        rounds[index]?.set(job, [...(rounds[index]?.get(job) ?? []), await ask(child, job)]);
      }
    }
  }
  const printMedians = (title: string, jobs: typeof stalls) => {
    console.log(`\n${title}: ms, median of ${STALL_ROUNDS} rounds\n`);
    for (const [job, name] of jobs)
      print(
        name,
        rounds.map((ofSize) => median(ofSize.get(job) ?? []).toFixed(1)),
      );
  };
  printMedians('Longest time for which nothing else had its turn', stalls);
  printMedians('Opening what was closed', openings);
  for (const { child } of children) {
    await ask(child, 'end');
    child.disconnect();
  }
}

const [size] = process.argv.slice(2);
await (size ? inOwnProcess(Number(size)) : main());
