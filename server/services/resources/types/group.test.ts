import { beforeAll, describe, expect, it } from 'vitest';
import { refusal, sharedPlatform } from '../../../testing/platform.ts';
import { type Body, createTenant, grant, makeUser, type Tenant } from '../../../testing/tenant.ts';

const UNKNOWN_ID = '00000000-0000-4000-8000-000000000000';

const platform = sharedPlatform();
const { root } = platform;
let tenant: Tenant;
let [ada, bob, cid] = ['', '', ''];
beforeAll(async () => {
  tenant = await createTenant(root, 'acme');
  const make = async (name: string) => (await root.create('/root/users', { name, properties: { password: 'p' } })).id;
  [ada, bob, cid] = [await make('ada'), await make('bob'), await make('cid')];
});

let createdCount = 0;
const create = (users?: unknown, name = `group-${createdCount++}`): Promise<Body> =>
  root.create('/acme/groups', { name, ...(users !== undefined && { properties: { users } }) });
const pathOf = ({ id }: Body) => `/acme/groups/${id}`;
const patch = (group: Body, ...operations: object[]) => root.patch(pathOf(group), operations);
const idsOf = (links: Body) => links.map((link: Body) => link.id);
const membersOf = async (group: Body) => idsOf((await root.get(pathOf(group))).body.properties.users);

describe('the properties of a group (D-071)', () => {
  it('always shows its users, as links', async () => {
    const empty = await create();
    expect(empty.resource_type).toBe('Platform::Resource::Group');
    expect(empty.properties).toEqual({ users: [], parent: expect.objectContaining({ name: 'acme' }) });
    const group = await create([ada, bob.toUpperCase()]);
    const link = (id: string, name: string) => ({
      typeId: '58b6775d-37a5-44bc-9115-7331fc4964b7',
      id,
      name,
      href: `${platform.emulator.metaUrl}/root/users/${id}`,
    });
    expect(group.properties.users).toEqual([link(ada, 'ada'), link(bob, 'bob')]);
    expect((await root.get(pathOf(group))).body).toEqual(group);
    expect((await root.get(`${pathOf(group)}/users`)).body).toEqual(group.properties.users);
    const records = (await root.get(`${pathOf(group)}/users?expand=true`)).body;
    expect(records[0]).toEqual((await root.get(`/root/users/${ada}`)).body);
  });

  it('can be exported, links and all, and posted elsewhere', async () => {
    const source = await create([ada, bob]);
    const { id: _, ...exported } = (await root.get(pathOf(source))).body;
    const copy = await root.create('/root/groups', exported);
    expect(copy.properties.users).toEqual(source.properties.users);
  });

  it.each([
    ['/properties/users', 'ada'],
    ['/properties/users/0', ['ada']],
    ['/properties/users/1', () => [ada, UNKNOWN_ID]],
    ['/properties/users/0', () => [tenant.organizationId]],
  ])('refuses at %s what names no user', async (pointer, users) => {
    const properties = { users: typeof users === 'function' ? users() : users };
    expect(await root.post('/acme/groups', { name: 'refused', properties })).toMatchObject(refusal(400, pointer));
  });

  it('has no other property, and no PUT', async () => {
    const body = { name: 'refused', properties: { members: [] } };
    expect(await root.post('/acme/groups', body)).toMatchObject(refusal(400, '/properties/members'));
    const group = await create();
    expect(await root.put(pathOf(group), group)).toMatchObject(refusal(404));
  });
});

describe('names and membership (D-073)', () => {
  it('has a name that is unique in its organization', async () => {
    await create([], 'once');
    expect(await root.post('/acme/groups', { name: 'once' })).toMatchObject(refusal(409));
    expect((await root.post('/root/groups', { name: 'once' })).status).toBe(201);
  });

  it('adds and removes users by query, and answers with the links of all members', async () => {
    const group = await create([ada]);
    const path = `${pathOf(group)}/users`;
    const added = await root.send('PATCH', `${path}?id=${bob}&id=${cid.toUpperCase()}&id=${ada}`);
    expect(added.status).toBe(200);
    expect(idsOf(added.body)).toEqual([ada, bob, cid]);
    expect(added.body).toEqual((await root.get(pathOf(group))).body.properties.users);
    const removed = await root.send('DELETE', `${path}?id=${ada}&id=${cid}`);
    expect(removed).toMatchObject({ status: 200, body: [{ id: bob, name: 'bob' }] });
    const again = await root.send('DELETE', `${path}?id=${ada}`);
    expect(again).toMatchObject({ status: 200, body: [{ id: bob }] });
    expect(await membersOf(group)).toEqual([bob]);
  });

  it('ignores a body that is sent along', async () => {
    const group = await create();
    const headers = { 'Content-Type': 'text/plain' };
    const reply = await root.send('PATCH', `${pathOf(group)}/users?id=${ada}`, { body: 'anything', headers });
    expect(reply).toMatchObject({ status: 200, body: [{ id: ada }] });
  });

  it.each(['PATCH', 'DELETE'])('refuses a %s without an id, or with one that names no user', async (verb) => {
    const group = await create([ada]);
    for (const query of ['', '?id=', '?id=ada', `?id=${UNKNOWN_ID}`, `?id=${ada}&id=${tenant.organizationId}`]) {
      expect(await root.send(verb, `${pathOf(group)}/users${query}`), query).toMatchObject(refusal(400));
    }
    expect(await membersOf(group)).toEqual([ada]);
    expect(await root.send(verb, `/acme/groups/${UNKNOWN_ID}/users?id=${ada}`)).toMatchObject(refusal(404));
  });

  it('takes part in rights at once', async () => {
    const { id, client } = await makeUser(platform, 'member');
    const group = await create();
    await grant(root, tenant.environment, 'environment.view', group.id);
    expect(await client.get(tenant.environment)).toMatchObject(refusal(403));
    await root.send('PATCH', `${pathOf(group)}/users?id=${id}`);
    expect((await client.get(tenant.environment)).status).toBe(200);
    await root.send('DELETE', `${pathOf(group)}/users?id=${id}`);
    expect(await client.get(tenant.environment)).toMatchObject(refusal(403));
  });
});

describe('a JSON Patch of the membership (D-073)', () => {
  const path = '/properties/users';
  it.each<[string, () => object[], () => string[]]>([
    ['adds at the end', () => [{ op: 'add', path: `${path}/-`, value: cid }], () => [ada, bob, cid]],
    ['adds at an index', () => [{ op: 'add', path: `${path}/0`, value: cid }], () => [cid, ada, bob]],
    ['adds one id to the whole', () => [{ op: 'add', path, value: cid }], () => [ada, bob, cid]],
    ['adds a list in place of the whole', () => [{ op: 'add', path, value: [cid] }], () => [cid]],
    ['replaces the whole', () => [{ op: 'replace', path, value: [cid, ada] }], () => [cid, ada]],
    ['replaces the whole by none', () => [{ op: 'replace', path, value: [] }], () => []],
    ['removes by index', () => [{ op: 'remove', path: `${path}/0` }], () => [bob]],
    ['removes by id', () => [{ op: 'remove', path, value: bob }], () => [ada]],
    ['removes only a list of ids', () => [{ op: 'remove', path, value: [bob, cid] }], () => [ada]],
    ['adds who is in once only', () => [{ op: 'add', path: `${path}/-`, value: ada }], () => [ada, bob]],
    [
      'goes on from what the operations before have left',
      () => [
        { op: 'add', path, value: cid },
        { op: 'remove', path, value: ada },
        { op: 'remove', path: `${path}/0` },
      ],
      () => [cid],
    ],
  ])('%s', async (_, operations, expected) => {
    const group = await create([ada, bob]);
    const reply = await patch(group, ...operations());
    expect(reply.status).toBe(200);
    expect(idsOf(reply.body.properties.users)).toEqual(expected());
    expect(await membersOf(group)).toEqual(expected());
  });

  it('refuses who is no user with 400, an index beyond the end with 422', async () => {
    const group = await create([ada]);
    expect(await patch(group, { op: 'add', path: `${path}/-`, value: UNKNOWN_ID })).toMatchObject(refusal(400));
    expect(await patch(group, { op: 'remove', path: `${path}/1` })).toMatchObject(refusal(422, `${path}/1`));
    expect(await membersOf(group)).toEqual([ada]);
  });
});
