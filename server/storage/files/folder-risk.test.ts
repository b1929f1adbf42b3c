import { mkdtemp, realpath, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { startPlatform } from '../../testing/platform.ts';
import { riskOfFolder } from './keep-private.ts';

const EXT4 = 0xef53;
const SMB2 = 0xfe534d42;

it.each([
  ['/home/ada/shop/.terrarium', EXT4, undefined],
  ['/home/ada/onedrives/.terrarium', EXT4, undefined],
  ['C:\\Users\\ada\\shop\\.terrarium', 0, undefined],
  ['/mnt/team/shop/.terrarium', 0x6969, 'on a drive of another system'],
  ['/mnt/team/shop/.terrarium', SMB2, 'on a drive of another system'],
  ['/mnt/c/Users/ada/shop/.terrarium', 0x1021997, 'on a drive of another system'],
  ['\\\\server\\team\\shop\\.terrarium', 0, 'on a drive of another system'],
  ['C:\\Users\\ada\\OneDrive\\shop\\.terrarium', 0, "in 'OneDrive', which is copied"],
  ['C:\\Users\\ada\\OneDrive - Fern & Moss\\shop', 0, "in 'OneDrive - Fern & Moss', which is copied"],
  ['/Users/ada/Library/CloudStorage/Dropbox/shop', 26, "in 'CloudStorage', which is copied"],
  ['/Users/ada/Library/Mobile Documents/shop', 26, "in 'Mobile Documents', which is copied"],
])('a data folder at %s, of the file system %i, has the risk: %s', (dir, fileSystem, expected) => {
  const risk = riskOfFolder(dir, fileSystem);
  if (expected === undefined) expect(risk).toBeUndefined();
  else expect(risk).toContain(`the data folder ${dir} is ${expected}`);
});

it('a platform starts in a folder that is copied to other machines, and warns', async () => {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'terrarium-risk-')));
  const data = join(folder, 'OneDrive', 'shop');
  expect(riskOfFolder(folder, (await statfs(folder)).type)).toBeUndefined();
  const platform = await startPlatform({ data });
  await platform.stop();
  expect(platform.warnings).toEqual([riskOfFolder(data, EXT4)]);
  await rm(folder, { recursive: true });
});
