import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Change, Commit } from '../../model/commit.ts';
import { cause, record, rootId, smallWorld, testOptions } from '../../testing/small-world.ts';
import { openStore } from './world-store.ts';

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'terrarium-store-'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const inFolder = () => testOptions({ medium: { kind: 'folder', dir } });

describe('a commit', () => {
  test('is in the view before its promise is returned', async () => {
    const store = await openStore(testOptions());
    const workspace = record('workspaces', 'site');
    const promise = store.commit({ put: [workspace] }, cause);
    expect(store.view.find(workspace.id)).toEqual(workspace);
    expect(store.seq).toBe(1);
    expect(await promise).toMatchObject({ seq: 1, atMs: 1_700_000_000_000, cause });
  });

  test('is described by RFC 6902 operations and their inverse', async () => {
    const store = await openStore(testOptions());
    const workspace = record('workspaces', 'site', { description: 'old' });
    const path = `/resources/${workspace.id}`;
    const created = await store.commit({ put: [workspace] }, cause);
    expect(created?.ops).toEqual([{ op: 'add', path, value: workspace }]);
    expect(created?.inverse).toEqual([{ op: 'remove', path }]);
    const changed = await store.commit({ put: [{ ...workspace, description: 'new' }] }, cause);
    expect(changed?.ops).toEqual([{ op: 'replace', path: `${path}/description`, value: 'new' }]);
    expect(changed?.inverse).toEqual([{ op: 'replace', path: `${path}/description`, value: 'old' }]);
    const removed = await store.commit({ remove: [workspace.id] }, cause);
    expect(removed?.ops).toEqual([{ op: 'remove', path }]);
    expect(removed?.inverse).toEqual([{ op: 'add', path, value: { ...workspace, description: 'new' } }]);
  });

  test('that removes parent and child has an inverse that brings back the parent first', async () => {
    const store = await openStore(testOptions());
    const workspace = record('workspaces', 'site');
    const environment = record('environments', 'production', { parent: workspace.id });
    await store.commit({ put: [workspace, environment] }, cause);
    const removed = await store.commit({ remove: [environment.id, workspace.id] }, cause);
    expect(removed?.inverse.map(({ op, path }) => `${op} ${path}`)).toEqual([
      `add /resources/${workspace.id}`,
      `add /resources/${environment.id}`,
    ]);
  });

  test('that changes nothing is none', async () => {
    const store = await openStore(testOptions());
    const { root } = store.view;
    expect(await store.commit({ put: [{ ...root }], remove: [record('apis', 'unknown').id] }, cause)).toBeUndefined();
    expect(await store.commit({}, cause)).toBeUndefined();
    expect(store.seq).toBe(0);
  });

  test("leaves earlier records unchanged, and is not affected by changes of the caller's record", async () => {
    const store = await openStore(testOptions());
    const workspace = record('workspaces', 'site', { properties: { env: { A: '1' } } });
    await store.commit({ put: [workspace] }, cause);
    const foundRecord = store.view.find(workspace.id);
    workspace.properties.env = { A: '2' };
    expect(store.view.find(workspace.id)?.properties).toEqual({ env: { A: '1' } });
    await store.commit({ put: [workspace] }, cause);
    expect(foundRecord?.properties).toEqual({ env: { A: '1' } });
    expect(store.view.find(workspace.id)?.properties).toEqual({ env: { A: '2' } });
  });

  test('of an unregistered type is refused and changes nothing', async () => {
    const store = await openStore(testOptions());
    const alien = { ...record('apis', 'x'), type: 'Alien' };
    await expect(store.commit({ put: [record('apis', 'y'), alien] }, cause)).rejects.toThrow('Alien');
    expect(Object.fromEntries(store.world.resources)).toEqual(smallWorld().resources);
  });
});

describe('listeners', () => {
  test('are called for each commit in order, with its changes, until they unsubscribe', async () => {
    const store = await openStore(inFolder());
    const reported: [Commit, readonly Change[]][] = [];
    const leave = store.onCommit((commit, changes) => reported.push([commit, changes]));
    const records = Array.from({ length: 20 }, (_, i) => record('apis', `api-${i}`));
    const commits = await Promise.all(records.map((resource) => store.commit({ put: [resource] }, cause)));
    expect(reported.map(([commit]) => commit)).toEqual(commits);
    expect(reported.map(([commit]) => commit.seq)).toEqual(records.map((_, i) => i + 1));
    expect(reported.map(([, changes]) => changes)).toEqual(records.map((after) => [{ after }]));
    leave();
    await store.commit({ remove: [records[0]?.id ?? ''] }, cause);
    expect(reported).toHaveLength(20);
    await store.close();
  });

  test('that fail are reported and do not affect others', async () => {
    const warnings: string[] = [];
    const store = await openStore(testOptions({ onWarning: (message) => warnings.push(message) }));
    const reported: number[] = [];
    store.onCommit(() => {
      throw new Error('no good');
    });
    store.onCommit(({ seq }) => reported.push(seq));
    await store.commit({ put: [record('apis', 'a')] }, cause);
    expect(reported).toEqual([1]);
    expect(warnings).toEqual(['A listener failed on commit 1: no good']);
  });
});

describe('a world in a folder', () => {
  test('can be read after closing, oldest first, in a readable file', async () => {
    const store = await openStore(inFolder());
    const records = ['c', 'a', 'b'].map((name) => record('apis', name));
    for (const resource of records) await store.commit({ put: [resource] }, cause);
    await store.close();
    expect(await readdir(dir)).toEqual(['history', 'journal.jsonl', 'world.json']);
    const text = await readFile(join(dir, 'world.json'), 'utf8');
    expect(text).toMatch(/^\{\n {2}"format": 1,\n {2}"id": "[-0-9a-f]+",\n {2}"seq": 3,\n {2}"resources": \{\n {4}"/);
    expect(text).toBe(`${JSON.stringify(JSON.parse(text), null, 2)}\n`);

    const again = await openStore({ ...inFolder(), createWorld: () => expect.unreachable() });
    expect(again.seq).toBe(3);
    expect(again.view.all('apis')).toEqual(records);
    await again.close();
    expect(await readFile(join(dir, 'world.json'), 'utf8')).toBe(text);
  });

  test.each(['always', 'batch', 'never'] as const)('keeps its commits with fsync %s', async (fsync) => {
    const store = await openStore({ ...inFolder(), fsync });
    await Promise.all(['a', 'b'].map((name) => store.commit({ put: [record('apis', name)] }, cause)));
    expect((await readFile(join(dir, 'journal.jsonl'), 'utf8')).trim().split('\n')).toHaveLength(2);
    await store.close();
    const again = await openStore({ ...inFolder(), fsync });
    expect(again.view.all('apis').map(({ name }) => name)).toEqual(['a', 'b']);
    await again.close();
  });

  test('writes the members of a record in one order, whatever became of it', async () => {
    const store = await openStore(inFolder());
    const { description: _, ...plain } = record('apis', 'a', { description: 'first' });
    await store.commit({ put: [plain] }, cause);
    await store.commit({ put: [{ ...plain, description: 'added later' }] }, cause);
    await store.close();
    const { resources } = JSON.parse(await readFile(join(dir, 'world.json'), 'utf8'));
    expect(Object.keys(resources[plain.id]).slice(0, 5)).toEqual(['id', 'type', 'name', 'description', 'parent']);
  });

  test('is for its owner only', async () => {
    const dataFolder = join(dir, 'new', 'data');
    const store = await openStore(testOptions({ medium: { kind: 'folder', dir: dataFolder } }));
    await store.commit({ put: [record('apis', 'a')] }, cause);
    const modes = async (names: string[]) =>
      Promise.all(names.map(async (name) => ((await stat(join(dataFolder, name))).mode & 0o777).toString(8)));
    expect(await modes(['.', 'world.json', 'journal.jsonl', 'lock'])).toEqual(['700', '600', '600', '600']);
    await store.close();
    expect(await modes(['history'])).toEqual(['700']);
  });

  test('takes no commit while it closes, and closes once', async () => {
    const store = await openStore(inFolder());
    const last = store.commit({ put: [record('apis', 'a')] }, cause);
    const closed = store.close();
    await expect(store.commit({ put: [record('apis', 'b')] }, cause)).rejects.toMatchObject({ status: 503 });
    expect((await last)?.seq).toBe(1);
    await Promise.all([closed, store.close()]);
    const again = await openStore(inFolder());
    expect(again.view.all('apis').map(({ name }) => name)).toEqual(['a']);
    await again.close();
  });
});

test('a first world may take its time to be made', async () => {
  const store = await openStore(testOptions({ createWorld: async () => smallWorld() }));
  expect(store.view.root.id).toBe(rootId);
});
