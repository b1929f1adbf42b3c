import { afterEach, beforeEach, expect, test } from 'vitest';
import type { StoredResource } from '../../model/record.ts';
import { TestSecurityService } from '../../testing/security-service.ts';

let service: TestSecurityService;
let acme: StoredResource;
let root: string;
beforeEach(async () => {
  service = await TestSecurityService.start();
  acme = service.world.add('orgs', service.world.root, { name: 'acme', description: 'makes anvils' });
  root = await service.bearer(service.world.rootUser);
});
afterEach(async () => {
  expect(service.faults).toEqual([]);
  await service.stop();
});

test('organizations are shown with links up and down', async () => {
  const labs = service.world.add('orgs', acme, { name: 'labs' });
  expect((await service.ask('GET /acme/', { auth: root })).body).toEqual({
    id: acme.id,
    name: 'acme',
    fqon: 'acme',
    description: 'makes anvils',
    parent: { id: service.world.root.id, name: 'root', href: `${service.url}/root` },
    children: [{ id: labs.id, name: 'labs', href: `${service.url}/acme.labs` }],
  });
  expect((await service.ask('GET /acme.labs', { auth: root })).body.fqon).toBe('acme.labs');
  const all = await service.ask('GET /orgs', { auth: root });
  expect(all.body.map((organization: { fqon: string }) => organization.fqon)).toEqual(['root', 'acme', 'acme.labs']);
  expect(all.body[0]).not.toHaveProperty('parent');
});

test('accounts and groups are listed with their organization and with its directory', async () => {
  const { world } = service;
  const ada = await service.addUser('ada', acme);
  const group = world.add('groups', acme, { name: 'team', properties: { users: [ada.id] } });
  const [directory] = (await service.ask('GET /acme/directories', { auth: root })).body;
  expect(directory).toEqual({
    id: expect.any(String),
    name: 'acme-directory',
    orgId: acme.id,
    directoryType: 'INTERNAL',
  });
  for (const path of ['/acme', `/directories/${directory.id}`]) {
    const accounts = await service.ask(`GET ${path}/accounts`, { auth: root });
    expect(accounts.body).toEqual([(await service.ask(`GET /accounts/${ada.id}`, { auth: root })).body]);
    const groups = await service.ask(`GET ${path}/groups`, { auth: root });
    expect(groups.body).toEqual([(await service.ask(`GET /groups/${group.id}`, { auth: root })).body]);
  }
  expect((await service.ask('GET /acme/accountStores', { auth: root })).body).toEqual([
    {
      id: expect.any(String),
      name: 'acme-accounts',
      storeType: 'DIRECTORY',
      accountStoreId: directory.id,
      isDefaultAccountStore: true,
      isDefaultGroupStore: true,
    },
  ]);
});

test('lists leave out what the caller may not see, single reads refuse it', async () => {
  const ada = await service.addUser('ada', acme);
  await service.addUser('bob', acme);
  const auth = await service.bearer(ada);
  expect((await service.ask('GET /orgs', { auth })).body).toEqual([]);
  // Everybody sees his own (D-117).
  expect((await service.ask('GET /acme/accounts', { auth })).body).toMatchObject([{ username: 'ada' }]);
  expect((await service.ask('GET /acme', { auth })).status).toBe(403);
  expect((await service.ask('GET /acme/directories', { auth })).status).toBe(403);
  expect((await service.ask('GET /orgs/current', { auth })).body.fqon).toBe('acme');
  service.world.change(acme.id, { grants: { 'user.view': { add: [ada.id] }, 'org.view': { add: [ada.id] } } });
  expect((await service.ask('GET /acme/accounts', { auth })).body).toHaveLength(2);
  expect((await service.ask('GET /orgs', { auth })).body).toHaveLength(1);
  expect((await service.ask('GET /acme', { auth })).status).toBe(200);
});

test('what does not exist is 404', async () => {
  const anonymous = 'f0000000-0000-4000-8000-00000000000f';
  for (const path of [
    '/nowhere',
    '/nowhere/accounts',
    '/acme/nonsense',
    `/directories/${anonymous}/accounts`,
    '/a/b/c/d',
  ]) {
    expect((await service.ask(`GET ${path}`, { auth: root })).status, path).toBe(404);
  }
  expect((await service.ask('GET /directories/acme/groups', { auth: root })).status).toBe(400);
});

test('an organization names only those below it that the caller may view', async () => {
  const { world } = service;
  const labs = world.add('orgs', acme, { name: 'labs' });
  world.add('orgs', acme, { name: 'secret-plans' });
  const ada = await service.addUser('ada', acme);
  world.change(labs.id, { grants: { 'org.view': { add: [ada.id] } } });
  const { body } = await service.ask('GET /orgs/current', { auth: await service.bearer(ada) });
  expect(body.children).toEqual([{ id: labs.id, name: 'labs', href: `${service.url}/acme.labs` }]);
});
