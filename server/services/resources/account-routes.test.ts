import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Account, logIn, makeAccount, rootPairOf } from '../../testing/account.ts';
import { send } from '../../testing/checked-client.ts';
import { sharedPlatform } from '../../testing/platform.ts';

const platform = sharedPlatform({ limits: { tokenRequestsPerMinute: 1_000 } });
let root: string;
/** Name that each test sets for itself. */
let name: string;
let ada: Account;
let count = 0;
beforeAll(async () => {
  root = rootPairOf(platform);
});
beforeEach(async () => {
  count += 1;
  name = `ada${count}`;
  ada = await makeAccount(platform, name);
});

/** One request below `/security`. */
const ask = (request: string, { auth = root, body }: { auth?: string; body?: unknown } = {}) => {
  const [method = 'GET', path = '/'] = request.split(' ');
  return send(method, `${platform.emulator.securityUrl}${path}`, { auth, body });
};
const recordOf = async (id: string) => (await platform.root.get(`/root/resources/${id}`)).body;
const group = (users: string[]) =>
  platform.root.create('/root/groups', { name: `team${count}`, properties: { users } });

test('an account is patched by operations or by an object, and its user changes with it', async () => {
  const path = `PATCH /accounts/${ada.id}`;
  const patch = [
    { op: 'replace', path: '/firstName', value: 'Ada' },
    { op: 'replace', path: '/username', value: `countess${count}` },
    { op: 'copy', from: '/firstName', path: '/lastName' },
  ];
  const patched = await ask(path, { body: patch });
  expect(patched.status).toBe(200);
  expect(patched.body).toMatchObject({ username: `countess${count}`, firstName: 'Ada', lastName: 'Ada' });
  const merged = await ask(path, { body: { lastName: 'Lovelace', email: null, description: 'x' } });
  expect(merged.body).toMatchObject({ firstName: 'Ada', lastName: 'Lovelace', description: 'x' });
  expect(merged.body).not.toHaveProperty('email');
  expect((await recordOf(ada.id)).name).toBe(`countess${count}`);
});

test('properties that an account does not have cannot be patched', async () => {
  const before = await recordOf(ada.id);
  const cases: [unknown, number][] = [
    [[{ op: 'replace', path: '/id', value: 'x' }], 422],
    [[{ op: 'add', path: '/disabled', value: true }], 422],
    [[{ op: 'move', from: '/directory', path: '/firstName' }], 422],
    [[{ op: 'explode', path: '/firstName' }], 400],
    [{ disabled: true }, 400],
  ];
  for (const [body, status] of cases) {
    expect((await ask(`PATCH /accounts/${ada.id}`, { body })).status, JSON.stringify(body)).toBe(status);
  }
  expect(await recordOf(ada.id)).toEqual(before);
});

test.each([
  [{ firstName: 5 }, '/firstName'],
  [{ username: '' }, '/username'],
  [[{ op: 'remove', path: '/email' }], '/email'],
])('an error of the change %j names the member of the account', async (body, pointer) => {
  const { developerMessage, message } = (await ask(`PATCH /accounts/${ada.id}`, { body })).body;
  expect(developerMessage).toMatch(new RegExp(`^${pointer}: `));
  expect(message).toContain(pointer);
  expect(message).not.toMatch(/properties|\/name: /);
});

describe('a body that is no change of an account', () => {
  const patch = (body: string, type = 'application/json') =>
    fetch(`${platform.emulator.securityUrl}/accounts/${ada.id}`, {
      method: 'PATCH',
      headers: { authorization: root, 'content-type': type },
      body,
    });

  test('gets an error with the pointer of the invalid member', async () => {
    const answer = await ask(`PATCH /accounts/${ada.id}`, { body: [{ op: 'add', path: 'x' }] });
    expect(answer.body.developerMessage).toContain('/0/path');
  });

  test('is refused when it is a text, would reach for a prototype, or is no JSON at all', async () => {
    expect((await patch('"text"')).status).toBe(400);
    expect((await patch('{"__proto__":{"isRoot":true}}')).status).toBe(400);
    expect((await patch('{}', 'text/plain')).status).toBe(415);
  });
});

test('changes of an account need the right to make them', async () => {
  const { bearer: auth } = await makeAccount(platform, `bob${count}`);
  const before = await recordOf(ada.id);
  for (const route of [`PATCH /accounts/${ada.id}`, `POST /accounts/${ada.id}/disable`, `DELETE /accounts/${ada.id}`]) {
    expect((await ask(route, { auth, body: {} })).status, route).toBe(403);
  }
  expect(await recordOf(ada.id)).toEqual(before);
});

test.each([
  'PATCH /accounts/nonsense',
  'DELETE /accounts/nonsense',
  'POST /accounts/nonsense/disable',
  'POST /accounts/nonsense/enable',
  'PATCH /groups/nonsense/accounts',
])('%s is 401 before anything else is looked at', async (route) => {
  const realm = `Bearer realm="${platform.emulator.securityUrl}/root/oauth/issue"`;
  const fault = ', error="invalid_token", error_description="the credentials are wrong"';
  for (const [auth, challenge] of [
    ['', realm],
    ['Bearer nonsense', realm + fault],
  ] as const) {
    const answer = await ask(route, { auth });
    expect(answer.status).toBe(401);
    expect(answer.body).toMatchObject({ code: 401, resource: `/security${route.split(' ')[1]}` });
    const basicChallenge = `Basic realm="${platform.emulator.securityUrl}"`;
    expect(answer.headers.get('www-authenticate')).toBe(`${challenge}, ${basicChallenge}`);
  }
});

test('a disabled account is locked out at once, and back when it is enabled', async () => {
  const self = { auth: ada.bearer };
  expect((await ask(`POST /accounts/${ada.id}/disable`)).body.username).toBe(name);
  expect((await ask('GET /accounts/self', self)).status).toBe(401);
  expect((await logIn(platform, 'root', name)).status).toBe(400);
  expect((await ask(`POST /accounts/${ada.id}/enable`)).status).toBe(200);
  expect((await ask('GET /accounts/self', self)).status).toBe(200);
  expect((await logIn(platform, 'root', name)).status).toBe(200);
});

test("root's own account cannot be disabled", async () => {
  const { id } = (await ask('GET /accounts/self')).body;
  const answer = await ask(`POST /accounts/${id}/disable`);
  expect([answer.status, answer.body.code]).toEqual([409, 409]);
});

test('a deleted account is gone with its credentials', async () => {
  expect(await ask(`DELETE /accounts/${ada.id}`)).toMatchObject({ status: 204, body: '' });
  expect((await ask(`DELETE /accounts/${ada.id}`)).status).toBe(404);
  expect((await ask('GET /accounts/self', { auth: ada.bearer })).status).toBe(401);
});

test('the membership of a group is changed in the order of the operations', async () => {
  const bob = await makeAccount(platform, `bob${count}`);
  const { id } = await group([ada.id]);
  const patched = await ask(`PATCH /groups/${id}/accounts`, {
    body: [
      { op: 'add', path: '/accounts', value: bob.id },
      { op: 'add', path: '/accounts', value: bob.id },
      { op: 'remove', path: '/accounts', value: ada.id },
    ],
  });
  expect(patched.status).toBe(200);
  const href = `${platform.emulator.securityUrl}/accounts/${bob.id}`;
  expect(patched.body).toEqual([{ id: bob.id, name: `bob${count}`, href }]);
  const groupReply = await ask(`GET /groups/${id}`);
  expect(groupReply.body).toMatchObject({ id, name: `team${count}`, disabled: false, accounts: patched.body });
});

test('a membership patch with a fault changes nothing', async () => {
  const { id } = await group([]);
  const good = { op: 'add', path: '/accounts', value: ada.id };
  const path = `PATCH /groups/${id}/accounts`;
  const anonymous = 'f0000000-0000-4000-8000-00000000000f';
  for (const bad of [
    { ...good, value: anonymous },
    { ...good, op: 'test' },
    { ...good, path: '/users' },
    { op: 'add' },
  ]) {
    expect((await ask(path, { body: [good, bad] })).status, JSON.stringify(bad)).toBe(400);
  }
  expect((await ask(path, { auth: ada.bearer, body: [good] })).status).toBe(403);
  expect((await ask(`GET /groups/${id}`)).body.accounts).toEqual([]);
});
