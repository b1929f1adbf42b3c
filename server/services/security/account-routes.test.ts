import { afterEach, beforeEach, expect, test } from 'vitest';
import type { StoredResource } from '../../model/record.ts';
import { TestSecurityService } from '../../testing/security-service.ts';

let service: TestSecurityService;
let ada: StoredResource;
let root: string;
beforeEach(async () => {
  service = await TestSecurityService.start();
  ada = await service.addUser('ada');
  root = await service.bearer(service.world.rootUser);
});
afterEach(async () => {
  expect(service.faults).toEqual([]);
  await service.stop();
});

test('an account shows its names and its directory, never its password', async () => {
  const properties = { ...ada.properties, firstName: 'Ada', email: 'ada@example.org', phoneNumber: '' };
  service.world.change(ada.id, { properties, description: 'first' });
  const { body } = await service.ask(`GET /accounts/${ada.id}`, { auth: root });
  expect(body).toEqual({
    id: ada.id,
    username: 'ada',
    firstName: 'Ada',
    lastName: '',
    description: 'first',
    email: 'ada@example.org',
    phoneNumber: '',
    directory: { id: expect.any(String), name: 'root-directory', orgId: service.world.root.id },
  });
});

test('everybody sees their own account, others with user.view only', async () => {
  const bob = await service.addUser('bob');
  const auth = await service.bearer(bob);
  const self = await service.ask('GET /accounts/self', { auth });
  expect(self.body.id).toBe(bob.id);
  expect((await service.ask(`GET /accounts/${bob.id}`, { auth })).body).toEqual(self.body);
  expect((await service.ask(`GET /accounts/${ada.id}`, { auth })).status).toBe(403);
  service.world.change(service.world.root.id, { grants: { 'user.view': { add: [bob.id] } } });
  expect((await service.ask(`GET /accounts/${ada.id}`, { auth })).body.username).toBe('ada');
});

test('a group shows its members', async () => {
  const { world } = service;
  const group = world.add('groups', world.root, { name: 'team', properties: { users: [ada.id] } });
  expect((await service.ask(`GET /groups/${group.id}`, { auth: root })).body).toEqual({
    id: group.id,
    name: 'team',
    directory: expect.objectContaining({ orgId: world.root.id }),
    disabled: false,
    accounts: [{ id: ada.id, name: 'ada', href: `${service.url}/accounts/${ada.id}` }],
  });
});
