import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MemoryFiles } from '../../storage/files/files.ts';
import { openKeyedLog } from '../../storage/files/keyed-log.ts';
import { type FileLink, LinkedFiles, type LinkedFilesOptions } from './linked-files.ts';

const LAMBDA = '2f6b4c1e-0000-4000-8000-00000000000a';

let folder: string;
let file: string;
let log: LinkedFilesOptions['log'];
let links: LinkedFiles;
let source: string | undefined;
let saved: string[];
let refusal: Error | undefined;
let wake: () => void;

const open = () =>
  new LinkedFiles({
    log,
    sourceOf: () => source,
    async save(_lambdaId, text) {
      if (refusal) throw refusal;
      source = text;
      saved.push(text);
    },
    onChange: () => wake(),
    nowMs: Date.now,
  });

/** Waits for a state of the link. */
async function until(isWanted: (state: ReturnType<LinkedFiles['find']>) => boolean) {
  while (!isWanted(links.find(LAMBDA))) {
    await new Promise<void>((resolve) => {
      wake = resolve;
    });
  }
}

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'terrarium-links-'));
  file = path.join(folder, 'form.js');
  log = await openKeyedLog<FileLink>(new MemoryFiles(), { name: 'links', onWarning: () => {} });
  [source, saved, refusal, wake] = ['old', [], undefined, () => {}];
  links = open();
});
afterEach(async () => {
  await links.stop();
  await rm(folder, { recursive: true, force: true });
});

describe('a lambda that is linked to a file', () => {
  it('gets its content, and every later content', async () => {
    await writeFile(file, 'first');
    expect(await links.link(LAMBDA, file)).toEqual({ path: file, takenAtMs: expect.any(Number) });
    expect(saved).toEqual(['first']);
    await writeFile(file, 'second');
    await until(() => source === 'second');
    // Most editors put a new file in the place of the old.
    await writeFile(`${file}.tmp`, 'third');
    await rename(`${file}.tmp`, file);
    await until(() => source === 'third');
    expect(saved).toEqual(['first', 'second', 'third']);
  });

  it('does not change when the file has the same content', async () => {
    await writeFile(file, 'old');
    await links.link(LAMBDA, file);
    expect(saved).toEqual([]);
  });

  it('keeps its code while the file is missing, empty or not text, and gives the reason', async () => {
    await writeFile(file, 'first');
    await links.link(LAMBDA, file);
    await rm(file);
    await until((state) => state?.problem === `${file} does not exist`);
    await writeFile(file, '');
    await until((state) => state?.problem === `${file} is empty`);
    await writeFile(file, Buffer.from([0xff, 0xfe, 0]));
    await until((state) => state?.problem === `${file} is not valid UTF-8 text`);
    expect(source).toBe('first');
    await writeFile(file, 'again');
    await until((state) => state?.problem === undefined);
    expect(source).toBe('again');
  });

  it('follows a file whose whole folder was replaced', async () => {
    const inside = path.join(folder, 'src', 'form.js');
    await mkdir(path.dirname(inside));
    await writeFile(inside, 'first');
    await links.link(LAMBDA, inside);
    await rm(path.dirname(inside), { recursive: true });
    await until((state) => state?.problem !== undefined);
    await mkdir(path.dirname(inside));
    await writeFile(inside, 'second');
    await until(() => source === 'second');
  });

  it('gives the reason why a saved file is rejected, and accepts the next one', async () => {
    await writeFile(file, 'first');
    await links.link(LAMBDA, file);
    refusal = new Error('a policy is in the way');
    await writeFile(file, 'second');
    await until((state) => state?.problem === 'the lambda was not updated from the file: a policy is in the way');
    refusal = undefined;
    await writeFile(file, 'third!');
    await until((state) => state?.problem === undefined);
    expect(source).toBe('third!');
  });

  it('follows it after a restart, too, with changes saved meanwhile', async () => {
    await writeFile(file, 'first');
    await links.link(LAMBDA, file);
    await links.stop();
    await writeFile(file, 'while away');
    links = open();
    links.start();
    await until(() => source === 'while away');
  });

  it('follows it no longer once the link is cut', async () => {
    await writeFile(file, 'first');
    await links.link(LAMBDA, file);
    expect(await links.unlink(LAMBDA)).toBe(true);
    expect(await links.unlink(LAMBDA)).toBe(false);
    expect(links.find(LAMBDA)).toBeUndefined();
    expect(log.size).toBe(0);
  });
});

it('refuses what cannot be followed, and keeps the link there was', async () => {
  await writeFile(file, 'first');
  await links.link(LAMBDA, file);
  await expect(links.link(LAMBDA, 'form.js')).rejects.toMatchObject({ status: 400 });
  await expect(links.link(LAMBDA, path.join(folder, 'nothing.js'))).rejects.toMatchObject({ status: 422 });
  await expect(links.link(LAMBDA, folder)).rejects.toMatchObject({ status: 422, message: `${folder} is not a file` });
  source = undefined;
  await expect(links.link(LAMBDA, file)).rejects.toMatchObject({ status: 409 });
  expect(links.find(LAMBDA)).toMatchObject({ path: file });
});
