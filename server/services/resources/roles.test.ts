import { beforeAll, expect, it } from 'vitest';
import { makeAccount, rootPairOf } from '../../testing/account.ts';
import { type Reply, send } from '../../testing/checked-client.ts';
import { refusal, sharedPlatform } from '../../testing/platform.ts';
import { createTenant, lambdaBody, type Tenant } from '../../testing/tenant.ts';

const platform = sharedPlatform();
let tenant: Tenant;
beforeAll(async () => {
  tenant = await createTenant(platform.root, 'acme');
});

const roles = (method: string, body?: unknown, auth = rootPairOf(platform)): Promise<Reply> =>
  send(method, `${platform.emulator.baseUrl}/inspect/roles/${tenant.environmentId}`, { auth, body });
const roleOf = ({ body }: Reply, id: string) => body.holders.find((holder: { id: string }) => holder.id === id)?.role;

it('gives several people what belongs to a role, in one commit; takes it again; and gives what another has', async () => {
  const [ada, bob, eve] = [
    await makeAccount(platform, 'ada'),
    await makeAccount(platform, 'bob'),
    await makeAccount(platform, 'eve'),
  ];
  const as = (auth: string, method: string, path: string, body?: unknown) =>
    send(method, `${platform.emulator.metaUrl}${tenant.environment}${path}`, { auth, body });
  const newest = async () =>
    (await send('GET', `${platform.emulator.baseUrl}/inspect/history?limit=1`, { auth: rootPairOf(platform) })).body
      .newest;
  expect((await as(ada.bearer, 'GET', '')).status).toBe(403);
  const before = await newest();
  const viewers = await roles('PUT', { identities: [ada.id, bob.id], role: 'viewer' });
  expect([roleOf(viewers, ada.id), roleOf(viewers, bob.id), roleOf(viewers, eve.id)]).toEqual([
    'viewer',
    'viewer',
    undefined,
  ]);
  expect(await newest()).toBe(before + 1);
  expect((await as(ada.bearer, 'GET', '')).status).toBe(200);
  expect((await as(ada.bearer, 'POST', '/lambdas', lambdaBody(tenant, 'no'))).status).toBe(403);

  expect(roleOf(await roles('PUT', { identities: [ada.id], role: 'developer' }), ada.id)).toBe('developer');
  expect((await as(ada.bearer, 'POST', '/lambdas', lambdaBody(tenant, 'hers'))).status).toBe(201);
  // A developer cannot grant permissions.
  expect(await roles('PUT', { identities: [eve.id], role: 'viewer' }, ada.bearer)).toMatchObject(refusal(403));

  expect(roleOf(await roles('PUT', { identities: [eve.id], sameAs: ada.id }), eve.id)).toBe('developer');
  expect(roleOf(await roles('PUT', { identities: [ada.id], role: 'owner' }), ada.id)).toBe('owner');
  const removal = await roles('PUT', { identities: [ada.id, eve.id], role: 'none' });
  expect([roleOf(removal, ada.id), roleOf(removal, eve.id), roleOf(removal, bob.id)]).toEqual([
    undefined,
    undefined,
    'viewer',
  ]);
  expect((await as(eve.bearer, 'GET', '')).status).toBe(403);
});

it('counts what groups grant, and tells callers what they are permitted to do', async () => {
  const member = await makeAccount(platform, 'member');
  const group = await platform.root.create('/acme/groups', { name: 'team', properties: { users: [member.id] } });
  const permissions = async (auth: string, query = '') => {
    const reply = await send('GET', `${platform.emulator.baseUrl}/inspect/permissions${query}`, { auth });
    return reply.body as { actions: string[]; seesAll: boolean };
  };
  expect(await permissions(member.bearer)).toEqual({ actions: [], seesAll: false });
  const granted = await roles('PUT', { identities: [group.id], role: 'viewer' });
  expect(granted.body.holders.find((holder: { id: string }) => holder.id === member.id)).toMatchObject({
    role: 'viewer',
    isOwn: false,
    groups: ['team'],
  });
  const { actions } = await permissions(member.bearer);
  expect(actions).toContain('lambda.view');
  expect(actions).not.toContain('lambda.create');
  expect((await permissions(member.bearer, `?on=${tenant.environmentId}`)).actions).toContain('lambda.view');
  expect((await permissions(member.bearer, `?on=${tenant.organizationId}`)).actions).toEqual([]);
  expect(await permissions(rootPairOf(platform))).toMatchObject({ seesAll: true });
});

it.each([
  [{ identities: [] }],
  [{ identities: ['x'], role: 'viewer' }],
  [{ identities: ['3c0a4f0e-8f27-4b39-8d36-6f3c27f0a0a1'], role: 'viewer' }],
  [{ identities: ['3c0a4f0e-8f27-4b39-8d36-6f3c27f0a0a1'], role: 'king' }],
])('refuses %j', async (body) => {
  expect(await roles('PUT', body)).toMatchObject(refusal(400));
});
