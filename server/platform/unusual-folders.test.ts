import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { send } from '../testing/checked-client.ts';
import { startPlatform } from '../testing/platform.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'terrarium-unusual-'));
});
afterEach(() => rm(folder, { recursive: true }));

/** The number of characters that Windows allows in a path without further settings, less some for names of files. */
const LONG = 250;

it.each([
  ['blanks and quotation marks', () => `my 'own' data`],
  ['umlauts and other scripts', () => 'Prüfstände – 試験'],
  ['characters with a meaning in addresses', () => '100% #1 ?a=b&c'],
  ['250 characters', () => join('x'.repeat(100), 'y'.repeat(LONG - 102 - folder.length))],
])('a platform keeps its world and runs lambdas in a folder with %s', async (_what, name) => {
  const data = join(folder, name());
  await mkdir(data, { recursive: true });
  const first = await startPlatform({ data, seed: 'demo' });
  await first.root.create('/root/users', { name: 'kept', properties: { password: 'x' } });
  await first.stop();
  const second = await startPlatform({ data, seed: 'demo' });
  try {
    expect([...first.warnings, ...second.warnings]).toEqual([]);
    const users = (await second.root.get('/root/users')).body;
    expect(users.map(({ name }: { name: string }) => name)).toContain('kept');
    const body = { payload: { email: 'ada@example.com' } };
    expect((await send('POST', `${second.emulator.gatewayUrl}/website/lead`, { body })).status).toBe(200);
  } finally {
    await second.stop();
  }
});

it('a world file can begin with a byte order mark, as editors on Windows write it', async () => {
  const seed = join(folder, 'world.yaml');
  await writeFile(seed, '\uFEFFformat: 1\norgs:\n  acme: {}\n');
  const platform = await startPlatform({ seed });
  try {
    expect((await platform.root.get('/root/orgs')).body).toEqual([expect.objectContaining({ name: 'acme' })]);
  } finally {
    await platform.stop();
  }
});

it('a data folder that is a file is named as such', async () => {
  const data = join(folder, 'data');
  await writeFile(data, '');
  await expect(startPlatform({ data })).rejects.toThrow(`${data}: cannot be used as a data folder`);
});
