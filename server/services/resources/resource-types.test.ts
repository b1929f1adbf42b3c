import { beforeAll, describe, expect, it } from 'vitest';
import { typeIdOf, typeNames } from '../../model/type-names.ts';
import { referenceWords } from '../../model/type-words.ts';
import { sharedPlatform, startPlatform } from '../../testing/platform.ts';
import { type Body, containerBody, createTenant, type Tenant } from '../../testing/tenant.ts';

const UNKNOWN_ID = '00000000-0000-4000-8000-000000000000';

const { root } = sharedPlatform();
let acme: Tenant;
beforeAll(async () => {
  acme = await createTenant(root, 'acme');
  await root.create('/acme', { name: 'labs' });
  await root.create('/acme.labs/workspaces', { name: 'bench' });
  await root.create(`${acme.environment}/containers`, containerBody(acme, 'web', { image: 'nginx:1' }));
  await root.create(`${acme.environment}/containers`, containerBody(acme, 'cache', { image: 'redis:7' }));
  const resource_type = 'Platform::Configuration::Provider::Logging';
  await root.create('/acme/providers', { name: 'logs', resource_type });
});

const names = async (path: string): Promise<string[]> => (await root.get(path)).body.map((record: Body) => record.name);
const CONTAINER = typeIdOf('Resource::Container');

describe('reference lists (D-006, D-084)', () => {
  it.each(referenceWords)('%s is a list of ids and names, with and without an organization', async (collection) => {
    const { status, body } = await root.get(`/${collection}`);
    expect(status).toBe(200);
    expect(body.length).toBeGreaterThan(0);
    for (const reference of body) expect(reference).toMatchObject({ id: expect.any(String), name: expect.any(String) });
    expect(new Set(body.map((reference: Body) => reference.id)).size).toBe(body.length);
    expect((await root.get(`/acme/${collection}`)).body).toEqual(body);
    expect((await root.get(`/acme/${collection}?_=123&name=x`)).body).toEqual(body);
    expect(await root.get(`/nowhere/${collection}`)).toMatchObject({ status: 404 });
  });

  it.each(referenceWords)('%s cannot be changed', async (collection) => {
    const status = collection === 'resourcetypes' ? 501 : 404;
    expect(await root.post(`/acme/${collection}`, { name: 'x' })).toMatchObject({ status });
    expect(await root.delete(`/acme/${collection}/${UNKNOWN_ID}`)).toMatchObject({ status });
  });

  it('names every type in full, and tells more of it when expanded', async () => {
    const links = (await root.get('/acme/resourcetypes')).body;
    expect(links).toEqual(typeNames.map((name) => ({ id: typeIdOf(name), name: `Platform::${name}` })));
    const records = (await root.get('/acme/resourcetypes?expand=true')).body;
    expect(records.map((record: Body) => record.id)).toEqual(links.map((link: Body) => link.id));
    expect(records.find((record: Body) => record.id === CONTAINER)).toEqual({
      id: CONTAINER,
      name: 'Platform::Resource::Container',
      description: expect.any(String),
      properties: { word: 'containers', noun: 'container', parents: ['environments'] },
    });
  });
});

describe('one type (D-084)', () => {
  const spellings = [
    CONTAINER,
    CONTAINER.toUpperCase(),
    'Platform%3A%3AResource%3A%3AContainer',
    'X::Resource::Container',
  ];

  it.each(spellings)('can be asked for as %s', async (type) => {
    expect((await root.get(`/acme/resourcetypes/${type}`)).body.name).toBe('Platform::Resource::Container');
  });

  it('has a JSON Schema of its properties, and a list of them', async () => {
    const schema = (await root.get(`/acme/resourcetypes/${CONTAINER}/schema`)).body;
    expect(schema).toMatchObject({
      type: 'object',
      properties: { image: { type: 'string' }, num_instances: { type: 'integer' } },
      required: expect.arrayContaining(['container_type', 'image', 'provider']),
    });
    const properties = (await root.get(`/acme/resourcetypes/${CONTAINER}/typeproperties`)).body;
    for (const name of ['image', 'container_type'])
      expect(properties).toContainEqual({ name, data_type: 'string', requirement_type: 'required' });
    expect(properties.map((property: Body) => property.name)).toEqual(Object.keys(schema.properties));
    for (const name of typeNames) {
      for (const subpath of ['', '/schema', '/typeproperties', '/resources']) {
        expect((await root.get(`/acme/resourcetypes/${typeIdOf(name)}${subpath}`)).status).toBe(200);
      }
    }
  });

  it('is 404 if unknown, 400 if it is neither id nor name', async () => {
    for (const subpath of ['', '/schema', '/typeproperties', '/resources', '/resources/search?name=x']) {
      expect(await root.get(`/acme/resourcetypes/${UNKNOWN_ID}${subpath}`)).toMatchObject({ status: 404 });
      expect(await root.get(`/acme/resourcetypes/X::Gadget${subpath}`)).toMatchObject({ status: 404 });
      expect(await root.get(`/acme/resourcetypes/gadget${subpath}`)).toMatchObject({ status: 400 });
      expect(await root.get(`/nowhere/resourcetypes/${CONTAINER}${subpath}`)).toMatchObject({ status: 404 });
    }
  });

  it('cannot be made, changed or deleted (D-211)', async () => {
    const typePath = `/acme/resourcetypes/${CONTAINER}`;
    for (const path of [typePath, `${typePath}/typeproperties`, `${typePath}/typeproperties/${UNKNOWN_ID}`]) {
      for (const method of ['POST', 'PATCH', 'DELETE']) {
        expect(await root.send(method, path, { body: [] }), `${method} ${path}`).toMatchObject({
          status: 501,
          body: { code: 501, reason: 'not_supported', message: expect.stringContaining('not emulated') },
        });
      }
    }
  });
});

describe('the resources of a type (D-085)', () => {
  const resourcesPath = (fqon: string, type: string) => `/${fqon}/resourcetypes/${type}/resources`;

  it('are those that the organization owns, at any depth, without its sub-organizations', async () => {
    expect(await names(resourcesPath('acme', CONTAINER))).toEqual(['web', 'cache']);
    expect(await names(resourcesPath('root', CONTAINER))).toEqual([]);
    expect(await names(resourcesPath('acme', typeIdOf('Resource::Workspace')))).toEqual(['ws']);
    expect(await names(resourcesPath('acme.labs', 'Platform::Resource::Workspace'))).toEqual(['bench']);
    expect(await names(resourcesPath('acme', typeIdOf('Resource::Organization')))).toEqual(['labs']);
  });

  it('are of every sub-type when the type is abstract, and not inherited', async () => {
    expect(await names(resourcesPath('acme', typeIdOf('Configuration::Provider')))).toEqual(['logs']);
    expect(await names(resourcesPath('acme', 'X::Configuration::Provider::Logging'))).toEqual(['logs']);
    expect(await names(resourcesPath('acme', 'X::Configuration::Provider::Kong'))).toEqual([]);
  });

  it('are of entitlements those of the organization itself (D-119)', async () => {
    const entitlements = (await root.get('/acme/entitlements')).body;
    const path = resourcesPath('acme', typeIdOf('Resource::Entitlement'));
    expect(entitlements).not.toEqual([]);
    expect((await root.get(path)).body).toEqual(entitlements);
    const search = await root.get(`${path}/search?action=org.view&expand=true`);
    expect(search.body).toMatchObject([{ properties: { action: 'org.view' } }]);
  });

  it('are shown and filtered as in every list', async () => {
    const [expanded] = (await root.get(`${resourcesPath('acme', CONTAINER)}?expand=true&image=redis:7`)).body;
    expect(expanded).toMatchObject({ name: 'cache', org: {}, properties: { image: 'redis:7' } });
    const [compact] = (await root.get(`${resourcesPath('acme', CONTAINER)}?compact=true`)).body;
    expect(compact).not.toHaveProperty('org');
  });

  it('can be searched by at least one property', async () => {
    const search = `${resourcesPath('acme', CONTAINER)}/search`;
    expect(await names(`${search}?image=redis:7`)).toEqual(['cache']);
    expect(await names(`${search}?image=redis:7&name=web`)).toEqual([]);
    for (const query of ['', '?expand=true', '?expand=true&compact=true']) {
      expect(await root.get(search + query)).toMatchObject({ status: 400 });
    }
  });
});

describe('a prefix of one’s own (D-080)', () => {
  it('is in all output, while any is taken on input', async () => {
    const other = await startPlatform({ typePrefix: 'Acme' });
    try {
      const record = await other.root.create('/root/providers', {
        name: 'logs',
        resource_type: 'Platform::Configuration::Provider::Logging',
      });
      expect(record).toMatchObject({
        resource_type: 'Acme::Configuration::Provider::Logging',
        resource_state: 'Acme::Resource::State::Active',
      });
      const everything = [record];
      for (const path of ['/root/resourcetypes?expand=true', '/resourcestates', '/root/resources?expand=true']) {
        everything.push((await other.root.get(path)).body);
      }
      expect(JSON.stringify(everything)).not.toContain('Platform::');
    } finally {
      await other.stop();
    }
  });
});
