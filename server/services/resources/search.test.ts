import { beforeAll, describe, expect, it } from 'vitest';
import { sharedPlatform } from '../../testing/platform.ts';
import { type Body, createTenant, grant, makeUser } from '../../testing/tenant.ts';

const platform = sharedPlatform();
const { root } = platform;
beforeAll(async () => {
  await createTenant(root, 'acme');
  await createTenant(root, 'acne');
  await createTenant(root, 'rival');
  await root.create('/acme', { name: 'labs' });
  const user = (name: string, email: string, phoneNumber = '') => ({
    name,
    properties: { password: 'x', email, phoneNumber },
  });
  await root.create('/root/users', user('ada', 'ada@example.com', '+44 1'));
  await root.create('/acme/users', user('adam', 'adam@acme.example'));
  await root.create('/acme.labs/users', user('bella', 'bella@acme.example', '+44 1'));
  await root.create('/rival/users', user('a*a', 'star@rival.example'));
  for (const at of ['/root', '/acme', '/rival']) await root.create(`${at}/groups`, { name: 'staff' });
  await root.create('/acme/groups', { name: 'staffers' });
});

const names = async (path: string): Promise<string[]> => (await root.get(path)).body.map((record: Body) => record.name);

describe('search by the beginning of a name (D-188)', () => {
  it.each([
    ['orgs', 'ac', ['acme', 'acne']],
    ['orgs', 'acme', ['acme']],
    ['orgs', 'r', ['root', 'rival']],
    ['orgs', 'ACME', []],
    ['orgs', '*', []],
    ['workspaces', 'w', ['ws', 'ws', 'ws']],
    ['environments', 'env', ['env', 'env', 'env']],
    ['environments', 'x', []],
  ])('/%s/search?name=%s is an array of names', async (collection, start, expected) => {
    expect((await root.get(`/${collection}/search?name=${start}`)).body).toEqual(expected);
  });

  it('needs a name', async () => {
    for (const collection of ['orgs', 'workspaces', 'environments']) {
      expect(await root.get(`/${collection}/search`)).toMatchObject({ status: 400 });
    }
  });
});

describe('search for users and groups everywhere (D-189)', () => {
  it.each([
    ['users/search?name=ada', ['ada']],
    ['users/search?email=adam@acme.example', ['adam']],
    ['users/search?phoneNumber=%2B44%201', ['ada', 'bella']],
    ['users/search?name=unknown', []],
    ['users/search?name=ada&expand=whatever&username=x', ['ada']],
    ['groups/search?name=staff', ['staff', 'staff', 'staff']],
    ['groups/search?name=staff&expand=false', ['staff', 'staff', 'staff']],
  ])('/%s', async (path, expected) => {
    expect(await names(`/${path}`)).toEqual(expected);
    for (const record of (await root.get(`/${path}`)).body) expect(record).toHaveProperty('resource_type');
  });

  it.each(['users/search', 'users/search?name=a&email=b', 'users/search?username=ada'])(
    '/%s is 400: exactly one criterion',
    async (path) => {
      expect(await root.get(`/${path}`)).toMatchObject({
        status: 400,
        body: { message: expect.stringContaining('one of') },
      });
    },
  );

  it.each(['groups/search', 'groups/search?id=x'])('/%s is 400: there is one criterion, the name', async (path) => {
    expect(await root.get(`/${path}`)).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining("'name' is required") },
    });
  });
});

describe('search for users of an organization and all above it (D-189)', () => {
  it.each([
    ['root', 'name=ada', ['ada']],
    ['acme', 'username=ada', ['ada']],
    ['root', 'name=adam', []],
    ['acme', 'name=ada*', ['ada', 'adam']],
    ['acme.labs', 'email=*@acme.example', ['adam', 'bella']],
    ['acme.labs', 'name=*', ['root', 'ada', 'adam', 'bella']],
    ['acme.labs', 'name=a*m', ['adam']],
    ['acme.labs', 'name=*d*m*', ['adam']],
    ['acme.labs', 'name=a*a*m*m', []],
    ['acme.labs', 'phoneNumber=*1', ['ada', 'bella']],
    ['rival', 'name=a*a', ['ada', 'a*a']],
  ])('/%s/users/search?%s', async (fqon, query, expected) => {
    expect(await names(`/${fqon}/users/search?${query}`)).toEqual(expected);
  });

  it('takes exactly one criterion', async () => {
    for (const query of ['', '?firstName=x', '?name=a&username=b']) {
      expect(await root.get(`/acme/users/search${query}`)).toMatchObject({ status: 400 });
    }
    expect(await root.get('/nowhere/users/search?name=x')).toMatchObject({ status: 404 });
  });

  it('finds only whom the caller may view (D-118)', async () => {
    const { id, client } = await makeUser(platform, 'reader');
    const found = async () => (await client.get('/acme/users/search?name=ada*')).body.map((user: Body) => user.name);
    expect(await found()).toEqual([]);
    await grant(root, '/acme', 'user.view', id);
    expect(await found()).toEqual(['adam']);
    expect((await client.get('/orgs/search?name=a')).body).toEqual([]);
  });
});
