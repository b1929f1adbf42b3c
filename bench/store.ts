// What a commit costs in worlds of 100, 10,000 and 100,000 resources, beside lowdb's own JSONFile adapter, which writes the
// whole file each time. Each world runs in a process of its own, and all of them take turns, so that a busy moment of the
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
import { openStore } from '../server/store/world-store.ts';

const SIZES = [100, 10_000, 100_000];
const ROUNDS = 30;
const COMMITS = 150;
/** JSONFile takes a second to write a large world: it gets fewer rounds, and in them fewer writes. */
const JSON_FILE_ROUNDS = 4;
const jsonFileWrites = (size: number) => Math.max(1, Math.min(50, Math.round(20_000 / size)));
const WHOLE_ROUNDS = 6;
const IDLE_MS = 500;

const cause: Cause = { actor: null, via: 'api', action: 'container.update' };

/** What a world is kept by. */
type Keeper = 'never' | 'batch' | 'jsonFile';

/** What a process can be asked to do; it answers with a figure in ms. */
interface Jobs {
  /** One change after the other: time of each. */
  inTurn(): Promise<number>;
  /** Many changes at once: time of each. */
  atOnce(): Promise<number>;
  /** The longest stall while nothing is done. */
  idle(): Promise<number>;
  /** The longest stall while the whole world is written. */
  write(): Promise<number>;
  /** Opening what was written. */
  open(): Promise<number>;
  end(): Promise<number>;
}

function makeWorld(size: number): World {
  const rootId = randomUUID();
  const at = '2024-05-01T12:00:00.000Z';
  const common = { state: 'Active', owner: rootId, created: { by: rootId, at } } as const;
  const modified = { action: 'create', by: rootId, at } as const;
  const resources: World['resources'] = {};
  const root = { id: rootId, type: 'Resource::Organization', name: 'root', parent: null };
  resources[rootId] = { ...root, ...common, modified, properties: {} };
  let environmentId = rootId;
  for (let i = 1; i < size; i++) {
    const id = randomUUID();
    const isEnvironment = i % 50 === 1;
    const parent = isEnvironment ? rootId : environmentId;
    if (isEnvironment) environmentId = id;
    const type = isEnvironment ? 'Resource::Environment' : 'Resource::Container';
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
    resources[id] = { id, type, name: `record-${i}`, parent, ...common, modified, properties };
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

async function timeMs(work: () => Promise<unknown>): Promise<number> {
  const startMs = performance.now();
  await work();
  return performance.now() - startMs;
}

async function journalJobs(dir: string, fsync: FsyncPolicy, size: number): Promise<Jobs> {
  const open = () =>
    openStore({
      medium: { kind: 'folder', dir },
      createWorld: () => makeWorld(size),
      nowMs: Date.now,
      fsync,
      onWarning: console.error,
    });
  let store = await open();
  const ids = [...store.world.resources.keys()];
  const change = (i: number) => {
    const record = store.view.find(anyOf(ids));
    return store.commit({ put: record ? [redeployed(record, `1.1.${i}`)] : [] }, cause);
  };
  return {
    async inTurn() {
      const ms = await timeMs(async () => {
        for (let i = 0; i < COMMITS; i++) await change(i);
      });
      return ms / COMMITS;
    },
    async atOnce() {
      return (await timeMs(() => Promise.all(Array.from({ length: COMMITS }, (_, i) => change(i))))) / COMMITS;
    },
    idle: () => longestStallMs(() => setTimeout(IDLE_MS)),
    // Closing makes a snapshot, by the same steps as in the background.
    write: () => longestStallMs(() => store.close()),
    async open() {
      const ms = await timeMs(async () => {
        store = await open();
      });
      await change(0);
      return ms;
    },
    end: () => timeMs(() => store.close()),
  };
}

async function jsonFileJobs(dir: string, size: number): Promise<Jobs> {
  const low = new Low(new JSONFile<World>(join(dir, 'lowdb.json')), makeWorld(size));
  await low.write();
  const ids = Object.keys(low.data.resources);
  const writes = jsonFileWrites(size);
  return {
    async inTurn() {
      const ms = await timeMs(async () => {
        for (let i = 0; i < writes; i++) {
          const record = low.data.resources[anyOf(ids)];
          if (record) low.data.resources[record.id] = redeployed(record, `1.1.${i}`);
          await low.write();
        }
      });
      return ms / writes;
    },
    atOnce: async () => Number.NaN,
    idle: () => longestStallMs(() => setTimeout(IDLE_MS)),
    write: () => longestStallMs(() => low.write()),
    open: () => timeMs(() => low.read()),
    end: async () => 0,
  };
}

async function inOwnProcess(keeper: Keeper, size: number): Promise<void> {
  const dir = await mkdtemp(join(tmpdir(), 'terrarium-bench-'));
  const jobs = await (keeper === 'jsonFile' ? jsonFileJobs(dir, size) : journalJobs(dir, keeper, size));
  process.on('message', async (job: keyof Jobs) => {
    const ms = await jobs[job]();
    if (job === 'end') await rm(dir, { recursive: true });
    process.send?.(ms);
  });
  process.send?.(0);
}

function anyOf(ids: readonly string[]): string {
  return ids[Math.floor(Math.random() * ids.length)] ?? '';
}

/** A world in its process, with what it answered so far. */
class Subject {
  readonly size: number;
  readonly #child: ChildProcess;
  readonly #answers = new Map<keyof Jobs, number[]>();

  constructor(keeper: Keeper, size: number) {
    this.size = size;
    this.#child = fork(fileURLToPath(import.meta.url), [keeper, String(size)]);
  }

  async ready(): Promise<this> {
    await once(this.#child, 'message');
    return this;
  }

  async ask(job: keyof Jobs): Promise<void> {
    this.#child.send(job);
    const [ms] = await once(this.#child, 'message');
    this.#answers.set(job, [...(this.#answers.get(job) ?? []), ms]);
    if (job === 'end') this.#child.disconnect();
  }

  /** The best round but the first, which warms up: the one that the rest of the machine disturbed least. */
  best(job: keyof Jobs): number {
    return Math.min(...(this.#answers.get(job) ?? []).slice(1));
  }
}

async function main(): Promise<void> {
  const start = (keeper: Keeper) => Promise.all(SIZES.map((size) => new Subject(keeper, size).ready()));
  const never = await start('never');
  const batch = await start('batch');
  const jsonFile = await start('jsonFile');
  const all = [...never, ...batch, ...jsonFile];

  for (let round = 0; round <= ROUNDS; round++) {
    for (const subject of never) await subject.ask('inTurn');
    for (const subject of batch) await subject.ask('inTurn');
    for (const subject of batch) await subject.ask('atOnce');
    for (const subject of round <= JSON_FILE_ROUNDS ? jsonFile : []) await subject.ask('inTurn');
  }
  for (let round = 0; round <= WHOLE_ROUNDS; round++) {
    for (const subject of [...batch, ...jsonFile]) {
      for (const job of ['idle', 'write', 'open'] as const) await subject.ask(job);
    }
  }
  await Promise.all(all.map((subject) => subject.ask('end')));

  const print = (name: string, cells: string[]) =>
    console.log(name.padEnd(38) + cells.map((cell) => cell.padStart(12)).join(''));
  const [smallest = 0, , largest = 0] = SIZES;
  print('One commit: ms, best round', [...SIZES.map((size) => size.toLocaleString('en')), `x ${largest / smallest}`]);
  const printCommits = (name: string, subjects: readonly Subject[], job: keyof Jobs) => {
    const ms = subjects.map((subject) => subject.best(job));
    print(name, [...ms.map((one) => one.toFixed(4)), `${((ms.at(-1) ?? 0) / (ms[0] ?? 0)).toFixed(2)} x`]);
  };
  printCommits('journal, fsync never', never, 'inTurn');
  printCommits('journal, fsync batch (default)', batch, 'inTurn');
  printCommits(`journal, fsync batch, ${COMMITS} at once`, batch, 'atOnce');
  printCommits('lowdb JSONFile (never syncs)', jsonFile, 'inTurn');
  for (const [name, subjects] of [
    ['never', never],
    ['batch', batch],
  ] as const) {
    const factors = subjects.map((one, i) => (jsonFile[i]?.best('inTurn') ?? 0) / one.best('inTurn'));
    print(
      `JSONFile / journal, fsync ${name}`,
      factors.map((factor) => `${Math.round(factor)} x`),
    );
  }

  console.log('\nLongest time for which nothing else had its turn: ms, best round');
  const printBest = (name: string, subjects: readonly Subject[], job: keyof Jobs) =>
    print(
      name,
      subjects.map((subject) => subject.best(job).toFixed(1)),
    );
  printBest('while nothing is done', batch, 'idle');
  printBest('journal, while a snapshot is made', batch, 'write');
  printBest('lowdb JSONFile, while it writes', jsonFile, 'write');

  console.log('\nOpening what was closed: ms, best round');
  printBest('journal', batch, 'open');
  printBest('lowdb JSONFile (no indexes)', jsonFile, 'open');
}

const [keeper, size] = process.argv.slice(2);
await (keeper ? inOwnProcess(keeper as Keeper, Number(size)) : main()); // as this file itself passed it
