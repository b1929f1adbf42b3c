import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Platform, startPlatform } from '../testing/platform.ts';
import { grant, makeUser } from '../testing/tenant.ts';

let folder: string;
let platform: Platform;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'terrarium-accounts-'));
  platform = await startPlatform({ data: folder });
});
afterAll(async () => {
  await platform?.stop();
  await rm(folder, { recursive: true });
});

it('only root can give a new resource the former id of an account, also after a restart (D-030)', async () => {
  const { id: hiringId } = await makeUser(platform, 'hiring');
  for (const noun of ['user', 'workspace']) await grant(platform.root, '/root', `${noun}.create`, hiringId);
  const deletedUser = await platform.root.create('/root/users', { name: 'gone', properties: { password: 'x' } });
  expect((await platform.root.delete(`/root/users/${deletedUser.id}`)).status).toBe(204);
  await platform.stop();
  platform = await startPlatform({ data: folder });

  const hiring = await platform.as('hiring', 'hiring-secret');
  const user = { id: deletedUser.id.toUpperCase(), name: 'heir', properties: { password: 'x' } };
  const refused = { status: 409, body: { details: [{ pointer: '/id' }] } };
  expect(await hiring.post('/root/users', user)).toMatchObject(refused);
  expect(await hiring.post('/root/workspaces', { id: deletedUser.id, name: 'w' })).toMatchObject(refused);
  expect(await hiring.post('/root/users', { ...user, id: undefined })).toMatchObject({ status: 201 });
  expect(await platform.root.post('/root/users', { ...user, name: 'again' })).toMatchObject({ status: 201 });
});
