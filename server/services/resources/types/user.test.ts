import { beforeAll, describe, expect, it } from 'vitest';
import { bearer, send } from '../../../testing/checked-client.ts';
import { refusal, sharedPlatform } from '../../../testing/platform.ts';
import { type Body, createTenant, grant, lambdaBody, makeUser, type Tenant } from '../../../testing/tenant.ts';

const platform = sharedPlatform();
const { root } = platform;
let tenant: Tenant;
beforeAll(async () => {
  tenant = await createTenant(root, 'acme');
});

let createdCount = 0;
const fresh = () => `user-${createdCount++}`;
const create = (properties: object = {}, name = fresh(), under = '/root'): Promise<Body> =>
  root.create(`${under}/users`, { name, properties: { password: 'a-secret', ...properties } });
const refused = (properties: object) =>
  root.post('/root/users', { name: fresh(), properties: { password: 'a-secret', ...properties } });
const pathOf = ({ id }: Body) => `/root/users/${id}`;
const patch = (user: Body, ...operations: object[]) => root.patch(pathOf(user), operations);

describe('the properties of a user (D-070)', () => {
  it('is given back as it was sent, but for the password', async () => {
    const writtenProperties = {
      firstName: 'Ada',
      lastName: '',
      email: 'Ada@example.com',
      phoneNumber: '+44 20 0000 0000',
      platform_home: 'acme',
    };
    const user = await create(writtenProperties, 'ada.lovelace@example.com');
    expect(user).toMatchObject({
      name: 'ada.lovelace@example.com',
      resource_type: 'Platform::Resource::User',
      owner: { properties: { fqon: 'root' } },
    });
    expect(user.properties).toEqual({
      ...writtenProperties,
      groups: [],
      parent: expect.objectContaining({ name: 'root' }),
    });
    expect((await root.get(pathOf(user))).body).toEqual(user);
  });

  it('has no default in it, and links the groups it is in', async () => {
    const user = await create({ groups: ['ignored'] });
    expect(user.properties).toEqual({ groups: [], parent: expect.anything() });
    const group = await root.create('/root/groups', { name: 'linked', properties: { users: [user.id] } });
    const href = `${platform.emulator.metaUrl}/root/groups/${group.id}`;
    const link = { typeId: 'ad4c7258-1896-45bf-8ec8-c875dcc7654e', id: group.id, name: 'linked', href };
    expect((await root.get(pathOf(user))).body.properties.groups).toEqual([link]);
    expect((await root.get(`${pathOf(user)}/groups`)).body).toEqual([link]);
  });

  it('never shows a password, whichever way it is read', async () => {
    const user = await create({ password: 'hunter2-hunter2' }, 'secretive');
    const client = await platform.as('secretive', 'hunter2-hunter2');
    const replies = await Promise.all([
      root.get('/root/users?expand=true'),
      root.get('/users?compact=true'),
      root.get('/users/search?name=secretive'),
      root.get(`/root/resources/${user.id}`),
      root.get('/root/resourcetypes/58b6775d-37a5-44bc-9115-7331fc4964b7/resources?expand=true'),
      client.get('/users/self'),
      patch(user, { op: 'add', path: '/properties/firstName', value: 'S' }),
    ]);
    for (const { status, body } of replies) {
      expect(status).toBe(200);
      expect(JSON.stringify(body)).not.toMatch(/hunter2|"password"|scrypt/);
    }
    expect(await root.get('/root/users?password=hunter2-hunter2')).toMatchObject({ status: 400 });
  });

  it.each([
    ['/properties/password', { password: undefined }, 'is required'],
    ['/properties/password', { password: '' }, 'must not be empty'],
    ['/properties/password', { password: null }],
    ['/properties/firstName', { firstName: 1 }, 'must be a string'],
    ['/properties/platform_home', { platform_home: 1 }, 'must be a string'],
    ['/properties/platform_home', { platform_home: 'nowhere' }, 'does not exist'],
    ['/properties/acme_home', { acme_home: 1 }, 'must be a string'],
    ['/properties/acme_home', { acme_home: 'nowhere' }, 'does not exist'],
    ['/properties/colour', { colour: 'red' }, 'is not a known member'],
  ])('refuses at %s: %j', async (pointer, properties, message?: string) => {
    expect(await refused(properties)).toMatchObject(refusal(400, pointer, message));
  });

  it('may be posted again as it was exported, with a password', async () => {
    const source = await create({ firstName: 'A', email: 'exported@example.com' });
    const { id: _, ...exported } = (await root.get(pathOf(source))).body;
    expect((await root.delete(pathOf(source))).status).toBe(204);
    expect(await root.post('/acme/users', exported)).toMatchObject(refusal(400, '/properties/password'));
    const copy = await root.create('/acme/users', {
      ...exported,
      properties: { ...exported.properties, password: 'p' },
    });
    expect({ ...copy.properties, parent: 0 }).toEqual({ ...source.properties, parent: 0 });
  });

  it('lets a patch change the password, and never read it', async () => {
    const user = await create({ password: 'before' }, 'changing');
    const value = 'after';
    expect(await patch(user, { op: 'replace', path: '/properties/password', value })).toMatchObject({ status: 200 });
    await platform.as('changing', 'after');
    await expect(platform.as('changing', 'before')).rejects.toThrow('invalid_grant');
    for (const operation of [
      { op: 'test', path: '/properties/password', value },
      { op: 'copy', from: '/properties/password', path: '/properties/firstName' },
      { op: 'move', from: '/properties/password', path: '/properties/firstName' },
    ]) {
      expect(await patch(user, operation), operation.op).toMatchObject(refusal(422));
    }
    expect(await patch(user, { op: 'remove', path: '/properties/password' })).toMatchObject(
      refusal(400, '/properties/password'),
    );
    await platform.as('changing', 'after');
  });

  it('has no PUT', async () => {
    const user = await create();
    expect(await root.put(pathOf(user), user)).toMatchObject(refusal(404));
  });
});

describe('the home of a user (D-070)', () => {
  it('may be of an organization that was renamed since, as long as it is not written again', async () => {
    await root.create('/orgs', { name: 'moving' });
    const user = await create({ platform_home: 'moving' });
    await root.patch('/moving', [{ op: 'replace', path: '/name', value: 'moved' }]);
    const named = await patch(user, { op: 'add', path: '/properties/firstName', value: 'A' });
    expect(named).toMatchObject({ status: 200, body: { properties: { firstName: 'A', platform_home: 'moving' } } });
    await root.create('/orgs', { name: 'third' });
    const home = (value: string) => patch(user, { op: 'replace', path: '/properties/platform_home', value });
    expect((await home('third')).status).toBe(200);
    expect(await home('moving')).toMatchObject(refusal(400, '/properties/platform_home'));
  });
});

describe('uniqueness (D-070, D-072)', () => {
  it('is the name, in all organizations', async () => {
    const { name } = await create();
    for (const under of ['/root', '/acme']) {
      const body = { name, properties: { password: 'p' } };
      expect(await root.post(`${under}/users`, body), under).toMatchObject(refusal(409));
    }
    const other = await create({}, undefined, '/acme');
    expect(await patch(other, { op: 'replace', path: '/name', value: name })).toMatchObject(refusal(409));
    expect(await root.post('/acme/users', { name: 'root', properties: { password: 'p' } })).toMatchObject(refusal(409));
  });

  it('is the email address, unless it is empty', async () => {
    await create({ email: 'once@example.com' });
    expect(await refused({ email: 'once@example.com' })).toMatchObject(refusal(409));
    const [first, other] = [await create({ email: '' }), await create({ email: '', phoneNumber: '' })];
    expect(first.properties.email).toBe('');
    expect(await patch(other, { op: 'replace', path: '/properties/email', value: 'once@example.com' })).toMatchObject(
      refusal(409),
    );
  });
});

describe('a user and the account of the security service (D-072)', () => {
  it('are one: same id, same names', async () => {
    const user = await create({ firstName: 'F', email: 'one@example.com' }, 'one-account');
    const security = platform.emulator.securityUrl;
    const form = new URLSearchParams({ grant_type: 'password', username: 'one-account', password: 'a-secret' });
    const { body: token } = await send('POST', `${security}/root/oauth/issue`, { body: form });
    const account = await send('GET', `${security}/accounts/self`, { auth: bearer(token.access_token) });
    expect(account.body).toMatchObject({
      id: user.id,
      username: 'one-account',
      firstName: 'F',
      email: 'one@example.com',
    });
  });

  it('end together: tokens, keys, memberships, rights and places in lists', async () => {
    const { id, client } = await makeUser(platform, 'leaving');
    const remainingUser = await create();
    const group = await root.create('/root/groups', { name: 'left', properties: { users: [id, remainingUser.id] } });
    await grant(root, tenant.environment, 'environment.view', id);
    const lambda = await root.create(`${tenant.environment}/lambdas`, lambdaBody(tenant, 'target'));
    const api = await root.create(`${tenant.environment}/apis`, { name: 'listed' });
    const endpoint = await root.create(`/acme/apis/${api.id}/apiendpoints`, {
      name: 'e',
      properties: {
        resource: '/',
        implementation_type: 'lambda',
        implementation_id: lambda.id,
        plugins: { acmeSecurity: { enabled: true, users: [id, remainingUser.id], groups: [group.id] } },
      },
    });
    expect((await client.get(tenant.environment)).status).toBe(200);

    expect((await root.delete(`/root/users/${id}`)).status).toBe(204);
    expect(await client.get('/users/self')).toMatchObject(refusal(401));
    await expect(platform.as('leaving', 'leaving-secret')).rejects.toThrow('invalid_grant');
    const members = (await root.get(`/root/groups/${group.id}`)).body.properties.users;
    expect(members.map((link: Body) => link.id)).toEqual([remainingUser.id]);
    const rights = await root.get(`${tenant.environment}/entitlements?action=environment.view&expand=true`);
    expect(JSON.stringify(rights.body)).not.toContain(id);
    const plugins = async () => (await root.get(`/acme/apiendpoints/${endpoint.id}`)).body.properties.plugins;
    expect(await plugins()).toEqual({ acmeSecurity: { enabled: true, users: [remainingUser.id], groups: [group.id] } });
    expect((await root.delete(`/root/groups/${group.id}`)).status).toBe(204);
    expect(await plugins()).toEqual({ acmeSecurity: { enabled: true, users: [remainingUser.id], groups: [] } });
  });

  it('cannot end for root', async () => {
    const [self] = (await root.get('/root/users?name=root')).body;
    expect(await root.delete(`/root/users/${self.id}`)).toMatchObject(refusal(409));
    expect(await root.delete(`/root/users/${self.id}?force=true`)).toMatchObject(refusal(409));
    expect((await root.get('/users/self')).body.id).toBe(self.id);
  });
});

describe('any brand’s key for the home (D-083)', () => {
  it('means the same, and is echoed and patched under the key that was sent', async () => {
    const user = await create({ acme_home: 'acme' });
    expect(user.properties).toMatchObject({ acme_home: 'acme' });
    expect(user.properties).not.toHaveProperty('platform_home');
    const patched = await patch(user, { op: 'replace', path: '/properties/acme_home', value: 'root' });
    expect(patched.body.properties.acme_home).toBe('root');
    expect(await patch(user, { op: 'replace', path: '/properties/platform_home', value: 'root' })).toMatchObject(
      refusal(422),
    );
    expect(await patch(user, { op: 'add', path: '/properties/platform_home', value: 'root' })).toMatchObject(
      refusal(400),
    );
    expect(await patch(user, { op: 'replace', path: '/properties/acme_home', value: 'nowhere' })).toMatchObject(
      refusal(400, '/properties/acme_home'),
    );
  });

  it('is refused twice in one object', async () => {
    expect(await refused({ acme_home: 'root', platform_home: 'root' })).toMatchObject(refusal(400));
    expect(await refused({ acme_home: 'root', other_home: 'root' })).toMatchObject(
      refusal(400, '/properties/other_home', 'means the same as acme_home'),
    );
    expect(await refused({ ACME_home: 'root' })).toMatchObject(refusal(400, '/properties/ACME_home'));
  });
});
