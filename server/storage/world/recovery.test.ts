import { randomUUID } from 'node:crypto';
import { cp, mkdtemp, readdir, readFile, rename, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { cause, record, testOptions } from '../../testing/small-world.ts';
import { systemError, TestFiles } from '../../testing/test-files.ts';
import { toCheckedLine } from '../files/checked-line.ts';
import { StoreError } from '../files/files.ts';
import { parseWorldFile, worldFileContent } from './world-file.ts';
import { openStore, openStoreIn, type WorldStore } from './world-store.ts';

let dir: string;
const warnings: string[] = [];
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'terrarium-recovery-'));
  warnings.length = 0;
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const options = () => testOptions({ medium: { kind: 'folder', dir }, onWarning: (message) => warnings.push(message) });
const names = (store: WorldStore) => store.view.all('apis').map(({ name }) => name);

async function commitAll(store: WorldStore, ...all: string[]): Promise<void> {
  for (const name of all) await store.commit({ put: [record('apis', name)] }, cause);
}

/** Makes a folder as a crash leaves it: a, b in the snapshot, c and d only in the journal. */
async function crashed(): Promise<void> {
  const first = await openStore(options());
  await commitAll(first, 'a', 'b');
  await first.close();
  const second = await openStore(options());
  await commitAll(second, 'c', 'd');
  const journal = await readFile(join(dir, 'journal.jsonl'));
  const snapshot = await readFile(join(dir, 'world.json'));
  await second.close();
  const [, last = ''] = (await readdir(join(dir, 'history'))).sort();
  await rm(join(dir, 'history', last));
  await writeFile(join(dir, 'world.json'), snapshot);
  await writeFile(join(dir, 'journal.jsonl'), journal);
}

/** All files of the folder with their content. */
async function content(): Promise<Record<string, string>> {
  const files = (await readdir(dir, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile());
  const paths = files.map((file) => join(file.parentPath, file.name)).sort();
  return Object.fromEntries(await Promise.all(paths.map(async (path) => [path, await readFile(path, 'latin1')])));
}

/** Expects that the folder is not opened, and that nothing in it is changed. */
async function expectRefusal(message: RegExp): Promise<void> {
  const before = await content();
  const error = await openStore(options()).then(
    () => expect.unreachable('the store was opened'),
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(StoreError);
  expect(String(error)).toMatch(message);
  expect(await content()).toEqual(before);
}

test('the state after a crash is replayed with the snapshot of that time', async () => {
  await crashed();
  const store = await openStore(options());
  expect(names(store)).toEqual(['a', 'b', 'c', 'd']);
  expect(warnings).toEqual([]);
  await store.close();
  expect(await readdir(join(dir, 'history'))).toEqual([
    '000000000001-000000000002.jsonl',
    '000000000003-000000000004.jsonl',
  ]);
});

test('commits of versions that did not list the changed resources are read', async () => {
  await crashed();
  const journal = join(dir, 'journal.jsonl');
  const lines = (await readFile(journal, 'utf8'))
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  await writeFile(journal, lines.map(({ crc, resources, ...commit }) => toCheckedLine(commit)).join(''));
  const store = await openStore(options());
  expect(await store.history.get(4)).toMatchObject({ seq: 4, resources: [] });
  await store.close();
});

test('a torn last line is dropped with a warning', async () => {
  await crashed();
  const journal = join(dir, 'journal.jsonl');
  await truncate(journal, (await readFile(journal)).length - 20);
  const store = await openStore(options());
  expect(names(store)).toEqual(['a', 'b', 'c']);
  expect(warnings).toEqual([
    expect.stringMatching(/journal\.jsonl ends in the middle of a line \(\d+ bytes\).*as of commit 3/),
  ]);
  await commitAll(store, 'e');
  await store.close();
  const again = await openStore(options());
  expect(names(again)).toEqual(['a', 'b', 'c', 'e']);
  await again.close();
});

test('a crash between snapshot and the moving of the journal applies nothing twice', async () => {
  await crashed();
  const journal = await readFile(join(dir, 'journal.jsonl'));
  const store = await openStore(options());
  await store.close();
  await writeFile(join(dir, 'journal.jsonl'), journal);
  await rm(join(dir, 'history', '000000000003-000000000004.jsonl'));
  const again = await openStore(options());
  expect(names(again)).toEqual(['a', 'b', 'c', 'd']);
  await commitAll(again, 'e');
  await again.close();
  expect(await readdir(join(dir, 'history'))).toContain('000000000003-000000000005.jsonl');
});

test('a crash after the moving of the journal, before there is a new one, loses nothing', async () => {
  await crashed();
  await rename(join(dir, 'journal.jsonl'), join(dir, 'history', '000000000003-000000000004.jsonl'));
  const store = await openStore(options());
  expect(names(store)).toEqual(['a', 'b', 'c', 'd']);
  await commitAll(store, 'e');
  await store.close();
  expect(await readdir(join(dir, 'history'))).toContain('000000000005-000000000005.jsonl');
});

test.each([0, 1])(
  'a journal that disappeared after %i changes is reported, and what is recorded afterwards is kept',
  async (changes) => {
    const killed = await openStore(options());
    await commitAll(killed, ...Array.from({ length: changes }, (_, n) => `lost ${n}`));
    const copyFolder = join(dir, '..', `${basename(dir)}-left`);
    await cp(dir, copyFolder, { recursive: true });
    onTestFinished(() => rm(copyFolder, { recursive: true }));
    await killed.close();
    await writeFile(join(copyFolder, 'lock'), '4194304\n1\n'); // of a process that has ended
    await rm(join(copyFolder, 'journal.jsonl'));
    const open = () => openStore({ ...options(), medium: { kind: 'folder', dir: copyFolder } });
    const store = await open();
    expect(warnings).toEqual([expect.stringMatching(/journal\.jsonl is missing.* as of commit 0: later changes/)]);
    await commitAll(store, 'later');
    await store.close();
    const again = await open();
    expect(names(again)).toEqual(['later']);
    expect(warnings).toHaveLength(1);
    await again.close();
  },
);

test('an unfinished snapshot does no harm', async () => {
  await crashed();
  await writeFile(join(dir, 'world.json.tmp'), '{"half');
  const store = await openStore(options());
  expect(names(store)).toEqual(['a', 'b', 'c', 'd']);
  await store.close();
  expect(await readdir(dir)).toEqual(['history', 'journal.jsonl', 'world.json']);
});

describe('damage is reported by file and line, and the files are unchanged', () => {
  const journalLines = async () => (await readFile(join(dir, 'journal.jsonl'), 'utf8')).trim().split('\n');
  const writeJournal = (lines: string[]) => writeFile(join(dir, 'journal.jsonl'), `${lines.join('\n')}\n`);

  test('a line of the journal that is not JSON', async () => {
    await crashed();
    const [, second = ''] = await journalLines();
    await writeJournal(['no json', second]);
    await expectRefusal(
      /journal\.jsonl, line 1: the checksum does not match.*Nothing was changed.*as of commit 2.*cut this file off before line 1,/,
    );
  });

  test('a commit that is missing', async () => {
    await crashed();
    const [, second = ''] = await journalLines();
    await writeJournal([second]);
    await expectRefusal(/journal\.jsonl, line 1: commit 3 is missing, this is 4/);
  });

  test('a commit in the history that a snapshot still needs', async () => {
    await crashed();
    const path = join(dir, 'world.json');
    const { id, resources } = parseWorldFile(path, await readFile(path));
    await writeFile(path, worldFileContent(id, 1, resources.values()));
    const segment = join(dir, 'history', '000000000001-000000000002.jsonl');
    const lines = (await readFile(segment, 'utf8')).split('\n');
    await writeFile(segment, `${lines[0]}\n${lines[1]?.slice(0, -9)}`);
    await expectRefusal(
      /000000000002\.jsonl, line 2: the line is cut off.*as of commit 1.*and delete .*journal\.jsonl/,
    );
    await rm(segment);
    await expectRefusal(/journal\.jsonl, line 1: commit 2 is missing, this is 3/);
  });

  test('a foreign line', async () => {
    await crashed();
    const files = new TestFiles();
    const { toCheckedLine } = await import('../files/checked-line.ts');
    await files.replace('journal.jsonl', [Buffer.from(toCheckedLine({ put: 'a', record: 1 }))]);
    await writeFile(join(dir, 'journal.jsonl'), (await files.read('journal.jsonl')) ?? '');
    await expectRefusal(/journal\.jsonl, line 1: the line is not a commit/);
  });

  test('a journal without its snapshot', async () => {
    await crashed();
    await rm(join(dir, 'world.json'));
    await expectRefusal(/world\.json: is missing, but .*journal\.jsonl contains later commits/);
  });

  test('a world file that breaks off', async () => {
    await crashed();
    await truncate(join(dir, 'world.json'), 300);
    await expectRefusal(/world\.json: cannot be used as a world: .*Restore the file from a copy/);
  });

  test('a world file that is something else', async () => {
    await writeFile(join(dir, 'world.json'), '{"name":"my project"}');
    await expectRefusal(/world\.json: cannot be used as a world: \/format/);
  });

  test('a resource of an unknown type', async () => {
    await (await openStore(options())).close();
    const alien = { ...record('apis', 'a'), type: 'Alien' };
    await writeFile(join(dir, 'world.json'), worldFileContent(randomUUID(), 0, [alien]));
    await expectRefusal(/world\.json: cannot be used as a world: .*'Alien' is not registered.*made by a newer version/);
  });

  test('a world edited by hand is taken once its checksum is removed, if it is right', async () => {
    const store = await openStore(options());
    await store.commit({ put: [record('workspaces', 'a')] }, cause);
    await store.close();
    const path = join(dir, 'world.json');
    const text = (await readFile(path, 'utf8')).replace('"name": "a"', '"name": "by hand"');
    await writeFile(path, text);
    for (const ending of ['\n', '\r\n']) {
      await writeFile(path, text.replaceAll('\n', ending));
      await expectRefusal(/does not match its checksum.*remove its "checksum" member/);
    }
    const edited = text.replace(/,\n {2}"checksum": "[0-9a-f]+"/, '');
    await writeFile(path, edited.replace('"state": "Active"', '"state": "Asleep"'));
    await expectRefusal(/\/resources\/[-0-9a-f]+\/state/);
    const [, id = ''] = /"id": "([-0-9a-f]+)",\n {6}"type"/.exec(edited) ?? [];
    for (const [parent, reason] of [
      [id, /is below itself/],
      [randomUUID(), /the parent of .* is missing/],
    ] as const) {
      await writeFile(path, edited.replace(/"parent": (null|"[-0-9a-f]+")/, `"parent": "${parent}"`));
      await expectRefusal(reason);
    }
    await writeFile(path, `\uFEFF${edited}`); // as some editors of Windows do
    const again = await openStore(options());
    expect(again.view.all('workspaces')).toMatchObject([{ name: 'by hand' }]);
    await again.close();
  });
});

test('no flipped bit goes unnoticed', async () => {
  const files = new TestFiles();
  const closed = await openStoreIn(files, options());
  await commitAll(closed, 'a', 'b');
  await closed.close();
  const store = await openStoreIn(files, options());
  await commitAll(store, 'c', 'd');
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom('world.json', 'journal.jsonl'),
      fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
      fc.integer({ min: 0, max: 7 }),
      async (name, position, bit) => {
        const copy = await files.copy();
        const bytes = Buffer.from((await copy.read(name)) ?? '');
        const at = Math.floor(position * (bytes.length - 1)); // the last newline of a journal is its torn-line rule's
        bytes[at] = (bytes[at] ?? 0) ^ (1 << bit);
        await copy.replace(name, [bytes]);
        await expect(openStoreIn(copy, options())).rejects.toBeInstanceOf(StoreError);
      },
    ),
    { numRuns: 400 },
  );
});

test('a snapshot is made in the background when the journal has outgrown it, while commits go on', async () => {
  const files = new TestFiles();
  const store = await openStoreIn(files, options());
  const moved = new Promise<void>((resolve) => {
    files.after = (step) => {
      if (step === 'rename') resolve();
    };
  });
  const big = Array.from({ length: 6 }, (_, i) => record('apis', `big-${i}`, { description: 'x'.repeat(1024 * 1024) }));
  const commits = [];
  for (const bigRecord of big) commits.push(await store.commit({ put: [bigRecord] }, cause));
  commits.push(...(await Promise.all(['p', 'q'].map((name) => store.commit({ put: [record('apis', name)] }, cause)))));
  await moved;
  await commitAll(store, 'r');
  expect(commits.map((commit) => commit?.seq)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  const again = await openStoreIn(await files.copy(), options());
  expect(again.seq).toBe(9);
  expect(names(again)).toEqual(names(store));
});

test('a snapshot contains no commit that failed while it was written', async () => {
  const files = new TestFiles();
  const store = await openStoreIn(files, options());
  let refused: Promise<unknown> | undefined;
  files.before = (step) => {
    if (step !== 'append') return;
    if (refused) throw systemError('ENOSPC');
    refused = store.commit({ put: [record('apis', 'refused')] }, cause).catch((error) => error.status);
  };
  await store.commit({ put: [record('apis', 'big', { description: 'x'.repeat(5 * 1024 * 1024) })] }, cause);
  expect(await refused).toBe(503);
  files.before = () => undefined;
  await commitAll(store, 'small');
  expect(files.steps.filter((step) => step === 'replace')).toHaveLength(1); // the first world's; it is not tried at each commit
  expect(warnings).toEqual([expect.stringContaining('could not be updated')]);
  expect(names(await openStoreIn(await files.copy(), options()))).toEqual(['big', 'small']);
});

test('a snapshot that cannot be made loses nothing and is reported', async () => {
  const files = new TestFiles();
  const store = await openStoreIn(files, options());
  await commitAll(store, 'a');
  files.before = (step) => {
    if (step === 'replace') throw systemError('ENOSPC');
  };
  await store.close();
  expect(warnings).toEqual([
    expect.stringMatching(/could not be updated \(ENOSPC.*No data is lost: the journal contains all changes\.$/),
  ]);
  expect(names(await openStoreIn(await files.copy(), options()))).toEqual(['a']);
});

test('a failed write is undone and reported, and later ones succeed', async () => {
  const files = new TestFiles();
  const store = await openStoreIn(files, options());
  await commitAll(store, 'kept');
  const reported: number[] = [];
  store.onCommit(({ seq }) => reported.push(seq));
  files.before = () => {
    throw systemError('EROFS');
  };
  const failing = ['x', 'y'].map((name) => store.commit({ put: [record('apis', name)] }, cause));
  expect(names(store)).toEqual(['kept', 'x', 'y']);
  for (const commit of failing) {
    await expect(commit).rejects.toMatchObject({ status: 503, message: expect.stringContaining('read-only') });
  }
  expect(names(store)).toEqual(['kept']);
  expect(store.seq).toBe(1);
  expect(store.health()).toMatchObject({ isHealthy: false, message: expect.stringContaining('EROFS') });

  files.before = () => undefined;
  await commitAll(store, 'again');
  expect(store.health()).toEqual({ isHealthy: true });
  expect(reported).toEqual([2]);
  expect(names(await openStoreIn(await files.copy(), options()))).toEqual(['kept', 'again']);
});

test('a first world that cannot be written is reported', async () => {
  const files = new TestFiles();
  files.before = () => {
    throw systemError('ENOSPC');
  };
  await expect(openStoreIn(files, options())).rejects.toThrow(/world\.json: cannot be written \(ENOSPC/);
});

test('an unusable data folder is reported', async () => {
  const path = join(dir, 'file');
  await writeFile(path, '');
  await expect(openStore({ ...options(), medium: { kind: 'folder', dir: path } })).rejects.toThrow(
    /file: cannot be used as a data folder/,
  );
});
