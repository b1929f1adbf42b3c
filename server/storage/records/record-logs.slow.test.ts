import { mkdir, mkdtemp, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { systemError, TestFiles } from '../../testing/test-files.ts';
import type { StoreFiles } from '../files/files.ts';
import { FolderFiles } from '../files/folder-files.ts';
import { HEAD_BYTES } from './log-files.ts';
import type { RecordLog } from './record-log.ts';
import { RecordLogs } from './record-logs.ts';

interface Note {
  text: string;
  body?: [at: number, length: number];
}

const MIB = 1024 * 1024;
const BOUNDS = { memoryBytes: 4 * MIB, maxItems: 1_000, maxBytes: 64 * MIB, maxDays: 7 };
const all = { limit: 100_000, isWanted: () => true, maxLooked: 100_000 };

interface Opened {
  logs: RecordLogs;
  notes: RecordLog<Note>;
  otherNotes: RecordLog<Note>;
  warnings: string[];
}

async function open(files?: StoreFiles, bounds: Partial<typeof BOUNDS> = {}, nowMs = () => 1_000): Promise<Opened> {
  const warnings: string[] = [];
  const logs = new RecordLogs({ ...BOUNDS, ...bounds, files, nowMs, onWarning: (message) => warnings.push(message) });
  const decode = (json: unknown) => json as Note;
  const [notes, otherNotes] = [logs.ring('notes', decode), logs.ring('others', decode)];
  await logs.open();
  void logs.index();
  return { logs, notes, otherNotes, warnings };
}

function add({ logs, notes }: Opened, key: string, text = key, body?: Uint8Array, atMs = 1_000): void {
  const position = body && ([logs.bodies.append(body), body.length] as [number, number]);
  const referred = position ? position[0] + position[1] : 0;
  notes.add(
    { atMs, key, group: 'g', mark: text.length },
    JSON.stringify({ text, body: position }),
    undefined,
    referred,
  );
  logs.changed();
}

const textsOf = (ring: RecordLog<Note>) => ring.page(all).items.map(({ item }) => item.text);

const folders: string[] = [];
async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'terrarium-records-'));
  folders.push(folder);
  return folder;
}
afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true });
});

/** Opens a folder, hands it on and lets go of it. */
async function inFolder<T>(dir: string, use: (opened: Opened) => T | Promise<T>, bounds = {}): Promise<T> {
  const files = await FolderFiles.open(dir);
  const opened = await open(files, bounds);
  try {
    return await use(opened);
  } finally {
    await opened.logs.stop();
    files.release();
  }
}

const filesOf = async (dir: string, log: string) =>
  (await readdir(join(dir, 'records')))
    .filter((name) => name.startsWith(log))
    .map((name) => join(dir, 'records', name));

describe('A ring of records', () => {
  it('keeps the newest, in pages, whatever comes', async () => {
    const keys = fc.array(fc.constantFrom('a', 'b', 'c', 'd', 'e'), { maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(
        keys,
        fc.integer({ min: 1, max: 9 }),
        fc.integer({ min: 1, max: 9 }),
        async (added, maxItems, limit) => {
          const opened = await open(undefined, { maxItems });
          const { notes } = opened;
          for (const key of added) add(opened, key);
          const keptNotes = added.map((text, at) => ({ seq: at + 1, text })).slice(-maxItems);
          expect(notes.size).toBe(keptNotes.length);
          const readNotes: { seq: number; text: string }[] = [];
          let before: number | undefined;
          do {
            const page = notes.page({ ...all, limit, before });
            readNotes.push(...page.items.map(({ seq, item }) => ({ seq, text: item.text })));
            before = page.next;
          } while (before !== undefined);
          expect(readNotes).toEqual(keptNotes.toReversed());
          for (const key of ['a', 'b', 'c', 'd', 'e']) {
            expect(notes.find(key)?.seq).toBe(keptNotes.findLast(({ text }) => text === key)?.seq);
          }
          const [first] = keptNotes;
          const after = first?.seq ?? 0;
          expect(notes.page({ ...all, after }).items).toHaveLength(Math.max(0, keptNotes.length - 1));
          expect(notes.at(after)?.item.text).toBe(first?.text);
          expect([notes.at(after - 1), notes.at(added.length + 1)]).toEqual([undefined, undefined]);
          expect(Array.from(notes.marks(), ({ seq }) => seq)).toEqual(keptNotes.toReversed().map(({ seq }) => seq));
        },
      ),
    );
  });

  it('looks at a bounded number for one page and says where to go on', async () => {
    const opened = await open();
    for (let n = 1; n <= 9; n++) add(opened, `k${n}`);
    const page = { limit: 9, maxLooked: 4, isWanted: ({ item }: { item: Note }) => item.text === 'k1' };
    expect(opened.notes.page(page)).toEqual({ items: [], next: 6 });
    expect(opened.notes.page({ ...page, before: 6 })).toEqual({ items: [], next: 2 });
    expect(opened.notes.page({ ...page, before: 2 })).toMatchObject({ items: [{ seq: 1 }], next: undefined });
  });

  it('uses no more memory than its limit, and removes bodies before rows', async () => {
    const opened = await open(undefined, { maxItems: 100_000 });
    const { logs, notes } = opened;
    for (let n = 0; n < 400; n++) add(opened, `k${n}`, `k${n}`, new Uint8Array(n % 7 === 0 ? 300_000 : 10_000));
    expect(logs.memoryBytes).toBeLessThanOrEqual(4 * MIB);
    expect(notes.size).toBe(400);
    const [at = 0, length = 0] = notes.find('k0')?.item.body ?? [];
    expect(logs.bodies.read(at, length)).toBeUndefined();
    const [last = 0, size = 0] = notes.find('k399')?.item.body ?? [];
    expect(logs.bodies.read(last, size)).toHaveLength(300_000);
    for (let n = 0; n < 100_000; n++) add(opened, `more ${n}`, 'x'.repeat(50));
    expect(logs.memoryBytes).toBeLessThanOrEqual(4 * MIB);
    expect(notes.size).toBeGreaterThan(10_000);
    expect(notes.page(all).items).toHaveLength(notes.size);
  });
});

describe('Records in files', () => {
  const body = (n: number) => Buffer.alloc(1_000 + 37 * n, `body ${n} `);

  it('are as they were after a restart, and go on', async () => {
    const dir = await makeFolder();
    const files = await FolderFiles.open(dir);
    const opened = await open(files);
    for (let n = 1; n <= 300; n++) add(opened, `k${n}`, `k${n}`, body(n));
    const { id } = opened.logs;
    await opened.logs.save();
    files.release(); // as a crash does: nothing is closed
    for (const [run, count] of [300, 301, 302].entries()) {
      await inFolder(dir, (again) => {
        const { logs, notes, warnings } = again;
        expect(warnings).toEqual([]);
        expect(logs.id).toBe(id);
        expect(notes.newest).toBe(count);
        const texts = Array.from({ length: 300 }, (_, at) => `k${at + 1}`);
        expect(textsOf(notes).reverse().slice(0, 300)).toEqual(texts);
        const [at = 0, length = 0] = notes.find('k17')?.item.body ?? [];
        expect(logs.bodies.read(at, length)).toEqual(body(17));
        expect(notes.markOf('k17')).toBe(3);
        add(again, `after ${run}`, `after ${run}`, body(run));
        expect(notes.find(`after ${run}`)?.seq).toBe(count + 1);
      });
    }
    for (const file of [...(await filesOf(dir, 'notes')), ...(await filesOf(dir, 'bodies'))]) {
      expect((await stat(file)).mode & 0o777).toBe(0o600);
    }
  });

  it('are written within a second', async () => {
    const dir = await makeFolder();
    const files = await FolderFiles.open(dir);
    const opened = await open(files);
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    add(opened, 'soon');
    await vi.advanceTimersByTimeAsync(1_000);
    vi.useRealTimers();
    const texts = async () => Promise.all((await filesOf(dir, 'notes')).map((file) => readFile(file, 'utf8')));
    await expect.poll(texts).toEqual([expect.stringContaining('soon')]);
    await opened.logs.stop();
    files.release();
  });

  it('are bounded by count, bytes and days', async () => {
    const dir = await makeFolder();
    let nowMs = 0;
    const files = await FolderFiles.open(dir);
    const bounds = { maxItems: 2_000, maxBytes: 8 * MIB, maxDays: 1 };
    const opened = await open(files, bounds, () => nowMs);
    const { logs, notes } = opened;
    for (let n = 0; n < 5_000; n++) {
      add(opened, `k${n}`, `k${n}`, Buffer.alloc(5_000, n), nowMs);
      if (n % 100 === 0) await logs.save();
    }
    await logs.save();
    expect(notes.size).toBe(2_000);
    expect(logs.fileBytes).toBeLessThanOrEqual(8 * MIB);
    expect((await filesOf(dir, '')).length).toBeLessThan(40);
    nowMs = 25 * 60 * 60 * 1000;
    add(opened, 'today', 'today', undefined, nowMs);
    await logs.save();
    expect(textsOf(notes)).toEqual(['today']);
    await logs.stop();
    files.release();
  });

  it('survive a record that a crash has cut off, without a word', async () => {
    const dir = await makeFolder();
    await inFolder(dir, (opened) => {
      for (let n = 1; n <= 9; n++) add(opened, `k${n}`);
    });
    const [file = ''] = await filesOf(dir, 'notes');
    await truncate(file, (await stat(file)).size - 5);
    await inFolder(dir, (opened) => {
      expect(opened.warnings).toEqual([]);
      expect(textsOf(opened.notes)).toEqual(['k8', 'k7', 'k6', 'k5', 'k4', 'k3', 'k2', 'k1']);
      add(opened, 'next');
    });
    await inFolder(dir, (opened) => {
      expect(opened.warnings).toEqual([]);
      expect(textsOf(opened.notes).slice(0, 2)).toEqual(['next', 'k8']);
    });
  });

  it.each([
    ['damaged within', (bytes: Buffer) => bytes.fill(0xff, 3_000, 3_040), 'is damaged at byte'],
    ['damaged where it begins', (bytes: Buffer) => bytes.fill(0xff, 0, 20), 'is damaged at the beginning'],
    ['empty', () => Buffer.alloc(0), 'is damaged at the beginning'],
    [
      'of a later version',
      (bytes: Buffer) => Buffer.from(bytes.toString('latin1').replace('"format":1', '"format":9'), 'latin1'),
      'was written by a later version',
    ],
  ])('keep the others when a file is %s: it is moved aside with a warning', async (_kind, damage, warning) => {
    const dir = await makeFolder();
    await inFolder(
      dir,
      (opened) => {
        for (let n = 1; n <= 4_000; n++) add(opened, `k${n}`, 'x'.repeat(100), body(1));
        opened.otherNotes.add({ atMs: 1_000, key: 'o', group: '', mark: 0 }, '{"text":"other"}');
      },
      { maxItems: 10_000, maxBytes: MIB },
    );
    const [file = '', second] = await filesOf(dir, 'notes');
    expect(second).toBeDefined();
    const before = await readFile(file);
    await writeFile(file, damage(Buffer.from(before)));
    const damaged = await readFile(file);
    const noteCount = await inFolder(
      dir,
      async (opened) => {
        await opened.logs.save();
        expect(textsOf(opened.otherNotes)).toEqual(['other']);
        add(opened, 'goes on');
        const texts = textsOf(opened.notes);
        expect(texts[0]).toBe('goes on');
        await opened.logs.save();
        await opened.logs.index();
        expect(opened.warnings).toEqual([expect.stringContaining(warning)]);
        return texts.length;
      },
      { maxItems: 10_000, maxBytes: MIB },
    );
    expect(noteCount).toBeGreaterThan(500);
    expect(await readFile(`${file}.aside`)).toEqual(damaged);
    await inFolder(
      dir,
      (opened) => {
        expect(opened.warnings).toEqual([]);
        expect(textsOf(opened.notes)).toHaveLength(noteCount);
      },
      { maxItems: 10_000, maxBytes: MIB },
    );
  });

  it('are written although records of an earlier run could not be indexed', async () => {
    const dir = await makeFolder();
    await inFolder(dir, (opened) => {
      for (let n = 1; n <= 600; n++) add(opened, `k${n}`, `${n} ${'x'.repeat(1_000)}`);
    });
    const files = await FolderFiles.open(dir);
    const logs = new RecordLogs({ ...BOUNDS, files, nowMs: () => 1_000, onWarning: () => {} });
    const notes = logs.ring('notes', (json) => json as Note, {
      figuresOf({ text }) {
        if (text.startsWith('1 ')) throw new Error('no figures');
        return { beganMs: 1_000, tookMs: 1, kind: 0, cause: 0 };
      },
    });
    await logs.open();
    await logs.index();
    expect(logs.failure).toContain('no figures');
    notes.add({ atMs: 1_000, key: 'later', group: 'g', mark: 0 }, JSON.stringify({ text: 'later' }));
    logs.changed();
    await logs.save();
    expect(logs.failure).toBeUndefined();
    await logs.stop();
    files.release();
  });

  it.each([
    ['in the text of a record', 60],
    ['in a checksum', 4],
    ['in a length, which then leads beyond the end', 3],
    ['in a length, which then ends within the record', 0],
  ])('lose one record, and none that comes later, to one damaged byte %s', async (_where, within) => {
    const dir = await makeFolder();
    await inFolder(dir, (opened) => {
      for (let n = 1; n <= 9; n++) add(opened, `k${n}`);
    });
    const [file = ''] = await filesOf(dir, 'notes');
    const bytes = await readFile(file);
    // Each is as long as the others.
    const at = HEAD_BYTES + 4 * ((bytes.length - HEAD_BYTES) / 9) + within;
    bytes.writeUInt8(bytes.readUInt8(at) ^ 0x11, at);
    await writeFile(file, bytes);
    const expectedTexts = ['k9', 'k8', 'k7', 'k6', 'k4', 'k3', 'k2', 'k1'];
    for (const run of [1, 2, 3]) {
      await inFolder(dir, async (opened) => {
        add(opened, `at once in ${run}`);
        await opened.logs.save();
        await opened.logs.index();
        expect(opened.logs.failure).toBeUndefined();
        const reported = run === 1 ? [expect.stringContaining('is damaged at byte')] : [];
        expect(opened.warnings).toEqual(reported);
        expect(textsOf(opened.notes)).toEqual([`at once in ${run}`, ...expectedTexts]);
        expectedTexts.unshift(`at once in ${run}`);
        add(opened, `later in ${run}`);
        expectedTexts.unshift(`later in ${run}`);
      });
    }
    expect(await readFile(`${file}.aside`)).toEqual(bytes);
  });

  it('go on after the newest when all of their last file is damaged', async () => {
    const dir = await makeFolder();
    const bounds = { maxItems: 10_000, maxBytes: MIB };
    await inFolder(
      dir,
      (opened) => {
        for (let n = 1; n <= 4_000; n++) add(opened, `k${n}`, 'x'.repeat(100));
      },
      bounds,
    );
    const files = await filesOf(dir, 'notes');
    const last = files.at(-1) ?? '';
    const bytes = await readFile(last);
    await writeFile(last, bytes.fill(0, HEAD_BYTES));
    const newest = await inFolder(
      dir,
      (opened) => {
        add(opened, 'next');
        const { newest } = opened.notes;
        expect(newest).toBeGreaterThan(1_000);
        expect(opened.notes.page({ ...all, limit: 1 }).items).toEqual([{ seq: newest, item: { text: 'next' } }]);
        return newest;
      },
      bounds,
    );
    await inFolder(dir, (opened) => expect(opened.notes.at(newest)?.item.text).toBe('next'), bounds);
  });

  it.each([
    ['a file of records', 'notes-000000000000000.bin', 'cannot be read'],
    ['the file of their id', 'id', undefined],
  ])('are recorded where a folder is in place of %s', async (_what, name, warning) => {
    const dir = await makeFolder();
    await mkdir(join(dir, 'records', name), { recursive: true });
    await inFolder(dir, async (opened) => {
      expect(opened.warnings).toEqual(warning === undefined ? [] : [expect.stringContaining(warning)]);
      add(opened, 'first');
      await opened.logs.save();
      expect(opened.logs.failure).toBeUndefined();
    });
    let id = '';
    for (const run of [1, 2]) {
      await inFolder(dir, ({ logs, notes }) => {
        expect(textsOf(notes)).toEqual(['first']);
        if (run === 2) expect(logs.id).toBe(id);
        id = logs.id;
      });
    }
  });

  it('wait in memory while a file is in place of their folder, and are written when it is gone', async () => {
    const dir = await makeFolder();
    await writeFile(join(dir, 'records'), '');
    await inFolder(dir, async (opened) => {
      expect(opened.warnings).toEqual([expect.stringMatching(/recorded in memory only.*ENOTDIR/)]);
      add(opened, 'first');
      await opened.logs.save();
      expect(opened.logs.failure).toMatch(/ENOTDIR|EEXIST/);
      expect(textsOf(opened.notes)).toEqual(['first']);
      await rm(join(dir, 'records'));
      await opened.logs.save();
      expect(opened.logs.failure).toBeUndefined();
    });
    await inFolder(dir, (opened) => expect(textsOf(opened.notes)).toEqual(['first']));
  });

  it('never show the body of another call where files of bodies are gone', async () => {
    const dir = await makeFolder();
    await inFolder(dir, (opened) => add(opened, 'first', 'first', body(1)));
    for (const file of await filesOf(dir, 'bodies')) await rm(file);
    await inFolder(dir, (opened) => {
      add(opened, 'second', 'second', Buffer.alloc(body(1).length, 'other'));
      const [at = 0, length = 0] = opened.notes.find('first')?.item.body ?? [];
      expect(opened.logs.bodies.read(at, length)).toBeUndefined();
      const [then = 0, size = 0] = opened.notes.find('second')?.item.body ?? [];
      expect(opened.logs.bodies.read(then, size)?.toString()).toContain('other');
    });
  });

  it('wait in memory while they cannot be written, which is reported once, and are written later', async () => {
    const files = new TestFiles();
    const opened = await open(files);
    const { logs, notes, warnings } = opened;
    for (let n = 0; n < 100; n++) add(opened, `k${n}`, `k${n}`, body(n));
    await logs.save();
    let isFull = true;
    files.before = (step) => {
      if (isFull && (step === 'append' || step === 'replace')) throw systemError('ENOSPC');
    };
    for (let n = 100; n < 200; n++) add(opened, `k${n}`, `k${n}`, body(n));
    await logs.save();
    await logs.save();
    expect(warnings).toEqual([expect.stringMatching(/recorded in memory only.*ENOSPC/)]);
    expect(logs.failure).toContain('ENOSPC');
    expect(notes.size).toBe(200);
    isFull = false;
    await logs.save();
    expect(logs.failure).toBeUndefined();
    expect(warnings).toHaveLength(2);
    await logs.stop();
    const again = await open(files);
    expect(again.warnings).toEqual([]);
    expect(textsOf(again.notes)).toHaveLength(200);
    const [at = 0, length = 0] = again.notes.find('k150')?.item.body ?? [];
    expect(again.logs.bodies.read(at, length)).toEqual(body(150));
    await again.logs.stop();
  });

  it('are written as they were although their memory is needed during the write', async () => {
    const files = new TestFiles();
    const bounds = { memoryBytes: 2 * MIB };
    const opened = await open(files, bounds);
    add(opened, 'first', 'first', body(1));
    files.before = (step) => {
      if (step !== 'append') return;
      files.before = () => undefined;
      for (let n = 0; n < 500; n++) add(opened, `k${n}`, `k${n}`, Buffer.alloc(20_000, n));
    };
    await opened.logs.save();
    await opened.logs.stop();
    const again = await open(files, bounds);
    expect(again.logs.bodies.read(...(again.notes.find('first')?.item.body ?? [0, 0]))).toEqual(body(1));
    await again.logs.stop();
  });

  it('that memory had no space for while they could not be written are lost, and no others', async () => {
    const files = new TestFiles();
    const bounds = { memoryBytes: 2 * MIB };
    const opened = await open(files, bounds);
    add(opened, 'before', 'before', body(1));
    await opened.logs.save();
    files.before = () => {
      throw systemError('ENOSPC');
    };
    for (let n = 0; n < 500; n++) add(opened, `k${n}`, `k${n}`, Buffer.alloc(20_000, n));
    await opened.logs.save();
    expect(opened.logs.memoryBytes).toBeLessThanOrEqual(2 * MIB + 256 * 1024 * 3);
    files.before = () => undefined;
    await opened.logs.save();
    await opened.logs.stop();
    const again = await open(files, bounds);
    expect(again.warnings).toEqual([]);
    expect(textsOf(again.notes)).toHaveLength(501);
    const bodyOf = (key: string) => again.logs.bodies.read(...(again.notes.find(key)?.item.body ?? [0, 0]));
    expect(bodyOf('before')).toEqual(body(1));
    expect(bodyOf('k3')).toBeUndefined();
    expect(bodyOf('k499')).toEqual(Buffer.alloc(20_000, 499));
    await again.logs.stop();
  });
});
