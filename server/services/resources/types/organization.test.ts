import { beforeAll, describe, expect, it } from 'vitest';
import { refusal, sharedPlatform } from '../../../testing/platform.ts';

const TYPE_ID = '23ba3299-b04e-4c5c-9b3d-64939b22944e';
const RESERVED =
  'orgs users groups workspaces environments lambdas health about rules top sync bootstrap migrate upgrade logs ' +
  'resourcestates resourcetypes environmenttypes datatypes visibilitytypes requirementtypes oauth auth accounts ' +
  'directories info init';

const platform = sharedPlatform();
const { root } = platform;

beforeAll(async () => {
  await root.create('/root', { name: 'north' });
  await root.create('/orgs', { name: 'south' });
});

describe('the properties of an organization (D-040)', () => {
  it('shows root as root, a child of root by its bare name and a deeper one as parent.child', async () => {
    await root.create('/north', { name: 'sales' });
    await root.create('/north.sales', { name: 'web' });
    for (const fqon of ['root', 'north', 'south', 'north.sales', 'north.sales.web']) {
      const reply = await root.get(`/${fqon}`);
      expect(reply).toMatchObject({ status: 200, body: { name: fqon.split('.').at(-1), properties: { fqon } } });
    }
  });

  it('answers the create with the full record and its address', async () => {
    const env = { REGION: 'eu', EMPTY: '' };
    const reply = await root.post('/north', { name: 'full', description: 'All of it', properties: { env } });
    const { metaUrl } = platform.emulator;
    const north = (await root.get('/north')).body;
    expect(reply.status).toBe(201);
    expect(reply.headers.get('location')).toBe(`${metaUrl}/north.full`);
    expect(reply.body).toEqual({
      id: expect.any(String),
      name: 'full',
      description: 'All of it',
      resource_type: 'Platform::Resource::Organization',
      resource_state: 'Platform::Resource::State::Active',
      org: { typeId: TYPE_ID, id: north.id, href: `${metaUrl}/north`, properties: { fqon: 'north' } },
      owner: expect.objectContaining({ name: 'root', href: expect.stringContaining('/root/users/') }),
      created: expect.anything(),
      modified: expect.objectContaining({ action: 'create' }),
      properties: {
        env,
        fqon: 'north.full',
        parent: {
          typeId: TYPE_ID,
          id: north.id,
          name: 'north',
          href: `${metaUrl}/north`,
          properties: { fqon: 'north' },
        },
      },
    });
    expect((await root.get('/north.full')).body).toEqual(reply.body);
    expect((await root.get(`/root/orgs/${reply.body.id}`)).body).toEqual(reply.body);
  });

  it('links its children, and has no such member when there are none', async () => {
    await root.create('/root', { name: 'parent' });
    expect((await root.get('/parent')).body.properties).not.toHaveProperty('children');
    const child = await root.create('/parent', { name: 'child' });
    expect((await root.get('/parent')).body.properties.children).toEqual([
      {
        typeId: TYPE_ID,
        id: child.id,
        name: 'child',
        href: `${platform.emulator.metaUrl}/parent.child`,
        properties: { fqon: 'parent.child' },
      },
    ]);
  });

  it('makes fqon, children and parent itself, whatever is sent, so that an exported record can be posted elsewhere', async () => {
    await root.create('/root', {
      name: 'exported',
      tags: ['a'],
      variables: { b: 'c' },
      properties: { env: { A: '1' } },
    });
    await root.create('/exported', { name: 'inner' });
    const { id: _, ...exported } = (await root.get('/exported')).body;
    const copy = await root.create('/south', exported);
    expect(copy).toMatchObject({ name: 'exported', tags: ['a'], variables: { b: 'c' } });
    expect(copy.properties).toMatchObject({ env: { A: '1' }, fqon: 'south.exported', parent: { name: 'south' } });
    expect(copy.properties).not.toHaveProperty('children');
  });

  it('takes no other property, and names each by pointer', async () => {
    const violations: [properties: object, pointer: string, said: string][] = [
      [{ colour: 'red' }, '/properties/colour', 'is not a known member'],
      [{ env: { A: 1 } }, '/properties/env/A', 'must be a string'],
      [{ env: { 'not a name': 'x' } }, '/properties/env/not a name', 'is not a valid name of an environment variable'],
      [{ env: [] }, '/properties/env', 'must be an object'],
    ];
    for (const [properties, pointer, message] of violations)
      expect(await root.post('/root', { name: 'odd', properties })).toMatchObject(refusal(400, pointer, message));
    expect(await root.get('/odd')).toMatchObject(refusal(404));
  });

  it('lets a patch write env, but no server-set values', async () => {
    await root.create('/root', { name: 'patched' });
    const path = '/properties/env';
    const reply = await root.patch('/patched', [{ op: 'add', path, value: { A: '1' } }]);
    expect(reply).toMatchObject({ status: 200, body: { properties: { env: { A: '1' }, fqon: 'patched' } } });
    const fqon = await root.patch('/patched', [{ op: 'replace', path: '/properties/fqon', value: 'other' }]);
    expect(fqon).toMatchObject(refusal(422, '/properties/fqon'));
    expect((await root.get('/patched')).body).toEqual(reply.body);
  });

  it('has no PUT', async () => {
    const { id, ...record } = (await root.get('/north')).body;
    expect(await root.put(`/root/orgs/${id}`, record)).toMatchObject(refusal(404));
  });
});

describe('the name of an organization (D-041)', () => {
  it.each(['Acme', 'a.b', 'a_b', 'a b', 'é', '', '.', 'a'.repeat(64)])('refuses %j', async (name) => {
    expect(await root.post('/root', { name })).toMatchObject(refusal(400, '/name'));
  });

  it.each(['0', '-', 'a-1', 'a'.repeat(63)])('takes %s', async (name) => {
    expect((await root.create('/root', { name })).properties.fqon).toBe(name);
  });

  it('refuses the first path segments of either service', async () => {
    await root.create('/root', { name: 'deeper' });
    for (const name of RESERVED.split(' ')) {
      for (const under of ['/root', '/deeper'])
        expect(await root.post(under, { name }), name).toMatchObject(refusal(400, '/name'));
    }
  });

  it('is unique per parent only', async () => {
    await root.create('/root', { name: 'once' });
    expect(await root.post('/orgs', { name: 'once' })).toMatchObject(refusal(409));
    expect((await root.create('/once', { name: 'once' })).properties.fqon).toBe('once.once');
    expect(await root.post('/root', { name: 'root' })).toMatchObject(refusal(409));
  });

  it('changes the fqon of all below when it is changed', async () => {
    await root.create('/root', { name: 'old' });
    await root.create('/old', { name: 'mid' });
    await root.create('/old.mid', { name: 'leaf' });
    const workspace = await root.create('/old.mid.leaf/workspaces', { name: 'w' });
    const renamed = await root.patch('/old', [{ op: 'replace', path: '/name', value: 'new' }]);
    expect(renamed).toMatchObject({ status: 200, body: { name: 'new', properties: { fqon: 'new' } } });
    expect(await root.get('/old')).toMatchObject(refusal(404));
    expect((await root.get('/new.mid.leaf')).body.properties.fqon).toBe('new.mid.leaf');
    const { org } = (await root.get(`/new.mid.leaf/workspaces/${workspace.id}`)).body;
    expect(org).toMatchObject({
      properties: { fqon: 'new.mid.leaf' },
      href: `${platform.emulator.metaUrl}/new.mid.leaf`,
    });
  });

  it('changes by the same rules as it is given', async () => {
    await root.create('/root', { name: 'renamed' });
    const rename = (value: string) => root.patch('/renamed', [{ op: 'replace', path: '/name', value }]);
    expect(await rename('Upper')).toMatchObject(refusal(400, '/name'));
    expect(await rename('users')).toMatchObject(refusal(400, '/name'));
    expect(await rename('north')).toMatchObject(refusal(409));
    expect((await root.get('/renamed')).status).toBe(200);
  });

  it('of root cannot be changed, nor can root be deleted, by force or not', async () => {
    const before = (await root.get('/root')).body;
    const rename = [{ op: 'replace', path: '/name', value: 'top' }];
    for (const path of ['/root', `/root/orgs/${before.id}`]) {
      expect(await root.patch(path, rename)).toMatchObject(refusal(409));
      expect(await root.delete(path)).toMatchObject(refusal(409));
      expect(await root.delete(`${path}?force=true`)).toMatchObject(refusal(409));
    }
    expect((await root.get('/root')).body).toEqual(before);
  });
});
