import { afterEach, beforeEach, expect, test } from 'vitest';
import type { StoredResource } from '../model/record.ts';
import { PASSWORD, TestService } from './service-for-tests.ts';

let service: TestService;
let ada: StoredResource;
let root: string;
beforeEach(async () => {
  service = await TestService.start();
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

test('an account is patched by operations or by an object, and the new password is one of the user', async () => {
  const path = `PATCH /accounts/${ada.id}`;
  const patch = [
    { op: 'replace', path: '/firstName', value: 'Ada' },
    { op: 'replace', path: '/username', value: 'countess' },
    { op: 'copy', from: '/firstName', path: '/lastName' },
  ];
  const patched = await service.ask(path, { auth: root, json: patch });
  expect(patched.status).toBe(200);
  expect(patched.body).toMatchObject({ username: 'countess', firstName: 'Ada', lastName: 'Ada' });
  const merged = await service.ask(path, { auth: root, json: { lastName: 'Lovelace', email: null, description: 'x' } });
  expect(merged.body).toMatchObject({ firstName: 'Ada', lastName: 'Lovelace', description: 'x' });
  expect(merged.body).not.toHaveProperty('email');
  expect(service.world.find(ada.id)?.name).toBe('countess');
});

test('what is not of an account cannot be patched', async () => {
  const path = `PATCH /accounts/${ada.id}`;
  const cases: [unknown, number][] = [
    [[{ op: 'replace', path: '/id', value: 'x' }], 422],
    [[{ op: 'add', path: '/disabled', value: true }], 422],
    [[{ op: 'move', from: '/directory', path: '/firstName' }], 422],
    [[{ op: 'explode', path: '/firstName' }], 400],
    [{ disabled: true }, 400],
    ['text', 400],
  ];
  for (const [json, status] of cases) {
    expect((await service.ask(path, { auth: root, json })).status, JSON.stringify(json)).toBe(status);
  }
  expect(service.world.find(ada.id)).toEqual(ada);
});

test('changes of an account need the right to make them', async () => {
  const auth = await service.bearer(await service.addUser('bob'));
  for (const route of [`PATCH /accounts/${ada.id}`, `POST /accounts/${ada.id}/disable`, `DELETE /accounts/${ada.id}`]) {
    expect((await service.ask(route, { auth, json: {} })).status, route).toBe(403);
  }
  expect(service.world.find(ada.id)).toEqual(ada);
});

test('a disabled account is locked out at once, and back when it is enabled', async () => {
  const auth = await service.bearer(ada);
  const form = { grant_type: 'password', username: 'ada', password: PASSWORD };
  expect((await service.ask(`POST /accounts/${ada.id}/disable`, { auth: root })).body.username).toBe('ada');
  expect((await service.ask('GET /accounts/self', { auth })).status).toBe(401);
  expect((await service.ask('POST /root/oauth/issue', { form })).status).toBe(400);
  expect((await service.ask(`POST /accounts/${ada.id}/enable`, { auth: root })).status).toBe(200);
  expect((await service.ask('GET /accounts/self', { auth })).status).toBe(200);
  expect((await service.ask('POST /root/oauth/issue', { form })).status).toBe(200);
});

test("root's own account cannot be disabled", async () => {
  const answer = await service.ask(`POST /accounts/${service.world.root.owner}/disable`, { auth: root });
  expect([answer.status, answer.body.code]).toEqual([409, 409]);
});

test('a deleted account is gone with its credentials', async () => {
  const auth = await service.bearer(ada);
  expect(await service.ask(`DELETE /accounts/${ada.id}`, { auth: root })).toMatchObject({
    status: 204,
    body: undefined,
  });
  expect((await service.ask(`DELETE /accounts/${ada.id}`, { auth: root })).status).toBe(404);
  expect((await service.ask('GET /accounts/self', { auth })).status).toBe(401);
});

test('the membership of a group is changed in the order of the operations', async () => {
  const { world } = service;
  const bob = await service.addUser('bob');
  const group = world.add('groups', world.root, { name: 'team', properties: { users: [ada.id] } });
  const patched = await service.ask(`PATCH /groups/${group.id}/accounts`, {
    auth: root,
    json: [
      { op: 'add', path: '/accounts', value: bob.id },
      { op: 'add', path: '/accounts', value: bob.id },
      { op: 'remove', path: '/accounts', value: ada.id },
    ],
  });
  expect(patched.status).toBe(200);
  expect(patched.body).toEqual([{ id: bob.id, name: 'bob', href: `${service.url}/accounts/${bob.id}` }]);
  expect(world.find(group.id)?.properties.users).toEqual([bob.id]);
  const shown = await service.ask(`GET /groups/${group.id}`, { auth: root });
  expect(shown.body).toEqual({
    id: group.id,
    name: 'team',
    directory: expect.objectContaining({ orgId: world.root.id }),
    disabled: false,
    accounts: patched.body,
  });
});

test('a membership patch with a fault changes nothing', async () => {
  const { world } = service;
  const group = world.add('groups', world.root, { properties: { users: [] } });
  const good = { op: 'add', path: '/accounts', value: ada.id };
  const path = `PATCH /groups/${group.id}/accounts`;
  const nobody = 'f0000000-0000-4000-8000-00000000000f';
  for (const bad of [{ ...good, value: nobody }, { ...good, op: 'test' }, { ...good, path: '/users' }, { op: 'add' }]) {
    expect((await service.ask(path, { auth: root, json: [good, bad] })).status, JSON.stringify(bad)).toBe(400);
  }
  expect((await service.ask(path, { auth: await service.bearer(ada), json: [good] })).status).toBe(403);
  expect(world.find(group.id)?.properties.users).toEqual([]);
});
