import { lstat, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { zipOf } from '../../../testing/zip.ts';
import { unzip } from './unzip.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'terrarium-unzip-'));
});
afterEach(() => rm(folder, { recursive: true }));

const LINK = 0o120777;

/** Unpacks an archive of files and links as on a system. */
async function unpack(files: Record<string, string>, links: Record<string, string>, system: NodeJS.Platform) {
  const modes = Object.fromEntries(Object.keys(links).map((name) => [name, LINK]));
  const archive = path.join(folder, 'a.zip');
  await writeFile(archive, zipOf({ ...files, ...links }, undefined, modes));
  const target = path.join(folder, 'unpacked');
  await mkdir(target);
  await unzip(archive, target, system);
  return target;
}

describe('a package with links', () => {
  const FILES = { 'lib/a.js': 'exports.a = 1', 'packages/b/index.js': 'exports.b = 2' };
  // Links to links, in an order in which the first leads to what does not exist yet.
  const LINKS = { 'bin/tool': 'first', 'bin/first': '../lib/a.js', 'node_modules/b': '../packages/b', 'bin/none': 'x' };

  it.each(['linux', 'darwin', 'win32'] as const)('has the same files on %s', async (system) => {
    const target = await unpack(FILES, LINKS, system);
    const read = (name: string) => readFile(path.join(target, name), 'utf8');
    expect(await read('bin/tool')).toBe('exports.a = 1');
    expect(await read('node_modules/b/index.js')).toBe('exports.b = 2');
    await expect(read('bin/none')).rejects.toThrow('ENOENT');
    // Windows lets everyone create a junction to a folder, but not a link to a file.
    expect((await lstat(path.join(target, 'bin/tool'))).isSymbolicLink()).toBe(system !== 'win32');
  });

  it.each(['linux', 'win32'] as const)('may not link to a file or folder elsewhere on %s', async (system) => {
    await writeFile(path.join(folder, 'secret'), 'secret');
    await expect(unpack(FILES, { out: '../secret' }, system)).rejects.toThrow('leads out of the package');
    await rm(path.join(folder, 'unpacked'), { recursive: true });
    await expect(unpack(FILES, { up: '..' }, system)).rejects.toThrow('leads out of the package');
  });
});
