import { beforeAll, describe, expect, it } from 'vitest';
import { typeWords } from '../../model/registry.ts';
import { listedOnlyWords } from '../../model/type-words.ts';
import { send } from '../../testing/checked-client.ts';
import { sharedPlatform } from '../../testing/platform.ts';

const platform = sharedPlatform();
const { root } = platform;
/** Ids of `acme > shop > dev` with a lambda, and of `acme.labs > bench`. */
const ids = { acme: '', labs: '', shop: '', dev: '', bench: '', lambda: '', user: '', root: '' };
const UNKNOWN_ID = '00000000-0000-4000-8000-000000000000';

beforeAll(async () => {
  ids.root = (await root.get('/root')).body.id;
  ids.acme = (await root.create('/root', { name: 'acme' })).id;
  ids.labs = (await root.create('/acme', { name: 'labs' })).id;
  ids.shop = (await root.create('/acme/workspaces', { name: 'shop' })).id;
  ids.bench = (await root.create('/acme.labs/workspaces', { name: 'bench' })).id;
  const environment = { name: 'dev', properties: { environment_type: 'test' } };
  ids.dev = (await root.create(`/acme/workspaces/${ids.shop}/environments`, environment)).id;
  await root.post('/root/providers/initialize');
  const [{ id }] = (await root.get('/root/providers?type=Lambda')).body;
  const properties = { provider: { id }, runtime: 'nodejs', code_type: 'code', code: 'x', handler: 'run' };
  ids.lambda = (await root.create(`/acme/environments/${ids.dev}/lambdas`, { name: 'sum', properties })).id;
  ids.user = (await root.create('/root/users', { name: 'ada', properties: { password: 'lovelace' } })).id;
});

const status = async (method: string, path: string, body?: unknown) => (await root.send(method, path, { body })).status;
const noRoute = (method: string, path: string) => ({
  code: 404,
  reason: 'no_route',
  message: `no route: ${method} ${path}`,
});

describe('a path is an organization and up to two pairs of type and id (D-002)', () => {
  it('takes one to five segments', async () => {
    expect((await root.get('/acme')).body.id).toBe(ids.acme);
    expect((await root.get('/acme/workspaces')).body).toHaveLength(1);
    expect((await root.get(`/acme/workspaces/${ids.shop}`)).body.id).toBe(ids.shop);
    expect((await root.get(`/acme/workspaces/${ids.shop}/environments`)).body).toHaveLength(1);
    expect((await root.get(`/acme/workspaces/${ids.shop}/environments/${ids.dev}`)).body.id).toBe(ids.dev);
  });

  it('has no route for more', async () => {
    const path = `/acme/workspaces/${ids.shop}/environments/${ids.dev}/lambdas`;
    for (const longer of [path, `${path}/${ids.lambda}`]) {
      expect((await root.get(longer)).body).toEqual(noRoute('GET', longer));
    }
  });

  it('names a deeper organization by all its names', async () => {
    expect((await root.get('/acme.labs')).body.id).toBe(ids.labs);
    for (const fqon of ['/labs', '/root.acme', '/root.acme.labs', '/acme.', '/acme..labs']) {
      expect(await status('GET', fqon)).toBe(404);
    }
  });

  it.each(['/acme/', '//acme//workspaces//', '/acme/workspaces/'])('answers %s without a redirect', async (path) => {
    expect(await status('GET', path)).toBe(200);
  });

  it('reads percent-encoded segments', async () => {
    expect(await status('GET', `/%61cme/%77orkspaces/${ids.shop.replace('-', '%2d')}`)).toBe(200);
    expect(await status('GET', '/acme%2Fworkspaces')).toBe(404);
  });
});

describe('a path is checked in order: words and ids, then the organization (D-003)', () => {
  it.each([
    ['GET', '/nowhere/gadgets'],
    ['POST', '/nowhere/gadgets'],
    ['GET', `/nowhere/gadgets/${UNKNOWN_ID}`],
    ['PATCH', `/nowhere/gadgets/${UNKNOWN_ID}`],
    ['PUT', `/nowhere/gadgets/${UNKNOWN_ID}`],
    ['DELETE', `/nowhere/gadgets/${UNKNOWN_ID}`],
    ['GET', `/nowhere/workspaces/${UNKNOWN_ID}/gadgets`],
    ['POST', `/nowhere/workspaces/${UNKNOWN_ID}/gadgets`],
    ['GET', `/nowhere/gadgets/${UNKNOWN_ID}/environments`],
    ['GET', `/nowhere/gadgets/${UNKNOWN_ID}/entitlements`],
    ['GET', `/nowhere/gadgets/${UNKNOWN_ID}/entitlements/${UNKNOWN_ID}`],
    ['GET', `/nowhere/workspaces/${UNKNOWN_ID}/gadgets/${UNKNOWN_ID}`],
    ['GET', `/nowhere/gadgets/${UNKNOWN_ID}/context`],
  ])("%s %s is 400: unknown resource type 'gadgets'", async (method, path) => {
    const { body } = await root.send(method, path);
    expect(body).toEqual({ code: 400, reason: 'invalid_parameter', message: "unknown resource type 'gadgets'" });
  });

  it.each([
    '/nowhere/workspaces/42',
    `/nowhere/workspaces/${UNKNOWN_ID}/environments/42`,
    '/nowhere/workspaces/42/environments',
    '/nowhere/entitlements/42',
    `/nowhere/workspaces/${UNKNOWN_ID}/entitlements/42`,
    '/nowhere/lambdas/42/env',
    '/top/lambdas/42',
    '/lambdas/42/env',
  ])('GET %s is 400: 42 is not a UUID', async (path) => {
    const { body } = await root.get(path);
    expect(body).toEqual({ code: 400, reason: 'invalid_parameter', message: "id '42' is not a UUID" });
  });

  it.each([
    '/nowhere',
    '/nowhere/workspaces',
    `/nowhere/workspaces/${UNKNOWN_ID}`,
    `/nowhere/workspaces/${UNKNOWN_ID}/environments`,
    `/nowhere/workspaces/${UNKNOWN_ID}/environments/${UNKNOWN_ID}`,
    '/nowhere/entitlements',
    '/nowhere/resourcetypes',
    '/nowhere/health',
    '/nowhere/env',
    '/nowhere/context',
    '/nowhere/users/search?name=x',
  ])("GET %s is 404: organization 'nowhere' not found", async (path) => {
    const { body } = await root.get(path);
    expect(body).toEqual({ code: 404, reason: 'not_found', message: "organization 'nowhere' not found" });
  });

  it.each(['/nowhere', '/nowhere/workspaces', `/nowhere/environments/${UNKNOWN_ID}/apis`, `/nowhere/licenses`])(
    "POST %s is 404: organization 'nowhere' not found",
    async (path) => {
      const { body } = await root.post(path, { name: 'x' });
      expect(body).toEqual({ code: 404, reason: 'not_found', message: "organization 'nowhere' not found" });
    },
  );

  it('takes ids in any letter case and gives them back in lower case', async () => {
    const { body } = await root.get(`/acme/workspaces/${ids.shop.toUpperCase()}`);
    expect(body.id).toBe(ids.shop);
    const second = `/acme/workspaces/${ids.shop.toUpperCase()}/environments/${ids.dev.toUpperCase()}`;
    expect((await root.get(second)).body.id).toBe(ids.dev);
    const id = 'ABCDEF00-1234-4000-8000-00000000ABCD';
    expect((await root.create('/root', { name: 'shouting', id })).id).toBe(id.toLowerCase());
  });
});

describe('type and id find a resource, whatever organization the path begins with (D-004)', () => {
  it('but the organization must exist', async () => {
    expect(await status('GET', `/root/lambdas/${ids.lambda}`)).toBe(200);
    expect(await status('GET', `/acme.labs/lambdas/${ids.lambda}`)).toBe(200);
    expect(await status('GET', `/nowhere/lambdas/${ids.lambda}`)).toBe(404);
  });

  it('and the type must be its own', async () => {
    expect((await root.get(`/acme/containers/${ids.lambda}`)).body).toEqual({
      code: 404,
      reason: 'not_found',
      message: `container ${ids.lambda} not found: ${ids.lambda} is the id of a lambda`,
    });
  });

  it('in the longer path it must be a child of the resource before it', async () => {
    expect(await status('GET', `/acme/environments/${ids.dev}/lambdas/${ids.lambda}`)).toBe(200);
    expect(await status('GET', `/acme/workspaces/${ids.bench}/environments/${ids.dev}`)).toBe(404);
    expect(await status('GET', `/acme/workspaces/${ids.shop}/lambdas/${ids.lambda}`)).toBe(404);
    expect(await status('GET', `/acme/workspaces/${ids.dev}/lambdas/${ids.lambda}`)).toBe(404);
  });

  it('which works for GET, PATCH, PUT and DELETE', async () => {
    const secrets = `/acme/environments/${ids.dev}/secrets`;
    const [{ id: provider }] = (await root.get('/acme/providers?type=CaaS')).body;
    const body = { name: 'keys', properties: { provider: { id: provider }, items: [{ key: 'a', value: 'b' }] } };
    const path = `${secrets}/${(await root.create(secrets, body)).id}`;
    expect(await status('GET', path)).toBe(200);
    const patched = await root.patch(path, [{ op: 'add', path: '/description', value: 'mine' }]);
    expect(patched).toMatchObject({ status: 200, body: { description: 'mine' } });
    expect((await root.put(path, body)).status).toBe(200);
    expect(await status('DELETE', `/acme/workspaces/${ids.shop}/secrets/${path.split('/').at(-1)}`)).toBe(404);
    expect(await status('DELETE', path)).toBe(204);
  });
});

describe('ways around type and organization (D-005)', () => {
  it('providers and rules answer for every sub-type', async () => {
    const [docker] = (await root.get('/root/providers?type=CaaS::Docker')).body;
    expect((await root.get(`/root/providers/${docker.id}`)).body.resource_type).toBe(
      'Platform::Configuration::Provider::CaaS::Docker',
    );
    const policy = (await root.create('/acme/policies', { name: 'caps' })).id;
    const rule = await root.create(`/acme/policies/${policy}/rules`, {
      name: 'few',
      resource_type: 'Platform::Resource::Rule::Limit',
      properties: {
        match_actions: [{ action: 'workspace.create' }],
        eval_logic: { property: 'workspaces.count', operator: '<', value: 100 },
      },
    });
    expect(await status('GET', `/acme/rules/${rule.id}`)).toBe(200);
  });

  it('resources finds any type by id, top one of a type', async () => {
    for (const id of Object.values(ids)) expect((await root.get(`/root/resources/${id}`)).body.id).toBe(id);
    expect((await root.get(`/top/lambdas/${ids.lambda}`)).body.id).toBe(ids.lambda);
    expect((await root.get(`/top/resources/${ids.lambda}`)).body.id).toBe(ids.lambda);
    expect((await root.get(`/top/lambdas/${ids.lambda}?embed=provider`)).body.properties.provider).toHaveProperty(
      'org',
    );
    expect(await status('GET', `/top/containers/${ids.lambda}`)).toBe(404);
    expect(await status('GET', `/top/gadgets/${ids.lambda}`)).toBe(400);
  });

  it('top finds an entitlement by id', async () => {
    const [entitlement] = (await root.get('/acme/entitlements?expand=true')).body;
    expect((await root.get(`/top/entitlements/${entitlement.id}`)).body).toEqual(entitlement);
    expect(await status('GET', `/top/entitlements/${ids.lambda}`)).toBe(404);
  });

  it('orgs/{id} is the organization itself: read, patched and deleted as by its fqon', async () => {
    const { id } = await root.create('/acme', { name: 'brief' });
    expect((await root.get(`/root/orgs/${id}`)).body).toEqual((await root.get('/acme.brief')).body);
    const patch = [{ op: 'add', path: '/description', value: 'not for long' }];
    expect((await root.patch(`/root/orgs/${id}`, patch)).body).toEqual((await root.get('/acme.brief')).body);
    expect((await root.patch('/acme.brief', patch)).body).toEqual((await root.get(`/root/orgs/${id}`)).body);
    expect(await status('DELETE', `/acme/orgs/${id}`)).toBe(204);
    expect(await status('GET', '/acme.brief')).toBe(404);
    expect((await root.delete(`/acme/orgs/${ids.root}`)).status).toBe(409);
  });

  it('a resource that is created through resources must have an allowed parent', async () => {
    expect(await status('POST', `/root/resources/${ids.dev}/apis`, { name: 'site' })).toBe(201);
    expect(await status('POST', `/root/resources/${ids.shop}/apis`, { name: 'site' })).toBe(404);
    expect(await status('POST', `/root/resources/${UNKNOWN_ID}/apis`, { name: 'site' })).toBe(422);
  });
});

describe('words (D-006, D-190, D-210)', () => {
  it.each([...typeWords, ...listedOnlyWords, 'resources', 'entitlements'])('GET F/%s is a list', async (collection) => {
    for (const path of [`/acme/${collection}`, `/acme/workspaces/${ids.shop}/${collection}`]) {
      expect(await root.get(path)).toMatchObject({ status: 200, body: expect.any(Array) });
    }
  });

  it.each([...listedOnlyWords])('%s are listed empty, and not emulated beyond that', async (collection) => {
    for (const parentPath of ['/acme', `/acme/environments/${ids.dev}`, `/acme/lambdas/${ids.lambda}`]) {
      expect((await root.get(`${parentPath}/${collection}?expand=true`)).body).toEqual([]);
      expect((await root.post(`${parentPath}/${collection}`, { name: 'x' })).body).toEqual({
        code: 501,
        reason: 'not_supported',
        message: expect.stringContaining(collection),
      });
    }
    for (const id of [UNKNOWN_ID, ids.lambda]) {
      expect(await status('GET', `/acme/${collection}/${id}`)).toBe(404);
      expect(await status('DELETE', `/acme/${collection}/${id}`)).toBe(404);
    }
    expect(await status('GET', `/acme/environments/${UNKNOWN_ID}/${collection}`)).toBe(404);
  });
});

describe('unknown routes (D-010)', () => {
  it.each([
    ['GET', '/'],
    ['PUT', '/acme'],
    ['DELETE', '/acme/users'],
    ['PUT', '/acme/users'],
    ['POST', `/acme/users/${UNKNOWN_ID}`],
    ['PUT', `/acme/workspaces/${UNKNOWN_ID}/environments`],
    ['DELETE', `/acme/workspaces/${UNKNOWN_ID}/environments`],
    ['POST', `/acme/workspaces/${UNKNOWN_ID}/environments/${UNKNOWN_ID}`],
    ['POST', '/users'],
    ['DELETE', '/orgs'],
    ['GET', '/sync'],
    ['GET', '/bootstrap'],
    ['POST', '/migrate'],
    ['POST', '/upgrade'],
    ['GET', '/logs'],
    ['POST', '/health'],
    ['GET', '/oauth/issue'],
    ['TRACE-LIKE', '/acme'],
  ])('%s %s is 404, with and without credentials', async (verb, path) => {
    const method = verb === 'TRACE-LIKE' ? 'PROPFIND' : verb;
    const answer = { status: 404, body: noRoute(method, path) };
    expect(await root.send(method, path)).toMatchObject(answer);
    expect(await send(method, `${platform.emulator.metaUrl}${path}`)).toMatchObject(answer);
  });

  it.each([
    ['POST', '/acme/environments'],
    ['POST', '/acme/resources'],
    ['PUT', '/acme/lambdas/ID'],
    ['POST', '/acme/lambdas/ID/scale'],
    ['POST', '/acme/lambdas/ID/redeploy'],
    ['POST', '/acme/lambdas/ID/containers'],
  ])('%s %s is 404 for who may ask', async (method, path) => {
    const requestPath = path.replace('ID', ids.lambda);
    expect((await root.send(method, requestPath, { body: { name: 'x' } })).body).toEqual(noRoute(method, requestPath));
  });

  it.each(['/orgs', '/users', '/rules', '/acme/users', `/acme/workspaces/${UNKNOWN_ID}/environments`])(
    'PATCH %s is 400: a list cannot be patched (D-090)',
    async (path) => {
      expect((await root.patch(path, [])).body).toMatchObject({ code: 400, message: expect.stringContaining('list') });
    },
  );

  it('HEAD is GET without the body', async () => {
    const got = await root.get('/acme');
    const head = await root.send('HEAD', '/acme');
    expect(head).toMatchObject({ status: 200, body: '' });
    expect(head.headers.get('content-type')).toBe(got.headers.get('content-type'));
    expect(Number(head.headers.get('content-length'))).toBe(JSON.stringify(got.body).length);
    expect(await root.send('HEAD', '/nowhere')).toMatchObject({ status: 404, body: '' });
  });
});

describe('statuses (D-008)', () => {
  it('POST is 201 with the record and an absolute Location; DELETE is 204, empty; the second DELETE is 404', async () => {
    const { status, body, headers } = await root.post('/acme/workspaces', { name: 'brief' });
    expect(status).toBe(201);
    const location = headers.get('location') ?? '';
    expect(location).toBe(`${platform.emulator.metaUrl}/acme/workspaces/${body.id}`);
    expect(body).toEqual((await root.get(location.slice(platform.emulator.metaUrl.length))).body);
    const deletion = await root.delete(`/acme/workspaces/${body.id}`);
    expect(deletion).toMatchObject({ status: 204, body: '' });
    expect(deletion.headers.get('content-type')).toBeNull();
    expect(deletion.headers.get('content-length')).toBeNull();
    expect(await root.delete(`/acme/workspaces/${body.id}`)).toMatchObject({ status: 404 });
  });

  it('redeploy of a provider is 202 and empty', async () => {
    const [{ id }] = (await root.get('/root/providers')).body;
    const reply = await root.post(`/root/providers/${id}/redeploy`);
    expect(reply).toMatchObject({ status: 202, body: '' });
    expect(reply.headers.get('content-length')).toBe('0');
  });

  it('promote is 202 with the full record', async () => {
    const production = { name: 'live', properties: { environment_type: 'production' } };
    const target = (await root.create(`/acme/workspaces/${ids.shop}/environments`, production)).id;
    const { status, body } = await root.post(`/acme/lambdas/${ids.lambda}/promote?target=${target.toUpperCase()}`);
    expect(status).toBe(202);
    expect(body).toMatchObject({ id: ids.lambda, org: {}, properties: { status: 'MIGRATING', runtime: 'nodejs' } });
  });
});
