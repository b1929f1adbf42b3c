import { beforeAll, describe, expect, it } from 'vitest';
import { send } from '../../testing/checked-client.ts';
import { type ApiClient, sharedPlatform } from '../../testing/platform.ts';
import { type Body, createTenant, lambdaBody, makeUser, type Tenant } from '../../testing/tenant.ts';

const UNKNOWN_ID = '00000000-0000-4000-8000-000000000000';

const platform = sharedPlatform();
const { root } = platform;
let acme: Tenant;
let rival: Tenant;
let lambda: Body;
let ada: { id: string; client: ApiClient };
beforeAll(async () => {
  acme = await createTenant(root, 'acme');
  rival = await createTenant(root, 'rival');
  lambda = await root.create(`${acme.environment}/lambdas`, lambdaBody(acme, 'sum'));
  ada = await makeUser(platform, 'ada');
});

describe('routes of no type (D-015)', () => {
  const open = (path: string) => send('GET', `${platform.emulator.metaUrl}${path}`);

  it('health and about are open, all others are not', async () => {
    expect((await open('/health')).body).toEqual({ status: 'healthy' });
    expect((await open('/about')).body).toEqual({
      status: 'healthy',
      url: platform.emulator.baseUrl,
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      version: expect.any(String),
      services: expect.objectContaining({ resources: expect.any(String), containers: expect.any(String) }),
    });
    for (const path of ['/acme/health', '/users/self', '/orgs', '/users', '/rules', '/acme/context', '/acme/actions']) {
      expect((await open(path)).status).toBe(401);
    }
  });

  it('GET F/health tells more', async () => {
    const { status, body } = await root.get('/acme/health');
    expect(status).toBe(200);
    expect(body).toMatchObject({ status: 'healthy', version: expect.any(String), services: expect.any(Object) });
  });

  it('GET /users/self is the caller, who needs no right for it', async () => {
    const self = await ada.client.get('/users/self');
    expect(self).toMatchObject({
      status: 200,
      body: { id: ada.id, name: 'ada', org: { properties: { fqon: 'root' } } },
    });
    expect(self.body.properties).not.toHaveProperty('password');
    expect((await ada.client.get('/root')).status).toBe(403);
    expect((await ada.client.get('/orgs')).body).toEqual([]);
  });

  it('GET /orgs and /users list everything, root included', async () => {
    const names = async (path: string) => (await root.get(path)).body.map((record: { name: string }) => record.name);
    expect(await names('/orgs')).toEqual(['root', 'acme', 'rival']);
    expect(await names('/users')).toEqual(['root', 'ada']);
  });

  it('GET /rules[?type=] lists the rules of all policies', async () => {
    const policy = await root.create('/acme/policies', { name: 'caps' });
    await root.create(`/acme/policies/${policy.id}/rules`, {
      name: 'few',
      resource_type: 'Platform::Resource::Rule::Limit',
      properties: {
        match_actions: [{ action: 'workspace.create' }],
        eval_logic: { property: 'workspaces.count', operator: '<', value: 100 },
      },
    });
    const count = async (query: string) => (await root.get(`/rules${query}`)).body.length;
    expect(await count('')).toBe(1);
    expect(await count('?type=Limit')).toBe(1);
    expect(await count('?type=Event')).toBe(0);
  });

  it('GET F/{path}/context names the parents of a resource', async () => {
    const link = (id: string) => expect.objectContaining({ id, href: expect.stringMatching(/^http:/) });
    const [organization, workspace, environment, resource] = [
      acme.organizationId,
      acme.workspaceId,
      acme.environmentId,
      lambda.id,
    ].map(link);
    expect((await root.get('/acme/context')).body).toEqual({ organization });
    expect((await root.get(`${acme.workspace}/context`)).body).toEqual({ organization, workspace });
    const inside = { organization, workspace, environment };
    expect((await root.get(`${acme.environment}/context`)).body).toEqual(inside);
    expect((await root.get(`${acme.workspace}/environments/${acme.environmentId}/context`)).body).toEqual(inside);
    expect((await root.get(`/acme/lambdas/${lambda.id}/context`)).body).toEqual({ ...inside, resource });
    expect((await root.get(`${rival.workspace}/environments/${acme.environmentId}/context`)).status).toBe(404);
  });

  it('GET F/actions is empty everywhere', async () => {
    const paths = ['/acme', acme.workspace, acme.environment, `/acme/lambdas/${lambda.id}`];
    for (const path of paths) {
      expect(await root.get(`${path}/actions`)).toMatchObject({ status: 200, body: [] });
    }
    expect((await root.get(`/acme/containers/${UNKNOWN_ID}/actions`)).status).toBe(404);
  });
});

describe('administration by root only (D-016, D-017)', () => {
  it('sync and bootstrap do nothing, for root', async () => {
    expect(await root.post('/sync')).toMatchObject({ status: 200, body: { synced: true } });
    expect(await root.post('/bootstrap', { what: 'ever' })).toMatchObject({
      status: 200,
      body: { bootstrapped: true },
    });
    for (const path of ['/sync', '/bootstrap', '/root/providers/initialize']) {
      expect((await ada.client.post(path)).status).toBe(403);
    }
  });

  it('POST F makes a sub-organization, POST /orgs one below root', async () => {
    const below = await root.create('/acme', { name: 'south' });
    expect(below).toMatchObject({ org: { id: acme.organizationId }, properties: { fqon: 'acme.south' } });
    const top = await root.create('/orgs', { name: 'third' });
    expect(top).toMatchObject({ org: { properties: { fqon: 'root' } }, properties: { fqon: 'third' } });
    expect((await root.post('/root', { name: 'third' })).status).toBe(409);
  });
});
