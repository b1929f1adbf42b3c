import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { CliRunner } from '../testing/command.ts';
import { startPlatform } from '../testing/platform.ts';

const cli = new CliRunner();
afterAll(() => cli.close());

it('reset --new-id gives the world of a stopped platform another ID, and keeps the rest of it', async () => {
  const data = join(cli.folder, 'copy');
  const renew = async () => {
    const { exitCode, out, err } = await cli.runInProcess(['reset', '--new-id', '--data', 'copy', '--json']);
    return exitCode === 0 ? JSON.parse(out) : [exitCode, err];
  };
  expect(await renew()).toEqual([2, expect.stringContaining('contains no world')]);
  const first = await startPlatform({ data });
  const { id } = await first.root.create('/root', { name: 'acme' });
  expect(await renew()).toEqual([2, expect.stringContaining('is in use by process')]);
  await first.stop();
  const { dataDir, worldId } = await renew();
  expect(dataDir).toBe(data);
  expect(worldId).not.toBe(first.emulator.worldId);
  const again = await startPlatform({ data });
  expect(again.emulator.worldId).toBe(worldId);
  expect((await again.root.get('/acme')).body).toMatchObject({ id });
  await again.stop();
});
