import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Commit } from '../../model/commit.ts';
import type { StoredResource } from '../../model/record.ts';
import { request, requests } from '../../testing/arbitrary-commits.ts';
import { cause, record, rootId, smallWorld, testOptions } from '../../testing/small-world.ts';
import { systemError, TestFiles } from '../../testing/test-files.ts';
import type { MemoryFiles } from '../files/files.ts';
import { applyChanges, tryOperations } from './world-patch.ts';
import { type CommitRequest, openStoreIn, type WorldStore } from './world-store.ts';

type State = Record<string, StoredResource>;
const stateOf = (store: WorldStore): State => Object.fromEntries(store.world.resources);
const open = (files: TestFiles | MemoryFiles) => openStoreIn(files, testOptions());

/** Makes the commits and tells them, with the state after each sequence number. */
async function make(store: WorldStore, all: readonly CommitRequest[]): Promise<{ commits: Commit[]; states: State[] }> {
  const commits: Commit[] = [];
  const states = [stateOf(store)];
  for (const each of all) {
    const commit = await store.commit(each, cause);
    if (!commit) continue;
    commits.push(commit);
    states[commit.seq] = stateOf(store);
  }
  return { commits, states };
}

describe('laws', () => {
  test('the inverses, last first, lead back through every state', async () => {
    await fc.assert(
      fc.asyncProperty(requests, async (all) => {
        const store = await open(new TestFiles());
        const { commits, states } = await make(store, all);
        const resources = new Map(store.world.resources);
        for (const { seq, inverse } of commits.toReversed()) {
          applyChanges(resources, tryOperations(resources, inverse));
          expect(Object.fromEntries(resources)).toEqual(states[seq - 1]);
        }
      }),
    );
  });

  test('replaying the journal gives the live state, in the same order', async () => {
    await fc.assert(
      fc.asyncProperty(requests, async (all) => {
        const files = new TestFiles();
        const store = await open(files);
        await make(store, all);
        const again = await open(await files.copy());
        expect(again.seq).toBe(store.seq);
        expect(JSON.stringify(stateOf(again))).toBe(JSON.stringify(stateOf(store)));
      }),
    );
  });

  test('a snapshot changes nothing, and the commits before it stay in the history', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(requests, { minLength: 1, maxLength: 4 }), async (runs) => {
        const files = new TestFiles();
        let seq = 0;
        let state: State = smallWorld().resources;
        for (const all of runs) {
          const store = await open(files);
          expect(store.seq).toBe(seq);
          expect(stateOf(store)).toEqual(state);
          await make(store, all);
          ({ seq } = store);
          state = stateOf(store);
          await store.close();
        }
        const lines = await Promise.all(
          (await files.list('history')).map(async (name) =>
            String(await files.read(`history/${name}`))
              .trim()
              .split('\n'),
          ),
        );
        expect(lines.flat().map((line) => JSON.parse(line).seq)).toEqual(Array.from({ length: seq }, (_, i) => i + 1));
      }),
      { numRuns: 40 },
    );
  });

  test('a journal that breaks off anywhere is the world as of the last whole line', async () => {
    await fc.assert(
      fc.asyncProperty(requests, fc.double({ min: 0, max: 1, noNaN: true }), async (all, part) => {
        const files = new TestFiles();
        const { states } = await make(await open(files), all);
        const journal = (await files.read('journal.jsonl')) ?? Buffer.alloc(0);
        const cut = journal.subarray(0, Math.floor(part * journal.length));
        await files.openAppend('journal.jsonl').then((handle) => handle.truncate(cut.length));
        const warnings: string[] = [];
        const again = await openStoreIn(files, testOptions({ onWarning: (message) => warnings.push(message) }));
        const wholeCommits = cut.toString('latin1').split('\n').length - 1;
        expect(again.seq).toBe(wholeCommits);
        expect(stateOf(again)).toEqual(states[wholeCommits]);
        expect(warnings).toHaveLength(cut.length > 0 && cut.at(-1) !== 0x0a ? 1 : 0);

        await again.commit({ put: [record('apis', 'after the crash')] }, cause);
        expect(stateOf(await open(await files.copy()))).toEqual(stateOf(again));
      }),
    );
  });

  test('a crash after any step of any run loses nothing acknowledged and makes no state that never was', async () => {
    const batches = fc.array(fc.array(request, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(fc.array(batches, { minLength: 1, maxLength: 3 }), async (runs) => {
        const files = new TestFiles();
        const states: State[] = [smallWorld().resources];
        let acknowledgedSeq = 0;
        const crashes: { files: MemoryFiles; acknowledgedSeq: number }[] = [];
        files.after = async () => {
          crashes.push({ files: await files.copy(), acknowledgedSeq });
        };
        for (const batches of runs) {
          const store = await open(files);
          store.onCommit(({ seq }) => {
            acknowledgedSeq = seq;
          });
          for (const batch of batches) {
            const commits = batch.map((each) => {
              const commit = store.commit(each, cause);
              states[store.seq] = stateOf(store);
              return commit;
            });
            await Promise.all(commits);
          }
          await store.close();
        }
        for (const crash of crashes) {
          const store = await open(crash.files);
          expect(store.seq).toBeGreaterThanOrEqual(crash.acknowledgedSeq);
          expect(stateOf(store)).toEqual(states[store.seq]);
        }
      }),
      { numRuns: 30 },
    );
  });

  test('a failed write leaves exactly the durable state, and the store continues', async () => {
    await fc.assert(
      fc.asyncProperty(requests, fc.integer({ min: 0, max: 30 }), async (all, failAt) => {
        const files = new TestFiles();
        const store = await openStoreIn(files, testOptions({ fsync: 'batch' }));
        const states: State[] = [stateOf(store)];
        let durableSeq = 0;
        store.onCommit(({ seq }) => {
          durableSeq = seq;
        });
        let steps = 0;
        files.before = () => {
          if (steps++ === failAt) throw systemError('ENOSPC');
        };
        for (const each of all) {
          const pendingCommit = store.commit(each, cause);
          states[store.seq] = stateOf(store);
          await pendingCommit.catch((error) => expect(error).toMatchObject({ status: 503 }));
          expect(store.seq).toBe(durableSeq);
          expect(stateOf(store)).toEqual(states[durableSeq]);
        }
        await store.commit({ put: [record('apis', 'once more')], remove: [] }, cause).catch(() => undefined);
        expect(stateOf(await open(await files.copy()))).toEqual(stateOf(store));
        expect(store.view.find(rootId)).toBeDefined();
      }),
    );
  });
});
