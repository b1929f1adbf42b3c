import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { makeFolder } from './make-folder.ts';

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'terrarium-folder-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

it('a folder is created with its missing parents, also when several callers do so at once', async () => {
  const folder = join(await temporaryFolder(), 'a', 'b', 'c');
  await Promise.all([makeFolder(folder), makeFolder(folder)]);
  await makeFolder(folder);
  expect((await stat(folder)).isDirectory()).toBe(true);
});

it('a folder is not created in the place of a file or below it', async () => {
  const file = join(await temporaryFolder(), 'file');
  await writeFile(file, '');
  await expect(makeFolder(file)).rejects.toMatchObject({ code: 'EEXIST' });
  await expect(makeFolder(join(file, 'below'))).rejects.toMatchObject({
    code: expect.stringMatching(/ENOTDIR|ENOENT/),
  });
});

it.runIf(process.platform === 'linux')('a folder that the system refuses with ENOENT is an error', async () => {
  await expect(makeFolder('/proc/none/below')).rejects.toMatchObject({ code: 'ENOENT', path: '/proc/none' });
});
