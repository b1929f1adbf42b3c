import { chmod, mkdir, mkdtemp, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { rootPairOf } from '../../testing/account.ts';
import { send } from '../../testing/checked-client.ts';
import { startPlatform } from '../../testing/platform.ts';

const folder = await mkdtemp(join(tmpdir(), 'terrarium-private-'));
afterAll(() => rm(folder, { recursive: true, force: true }));

const modeOf = async (path: string) => (await stat(path)).mode & 0o777;
/** Files and folders below that other users could access; a file that was renamed meanwhile has its new name. */
async function open(dir: string): Promise<string[]> {
  const names = await readdir(dir, { recursive: true });
  const modes = names.map(async (name) => {
    const mode = await modeOf(join(dir, name)).catch((failure: NodeJS.ErrnoException) => {
      if (failure.code === 'ENOENT') return 0;
      throw failure;
    });
    return mode & 0o077 ? [name] : [];
  });
  return (await Promise.all(modes)).flat();
}

it('a data folder that others could read is closed to them at the start, with all that it keeps', async () => {
  const data = join(folder, 'data');
  await mkdir(join(data, 'lambdas', 'old'), { recursive: true });
  for (const dir of [data, join(data, 'lambdas'), join(data, 'lambdas', 'old')]) await chmod(dir, 0o755);
  await writeFile(join(data, 'lambdas', 'old', 'index.js'), '', { mode: 0o644 });
  await writeFile(join(data, 'README'), 'of somebody else', { mode: 0o644 });
  await writeFile(join(folder, 'outside.js'), '', { mode: 0o644 });
  await symlink(join(folder, 'outside.js'), join(data, 'lambdas', 'link.js'));

  const platform = await startPlatform({ data, seed: 'demo' });
  try {
    const { emulator, root } = platform;
    const [{ id }] = (await root.get('/demo/lambdas?name=order-status')).body;
    const invoked = await send('POST', `${emulator.baseUrl}/inspect/lambdas/${id}/invoke`, {
      auth: rootPairOf(platform),
    });
    expect(invoked.status).toBe(200);
    expect(await modeOf(data)).toBe(0o700);
    // The link and the file next to it were not created by the platform, and the target of the link is not part of the folder.
    expect(await open(data)).toEqual(['README', join('lambdas', 'link.js')]);
    expect(await modeOf(join(folder, 'outside.js'))).toBe(0o644);
    expect(
      (await readdir(data, { recursive: true })).filter((name) => name.endsWith('index.js')).length,
    ).toBeGreaterThan(1);
  } finally {
    await platform.stop();
  }
});
