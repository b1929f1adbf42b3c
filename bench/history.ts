// What looking back costs: pages of the history, the world of a moment, a comparison and a restore, in worlds of 1,000 and
// 100,000 resources with 50,000 commits, and how long any of it keeps others waiting. Look at the growth; the figures are
// this machine's.
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { findCommits, type HistoryQuery } from '../server/history/history-query.ts';
import { differenceBetween } from '../server/history/time-machine.ts';
import type { Cause } from '../server/model/commit.ts';
import type { StoredResource, World } from '../server/model/record.ts';
import { changesBetween } from '../server/store/world-difference.ts';
import { openStore, type WorldStore } from '../server/store/world-store.ts';

const SIZES = [1_000, 100_000];
const COMMITS = 50_000;
/** How many commits go on at once: they share a write. */
const BATCH = 500;
const cause: Cause = { actor: null, via: 'api', action: 'environment.update' };

function makeWorld(size: number): World {
  const rootId = randomUUID();
  const at = '2024-05-01T12:00:00.000Z';
  const common = { state: 'Active', owner: rootId, created: { by: rootId, at } } as const;
  const modified = { action: 'create', by: rootId, at } as const;
  const add = (type: string, name: string, parent: string | null, id = randomUUID()): StoredResource => {
    const env = { LOG_LEVEL: 'info', DATABASE_URL: `postgres://${name}.example.com/shop`, REGION: 'eu' };
    return { id, type, name, parent, ...common, modified, properties: { env } };
  };
  const records = [add('Resource::Organization', 'root', null, rootId)];
  for (let i = 1; i < size; i++) records.push(add('Resource::Workspace', `workspace-${i}`, rootId));
  return { format: 1, id: randomUUID(), resources: Object.fromEntries(records.map((one) => [one.id, one])) };
}

/** Changes one resource after the other. */
async function makeHistory(store: WorldStore): Promise<void> {
  const ids = [...store.world.resources.keys()];
  for (let i = 0; i < COMMITS; i += BATCH) {
    const change = (n: number) => {
      const record = store.view.find(ids[n % ids.length] ?? '') ?? store.view.root;
      const modified = { ...record.modified, action: 'update', at: new Date(1.7e12 + n * 1000).toISOString() } as const;
      return store.commit({ put: [{ ...record, description: `change ${n}`, modified }] }, cause);
    };
    await Promise.all(Array.from({ length: BATCH }, (_, at) => change(i + at)));
  }
}

async function measure(what: string, work: () => Promise<string>): Promise<void> {
  const stalls = monitorEventLoopDelay({ resolution: 1 });
  stalls.enable();
  const begin = performance.now();
  const result = await work();
  const ms = performance.now() - begin;
  await new Promise((resolve) => setTimeout(resolve, 5));
  stalls.disable();
  console.log(
    `  ${what.padEnd(44)} ${ms.toFixed(1).padStart(9)} ms, longest stall ${(stalls.max / 1e6).toFixed(0)} ms, ${result}`,
  );
}

for (const size of SIZES) {
  const dir = await mkdtemp(join(tmpdir(), 'terrarium bench '));
  const store = await openStore({
    medium: { kind: 'folder', dir },

    createWorld: () => makeWorld(size),
    nowMs: Date.now,
    onWarning: console.warn,
  });
  try {
    await makeHistory(store);
    const now = store.seq;
    const { history } = store;
    const page = async (query: Partial<HistoryQuery>) => {
      const asked = { limit: 50, brief: false, ...query };
      const { commits, next } = await findCommits(history, asked, () => undefined);
      return `${commits.length} commits${next === undefined ? '' : `, next ${next}`}`;
    };
    const worldAt = async (seq: number) => `commit ${(await history.worldAt({ seq })).seq}`;
    console.log(`${size} resources, ${now} commits`);
    await measure('newest page', () => page({}));
    await measure('page in the middle', () => page({ before: now / 2 }));
    await measure('page of which nothing matches', () => page({ actor: 'nobody' }));
    for (const back of [10, 1_000, COMMITS]) await measure(`world of ${back} commits ago`, () => worldAt(now - back));
    await measure('difference over 1000 commits', async () => {
      const [from, to] = [await history.worldAt({ seq: now - 1000 }), await history.worldAt({ seq: now })];
      return `${(await differenceBetween(from, to)).ops.length} operations`;
    });
    await measure('restore of 1000 commits ago', async () => {
      const { resources } = await history.worldAt({ seq: now - 1000 });
      const commit = await store.commit(changesBetween(store.world.resources, resources), cause);
      return `${commit?.ops.length} operations`;
    });
  } finally {
    await store.close();
    await rm(dir, { recursive: true });
  }
}
