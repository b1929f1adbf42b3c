import { beforeAll, expect, it } from 'vitest';
import { sharedPlatform } from '../../testing/platform.ts';
import { restoreWorldAfterEach } from '../../testing/restore-world-after-each.ts';
import { type Body, containerBody, createTenant, lambdaBody, type Tenant } from '../../testing/tenant.ts';

const platform = sharedPlatform();
const { root } = platform;
let tenant: Tenant;
/** Referring and referred records, by the two collections of the path. */
let pairs: Record<string, [Body, Body]>;

beforeAll(async () => {
  tenant = await createTenant(root, 'acme');
  const { org, environment } = tenant;
  const user = await root.create(`${org}/users`, { name: 'ada', properties: { password: 'x' } });
  const group = await root.create(`${org}/groups`, { name: 'staff', properties: { users: [user.id] } });
  const lambda = await root.create(`${environment}/lambdas`, lambdaBody(tenant, 'sum'));
  const port_mappings = [{ name: 'web', protocol: 'tcp', container_port: 80, expose_endpoint: true }];
  const container = await root.create(
    `${environment}/containers`,
    containerBody(tenant, 'web', { num_instances: 0, port_mappings }),
  );
  const api = await root.create(`${environment}/apis`, { name: 'site' });
  const endpoint = (implementation_type: string, { id }: Body, more: object = {}) =>
    root.create(`${org}/apis/${api.id}/apiendpoints`, {
      name: implementation_type,
      properties: { resource: `/${implementation_type}`, implementation_type, implementation_id: id, ...more },
    });
  const docker = (await root.get(`/root/providers/${tenant.docker}`)).body;
  pairs = {
    'groups/users': [group, user],
    'users/groups': [user, group],
    'lambdas/apiendpoints': [lambda, await endpoint('lambda', lambda)],
    'containers/apiendpoints': [container, await endpoint('container', container, { container_port_name: 'web' })],
    'providers/containers': [docker, container],
    'environments/providers': [{ id: tenant.environmentId }, docker],
  };
});
restoreWorldAfterEach(platform);

const referring = [
  'groups/users',
  'users/groups',
  'lambdas/apiendpoints',
  'containers/apiendpoints',
  'providers/containers',
];

function addresses(path: string) {
  const [ownerWord = '', collection = ''] = path.split('/');
  const [owner, referred] = pairs[path] ?? [];
  return {
    list: `/acme/${ownerWord}/${owner?.id}/${collection}`,
    word: collection,
    id: referred?.id,
    own: `/acme/${collection}/${referred?.id}`,
  };
}

// An environment with its own providers also lists those of its parents.
it.each([...referring, 'environments/providers'])(
  'an item of %s can be read there, and written below its parent',
  async (path) => {
    const { list, id, own: ownPath } = addresses(path);
    const before = (await root.get(ownPath)).body;
    expect((await root.get(`${list}/${id}`)).status).toBe(200);
    const answers = [
      await root.delete(`${list}/${id}`),
      await root.delete(`${list}/${id}?force=true`),
      await root.patch(`${list}/${id}`, [{ op: 'replace', path: '/name', value: 'renamed' }]),
      await root.put(`${list}/${id}`, before),
    ];
    for (const answer of answers) {
      expect(answer).toMatchObject({ status: 404, body: { message: expect.stringContaining(ownPath) } });
    }
    expect((await root.get(ownPath)).body).toEqual(before);
  },
);

it.each(referring)('%s take no new ones, and are not written as a whole (D-004)', async (path) => {
  const { list, word: collection, id } = addresses(path);
  const answers = [
    await root.post(list, { name: 'new', properties: { password: 'x' } }),
    await root.put(list, []),
    await root.post(`${list}/${id}`, {}),
    // Without ids a group's members are not changed either (D-073).
    ...(path === 'groups/users' ? [] : [await root.delete(list), await root.patch(list, [])]),
  ];
  for (const answer of answers) {
    expect(answer).toMatchObject({
      status: 404,
      body: { message: expect.stringContaining(`/acme/${collection}/{id}`) },
    });
  }
});

it.each(['groups/users', 'users/groups'])('membership ends where the message for an item of %s says', async (path) => {
  const { list, id } = addresses(path);
  const [group, user] = pairs['groups/users'] ?? [];
  const refused = await root.delete(`${list}/${id}`);
  const [, address = ''] = /DELETE (\S+\?id=\S+)$/.exec(refused.body.message) ?? [];
  expect(await root.delete(address)).toMatchObject({ status: 200, body: [] });
  expect((await root.get(`/acme/users/${user?.id}`)).status).toBe(200);
  expect((await root.get(`/acme/groups/${group?.id}`)).status).toBe(200);
});

it.each(['groups/users', 'users/groups'])(
  'the message for %s names the address of memberships (D-073)',
  async (path) => {
    const { message } = (await root.post(addresses(path).list, {})).body;
    expect(message).toContain('PATCH or DELETE /acme/groups/{id}/users?id={user id}');
  },
);

it.each(referring)('the message for an item of %s names no method that its type lacks', async (path) => {
  const { list, id, own: ownPath } = addresses(path);
  const { message } = (await root.put(`${list}/${id}`, {})).body;
  expect(message).not.toContain('PUT');
  expect((await root.patch(ownPath, [])).status).toBe(200);
});
