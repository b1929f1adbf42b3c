import { execFileSync } from 'node:child_process';
import { cp, mkdtemp, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FolderFiles } from '../files/folder-files.ts';
import { HEAD_BYTES } from './log-files.ts';
import { RecordLogs } from './record-logs.ts';

interface Note {
  text: string;
  body: [at: number, length: number];
}

const MIB = 1024 * 1024;
const PAGE_BYTES = 4096;
const POSITIONS = 40;
/** More than a page of each kind, in several files. */
const NOTES = 1_500;
const all = { limit: 100_000, isWanted: () => true, maxLooked: 100_000 };
const bodyOf = (text: string) => Buffer.from(`body of ${text}`.padEnd(1_000, '.'));

let folder: string;
let sample: string;
let names: string[];
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'terrarium-damage-'));
  sample = join(folder, 'sample');
  await inFolder(sample, ({ add }) => {
    for (let n = 1; n <= NOTES; n += 1) add(`note ${n}`);
  });
  names = (await readdir(join(sample, 'records'))).filter((name) => name.endsWith('.bin'));
  expect(names.length).toBeGreaterThan(4);
});
afterAll(() => rm(folder, { recursive: true }));

interface Opened {
  add(text: string): void;
  /** The text of each note, with true if its body is there. */
  read(): Promise<Map<string, boolean>>;
  warnings: string[];
}

async function inFolder(dir: string, use: (opened: Opened) => void | Promise<void>): Promise<void> {
  const files = await FolderFiles.open(dir);
  const warnings: string[] = [];
  const bounds = { memoryBytes: 4 * MIB, maxItems: 100_000, maxBytes: 4 * MIB, maxDays: 7 };
  const logs = new RecordLogs({ ...bounds, files, nowMs: () => 1_000, onWarning: (message) => warnings.push(message) });
  const notes = logs.ring<Note>('notes', (json) => json as Note); // As: written by this test
  await logs.open();
  void logs.index();
  const add = (text: string) => {
    const body = bodyOf(text);
    const at = logs.bodies.append(body);
    const json = JSON.stringify({ text, body: [at, body.length] });
    notes.add({ atMs: 1_000, key: text, group: '', mark: 0 }, json, undefined, at + body.length);
    logs.changed();
  };
  const read = async () => {
    await logs.save();
    await logs.index();
    const { items } = notes.page(all);
    return new Map(
      items.map(({ item: { text, body } }) => [text, logs.bodies.read(...body)?.equals(bodyOf(text)) ?? false]),
    );
  };
  try {
    await use({ add, read, warnings });
  } finally {
    await logs.stop();
    files.release();
  }
}

/** Damages a copy of the sample, then records more in two further runs. Returns all records at the end. */
async function afterDamage(damage: (dir: string) => Promise<void>): Promise<{ lost: string[]; withoutBody: string[] }> {
  const dir = await mkdtemp(join(folder, 'run-'));
  await cp(sample, dir, { recursive: true });
  await damage(dir);
  for (const run of [1, 2]) await inFolder(dir, ({ add }) => add(`later ${run}`));
  let lost: string[] = [];
  let withoutBody: string[] = [];
  await inFolder(dir, async ({ read, warnings }) => {
    const found = await read();
    const expected = [...Array.from({ length: NOTES }, (_, n) => `note ${n + 1}`), 'later 1', 'later 2'];
    lost = expected.filter((text) => !found.has(text));
    withoutBody = [...found].filter(([, hasBody]) => !hasBody).map(([text]) => text);
    expect(warnings, 'is reported once').toEqual([]);
    expect([...found.keys()].slice(0, 2), 'what was recorded after the damage').toEqual(['later 2', 'later 1']);
    expect(withoutBody.filter((text) => text.startsWith('later'))).toEqual([]);
  });
  await rm(dir, { recursive: true });
  return { lost, withoutBody };
}

describe('damage of a file of records', () => {
  const positions = Array.from({ length: POSITIONS }, (_, position) => position);

  it.each([
    ['a page of zeros', PAGE_BYTES, (bytes: Buffer) => bytes.fill(0)],
    ['a page of other bytes', PAGE_BYTES, (bytes: Buffer) => bytes.map((byte, at) => byte ^ (at + 1))],
    ['one bit', 1, (bytes: Buffer) => bytes.map((byte) => byte ^ 0x10)],
  ])(
    '%s in each of 40 places loses what was there, and nothing that is recorded afterwards',
    async (_what, sizeBytes, change) => {
      const sizes = await Promise.all(names.map(async (name) => (await stat(join(sample, 'records', name))).size));
      const totalBytes = sizes.reduce((sum, size) => sum + size - HEAD_BYTES, 0);
      for (const position of positions) {
        let at = Math.trunc((position * totalBytes) / POSITIONS);
        let file = 0;
        while (at >= (sizes[file] ?? 0) - HEAD_BYTES) at -= (sizes[file++] ?? 0) - HEAD_BYTES;
        const name = names[file] ?? '';
        const { lost, withoutBody } = await afterDamage(async (dir) => {
          const path = join(dir, 'records', name);
          const bytes = await readFile(path);
          const part = bytes.subarray(HEAD_BYTES + at, HEAD_BYTES + at + sizeBytes);
          part.set(change(Buffer.from(part)));
          await writeFile(path, bytes);
        });
        const where = `${name} at ${at}`;
        // A page has parts of at most six bodies, or of 48 records.
        expect(lost.length, where).toBeLessThanOrEqual(name.startsWith('bodies') ? 0 : sizeBytes === 1 ? 1 : 48);
        expect(withoutBody.length, where).toBeLessThanOrEqual(
          name.startsWith('bodies') ? (sizeBytes === 1 ? 1 : 6) : 0,
        );
      }
    },
    300_000,
  );

  it('its head, its end or all of it loses at most that file', async () => {
    for (const name of names) {
      for (const damage of [
        (path: string) => truncate(path, 0),
        (path: string) => truncate(path, HEAD_BYTES - 1),
        (path: string) => truncate(path, HEAD_BYTES),
        (path: string) => rm(path),
      ]) {
        const { lost } = await afterDamage((dir) => damage(join(dir, 'records', name)));
        if (name.startsWith('bodies')) expect(lost, name).toEqual([]);
      }
    }
  });
});

describe.runIf(process.platform !== 'win32')('in place of a file of records, the start is not prevented by', () => {
  it.each<[string, (path: string) => unknown]>([
    ['a pipe', (path) => execFileSync('mkfifo', [path])],
    ['3 GB of nothing', (path) => truncate(path, 3 * 1024 ** 3)],
  ])(
    '%s',
    async (_what, replace) => {
      for (const name of ['id', ...names]) {
        const { lost } = await afterDamage(async (dir) => {
          const path = join(dir, 'records', name);
          await rm(path);
          if (_what.startsWith('3')) await cp(join(sample, 'records', name), path);
          await replace(path);
        });
        if (name.startsWith('bodies')) expect(lost, name).toEqual([]);
      }
    },
    300_000,
  );
});
