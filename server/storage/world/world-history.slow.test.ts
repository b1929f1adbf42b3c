import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Commit } from '../../model/commit.ts';
import type { StoredResource, Uuid } from '../../model/record.ts';
import { requests } from '../../testing/arbitrary-commits.ts';
import { cause, record, rootId, testOptions } from '../../testing/small-world.ts';
import { TestFiles } from '../../testing/test-files.ts';
import type { Retention } from './journal.ts';
import { planRevert } from './revert.ts';
import { changesBetween } from './world-patch.ts';
import { type CommitRequest, openStoreIn, type WorldStore } from './world-store.ts';

const stateOf = ({ world }: WorldStore) => Object.fromEntries(world.resources);
const recordsOf = (resources: ReadonlyMap<Uuid, StoredResource>) => Object.fromEntries(resources);
const KEEP_ALL: Retention = { maxCommits: 1e9, maxBytes: 1e9 };
const open = (files: TestFiles, retention = KEEP_ALL) => openStoreIn(files, testOptions({ retention }));

async function historyOf(store: WorldStore, beforeSeq?: number): Promise<Commit[]> {
  const commits: Commit[] = [];
  for await (const commit of store.history.commits(beforeSeq)) commits.push(commit);
  return commits;
}

/** Makes the commits, now and then by a new start of the store, which leaves a file in `history/`. Tells every state. */
async function live(files: TestFiles, runs: readonly (readonly CommitRequest[])[], retention = KEEP_ALL) {
  let store = await open(files, retention);
  const states = [stateOf(store)];
  const commits: Commit[] = [];
  for (const [run, all] of runs.entries()) {
    if (run > 0) {
      await store.close();
      store = await open(files, retention);
    }
    for (const each of all) {
      const commit = await store.commit(each, cause);
      if (commit) commits.push(commit);
      states[store.seq] = stateOf(store);
    }
  }
  return { store, states, commits };
}

const runs = fc.array(requests, { minLength: 1, maxLength: 3 });
const env = (value: string) => record('apis', 'api', { id: rootId.replace(/1$/, '2'), properties: { env: value } });

describe('laws', () => {
  test('the history contains the commits, newest first, from any position', async () => {
    await fc.assert(
      fc.asyncProperty(runs, fc.nat(40), async (all, from) => {
        const { store, commits } = await live(new TestFiles(), all);
        expect(await historyOf(store)).toEqual(commits.toReversed());
        expect(await historyOf(store, from)).toEqual(commits.filter(({ seq }) => seq < from).toReversed());
      }),
      { numRuns: 50 },
    );
  });

  test('the world at any moment is the one that was there', async () => {
    await fc.assert(
      fc.asyncProperty(runs, async (all) => {
        const { store, states } = await live(new TestFiles(), all);
        for (const [seq, state] of states.entries()) {
          const pastWorld = await store.history.worldAt({ seq });
          expect(pastWorld.seq).toBe(seq);
          expect(recordsOf(pastWorld.resources)).toEqual(state);
        }
      }),
      { numRuns: 50 },
    );
  });

  test('restoring a moment and then the one before that is no change at all, and each is one commit', async () => {
    await fc.assert(
      fc.asyncProperty(runs, fc.double({ min: 0, max: 1, noNaN: true }), async (all, part) => {
        const { store, states } = await live(new TestFiles(), all);
        const now = store.seq;
        const then = Math.floor(part * now);
        for (const seq of [then, now]) {
          const before = store.seq;
          const { resources } = await store.history.worldAt({ seq });
          const newCommit = await store.commit(changesBetween(store.world.resources, resources), cause);
          expect(stateOf(store)).toEqual(states[seq]);
          expect(store.seq).toBe(newCommit ? before + 1 : before);
        }
      }),
      { numRuns: 50 },
    );
  });

  test('reverting the newest commit leads to the world before it', async () => {
    await fc.assert(
      fc.asyncProperty(runs, async (all) => {
        const { store, states, commits } = await live(new TestFiles(), all);
        const commit = commits.at(-1);
        if (!commit) return;
        const { conflicts, ...plan } = planRevert(commit, store.world.resources, store.world.resources);
        expect(conflicts).toEqual([]);
        await store.commit(plan, cause);
        expect(stateOf(store)).toEqual(states[commit.seq - 1]);
      }),
    );
  });

  test('reverting any commit restores its resources if they are unchanged since, or names the changes', async () => {
    await fc.assert(
      fc.asyncProperty(runs, async (all) => {
        const { store, states, commits } = await live(new TestFiles(), all);
        for (const commit of commits) {
          const worldAfter = await store.history.worldAt({ seq: commit.seq });
          const { conflicts, put, remove } = planRevert(commit, worldAfter.resources, store.world.resources);
          const later = commits.filter(({ seq }) => seq > commit.seq).flatMap(({ resources }) => resources);
          const touched = new Set(later.map(({ id }) => id));
          for (const { pointer } of conflicts) expect(touched).toContain(pointer.split('/')[2]);
          for (const { id } of commit.resources) {
            if (touched.has(id)) continue;
            const before = states[commit.seq - 1]?.[id];
            expect(put.find((candidate) => candidate.id === id)).toEqual(before);
            expect(remove.includes(id)).toBe(before === undefined);
          }
        }
      }),
      { numRuns: 50 },
    );
  });
});

describe('kept data', () => {
  const fourRuns = ['a', 'b', 'c', 'd'].map((run) => [1, 2, 3].map((n) => ({ put: [env(`${run}${n}`)] })));

  test('the newest commits are kept up to the limit, while the store is open and after it was closed', async () => {
    const files = new TestFiles();
    const retention = { maxCommits: 7, maxBytes: 1e9 };
    const { store, states } = await live(files, fourRuns, retention);
    const newest = [12, 11, 10, 9, 8, 7, 6];
    expect((await historyOf(store)).map(({ seq }) => seq)).toEqual(newest);
    expect(await store.history.span()).toEqual({ oldest: 5, newest: 12 });
    await store.close();
    expect(await files.list('history')).toEqual([
      '000000000006-000000000006.jsonl',
      '000000000007-000000000009.jsonl',
      '000000000010-000000000012.jsonl',
    ]);
    const reopened = await open(files, retention);
    expect((await historyOf(reopened)).map(({ seq }) => seq)).toEqual(newest);
    expect(stateOf(reopened)).toEqual(states[12]);
    expect(recordsOf((await reopened.history.worldAt({ seq: 5 })).resources)).toEqual(states[5]);
  });

  test('a long session that is closed keeps the newest commits', async () => {
    const files = new TestFiles();
    const session = Array.from({ length: 30 }, (_, index) => ({ put: [env(`value ${index}`)] }));
    const { store } = await live(files, [session], { maxCommits: 10, maxBytes: 1e9 });
    expect(await historyOf(store)).toHaveLength(10);
    await store.close();
    const reopened = await open(files);
    expect((await historyOf(reopened)).map(({ seq }) => seq)).toEqual([30, 29, 28, 27, 26, 25, 24, 23, 22, 21]);
  });

  test('the newest commits are kept up to the size limit', async () => {
    const files = new TestFiles();
    const { store } = await live(files, fourRuns, { maxCommits: 1e9, maxBytes: 1_500 });
    await store.close();
    const names = await files.list('history');
    const contents = await Promise.all(names.map((name) => files.read(`history/${name}`)));
    const sizeBytes = contents.reduce((sum, content) => sum + (content?.length ?? 0), 0);
    expect(sizeBytes).toBeGreaterThan(1_000);
    expect(sizeBytes).toBeLessThanOrEqual(1_500);
    const reopened = await open(files);
    expect(reopened.seq).toBe(12);
    expect((await historyOf(reopened))[0]?.seq).toBe(12);
  });

  test.each([
    ['commits', { maxCommits: 4, maxBytes: 1e9 }],
    ['bytes', { maxCommits: 1e9, maxBytes: 1_500 }],
  ])('a lower limit of %s applies at the next start, without a change', async (_, retention) => {
    const files = new TestFiles();
    const { store } = await live(files, fourRuns);
    await store.close();
    const sizeOnDisk = async () => {
      const contents = await Promise.all((await files.list('history')).map((name) => files.read(`history/${name}`)));
      return contents.reduce((sum, content) => sum + (content?.length ?? 0), 0);
    };
    const before = await sizeOnDisk();
    const reopened = await open(files, retention);
    expect(await sizeOnDisk()).toBeLessThan(Math.min(before, 2_500));
    await reopened.close();
    const seqs = (await historyOf(await open(files))).map(({ seq }) => seq);
    expect(seqs).toEqual([12, 11, 10, 9].slice(0, seqs.length));
    expect(seqs.length).toBeGreaterThan(1);
  });

  test('no commit is kept if the newest one exceeds the size limit', async () => {
    const files = new TestFiles();
    const { store } = await live(files, fourRuns, { maxCommits: 1e9, maxBytes: 1 });
    await store.close();
    expect(await files.list('history')).toEqual([]);
    expect((await open(files)).seq).toBe(12);
  });

  test('is named for a moment that is no longer kept', async () => {
    const { store } = await live(new TestFiles(), fourRuns, { maxCommits: 7, maxBytes: 1e9 });
    const message = 'it starts at commit 6 of 2023-11-14T22:13:20.000Z';
    for (const seq of [4, 1, 0]) {
      await expect(store.history.worldAt({ seq })).rejects.toMatchObject({ status: 404 });
      await expect(store.history.worldAt({ seq })).rejects.toThrow(message);
    }
    await expect(store.history.worldAt({ atMs: 0 })).rejects.toThrow(message);
    await expect(store.history.get(3)).rejects.toThrow(message);
    await expect(store.history.get(13)).rejects.toThrow('commit 13 does not exist yet; the newest commit is 12');
  });

  test('cannot be read when it is damaged, which says where, and leaves the world alone', async () => {
    const files = new TestFiles();
    const { store } = await live(files, fourRuns);
    const name = 'history/000000000004-000000000006.jsonl';
    const content = await files.read(name);
    content?.writeUInt8(0x20, 100);
    await expect(historyOf(store)).rejects.toThrow(name);
    await expect(store.history.worldAt({ seq: 3 })).rejects.toMatchObject({ status: 503 });
    expect(await store.history.worldAt({ seq: 5 })).toMatchObject({ seq: 5 });
  });
});
