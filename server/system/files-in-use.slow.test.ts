import { promises } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { renameFile } from './files-in-use.ts';

let folder: string;
let refusals: number;
const { rename } = promises;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'terrarium-in-use-'));
  for (const name of ['old', 'new']) await writeFile(join(folder, name), name);
  promises.rename = async (from, to) => {
    refusals -= 1;
    if (refusals >= 0) throw Object.assign(new Error(`EPERM: ${from}`), { code: 'EPERM' });
    return rename(from, to);
  };
  syncBuiltinESMExports();
});
afterEach(async () => {
  promises.rename = rename;
  syncBuiltinESMExports();
  await rm(folder, { recursive: true });
});

it('replaces a file that a virus scanner has open for two seconds', async () => {
  // After eight attempts, 2.5 seconds have passed.
  refusals = 8;
  await renameFile(join(folder, 'new'), join(folder, 'old'));
  expect(await readFile(join(folder, 'old'), 'utf8')).toBe('new');
});

it('reports a file that stays in use, and loses nothing', async () => {
  refusals = Number.POSITIVE_INFINITY;
  await expect(renameFile(join(folder, 'new'), join(folder, 'old'))).rejects.toThrow('EPERM');
  expect(await readFile(join(folder, 'old'), 'utf8')).toBe('old');
  expect(await readFile(join(folder, 'new'), 'utf8')).toBe('new');
});
