import { beforeAll, describe, expect, it } from 'vitest';
import { typeOfWord, typeWords } from '../../model/registry.ts';
import { typeIdOf } from '../../model/type-names.ts';
import { makeSamples, recordsOf, type Samples } from '../../testing/make-samples.ts';
import { refusal, sharedPlatform } from '../../testing/platform.ts';
import { type Body, createTenant, type Tenant } from '../../testing/tenant.ts';

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const UNKNOWN_ID = '00000000-0000-4000-8000-000000000000';

const platform = sharedPlatform();
const { root } = platform;
let tenant: Tenant;
let self: Body;
let samples: Samples;
beforeAll(async () => {
  tenant = await createTenant(root, 'acme');
  self = (await root.get('/users/self')).body;
  samples = await makeSamples(root, tenant, self.id);
});

const { bodyOf, make, pathOf, read } = recordsOf(() => ({ root, samples }));
let ids = 0;

/** Every object in a record that looks like a link, with its place. */
function linksIn(value: unknown, path = ''): [string, Body][] {
  if (typeof value !== 'object' || value === null) return [];
  const below = Object.entries(value).flatMap(([name, member]) => linksIn(member, `${path}/${name}`));
  return 'href' in value ? [[path, value], ...below] : below;
}

function hasNull(value: unknown): boolean {
  return value === null || (typeof value === 'object' && Object.values(value).some(hasNull));
}

describe.each([...typeWords])('a record of %s', (collection) => {
  const { name: type } = typeOfWord(collection);

  it('has the members of a record and no others, none of them null (D-022, D-026)', async () => {
    const record = await make(collection, {
      description: 'mine',
      tags: ['a', 'b'],
      variables: { V: '1' },
      colour: 'green',
    });
    expect(Object.keys(record)).toEqual([
      ...['id', 'name', 'description', 'resource_type', 'resource_state', 'org', 'owner', 'created', 'modified'],
      ...['properties', 'variables', 'tags'],
    ]);
    expect(record).toMatchObject({ description: 'mine', tags: ['a', 'b'], variables: { V: '1' } });
    expect(hasNull(record)).toBe(false);
    expect(await read(collection, record)).toEqual(record);
    const plain = await make(collection);
    for (const member of ['description', 'variables', 'tags']) expect(plain).not.toHaveProperty(member);
  });

  it('contains its type, its owner, its creator and its times (D-023, D-024, D-025, D-035)', async () => {
    const { properties, ...record } = await make(collection);
    const user = expect.objectContaining({ typeId: typeIdOf('Resource::User'), id: self.id, name: 'root' });
    const organization = expect.objectContaining({ typeId: typeIdOf('Resource::Organization'), name: 'root' });
    expect(record).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
      name: expect.stringMatching(/^thing-/),
      resource_type: samples[collection].resource_type ?? `Platform::${type}`,
      resource_state: 'Platform::Resource::State::Active',
      org: {
        typeId: typeIdOf('Resource::Organization'),
        id: tenant.organizationId,
        href: `${platform.emulator.metaUrl}/acme`,
        properties: { fqon: 'acme' },
      },
      owner: collection === 'users' ? organization : user,
      created: {
        typeId: typeIdOf('Resource::User'),
        id: self.id,
        timestamp: expect.stringMatching(TIME),
      },
      modified: { action: 'create', user: self.id, timestamp: record.created.timestamp },
    });
    expect(properties.parent).toMatchObject({ id: expect.any(String), name: expect.any(String) });
  });

  it('has links that lead to the named resources (D-020, D-021, D-034)', async () => {
    const record = await make(collection);
    const links = linksIn(record);
    expect(links.map(([path]) => path)).toEqual(expect.arrayContaining(['/org', '/owner', '/properties/parent']));
    for (const [path, link] of links) {
      const { id, name, org, properties, resource_type } = (
        await root.get(link.href.replace(platform.emulator.metaUrl, ''))
      ).body;
      expect(link, path).toEqual({
        typeId: expect.any(String),
        id,
        ...(path !== '/org' && { name }),
        href: link.href,
        ...(resource_type === 'Platform::Resource::Organization' && { properties: { fqon: properties.fqon } }),
      });
      expect(link.typeId).toBe(typeIdOf(resource_type.replace('Platform::', '')));
      expect(org).toBeDefined();
    }
  });

  it('can be listed as a link, a record, and a record without who and when (D-020, D-036)', async () => {
    const record = await make(collection);
    const listOfOne = `/acme/${collection}?id=${record.id}`;
    const { id, name, properties } = record;
    expect((await root.get(listOfOne)).body).toEqual([
      {
        typeId: typeIdOf(record.resource_type.replace('Platform::', '')),
        id,
        name,
        href: `${platform.emulator.metaUrl}/${collection === 'orgs' ? properties.fqon : `acme/${collection}/${id}`}`,
        ...(collection === 'orgs' && { properties: { fqon: properties.fqon } }),
      },
    ]);
    expect((await root.get(`${listOfOne}&expand=true`)).body).toEqual([record]);
    const { org, owner, created, modified, ...compact } = record;
    expect((await root.get(`${listOfOne}&compact=true`)).body).toEqual([compact]);
    expect((await root.get(`${listOfOne}&compact=true&expand=true`)).body).toEqual([compact]);
  });

  it('returns the sent properties, and only server-set ones in addition (D-027)', async () => {
    const { resource_type: _, ...body } = bodyOf(collection);
    const { properties } = await make(collection, body);
    const visibleNames = Object.keys(properties).filter(
      (name) => name !== 'parent' && !typeOfWord(collection).serverSet.includes(name),
    );
    const sampleNames = Object.keys(samples[collection].properties).filter((name) => name !== 'password');
    if (collection !== 'containers' && collection !== 'jobs') expect(visibleNames.sort()).toEqual(sampleNames.sort());
    const asRead: Body = { rules: ['lambda'], groups: ['users'], secrets: ['items'], providers: ['linked_providers'] };
    for (const name of sampleNames.filter(
      (propertyName) =>
        propertyName !== 'provider' && !asRead[collection]?.includes(propertyName) && propertyName !== 'resource',
    )) {
      expect(properties[name]).toEqual(samples[collection].properties[name]);
    }
  });

  it('can be exported, deleted and posted again (D-028, D-030)', async () => {
    const record = await make(collection, { description: 'kept', tags: ['t'], variables: { V: '1' } });
    expect((await root.delete(pathOf(collection, record))).status).toBe(204);
    // What is never shown has to be said again.
    const hidden: Body = { users: { password: 'x' }, secrets: { items: samples.secrets.properties.items } };
    const body = { ...record, properties: { ...record.properties, ...hidden[collection] } };
    const again = await root.create(samples[collection].at, body);
    const { created, modified, ...writtenMembers } = record;
    const live = { age: expect.anything() };
    const isRunning = collection === 'containers' || collection === 'jobs';
    expect(again).toMatchObject({
      ...writtenMembers,
      properties: { ...writtenMembers.properties, ...(isRunning && live) },
    });
  });

  it('takes an id that is free, and refuses one that is not (D-030)', async () => {
    const id = `C0FFEE00-0000-4000-8000-${String(++ids).padStart(12, '0')}`;
    const body = { ...bodyOf(collection), id };
    expect(await root.create(samples[collection].at, body)).toMatchObject({ id: id.toLowerCase() });
    expect(await root.post(samples[collection].at, { ...body, name: 'another' })).toMatchObject({ status: 409 });
    expect(await root.post(samples[collection].at, { ...body, id: 'mine' })).toMatchObject(refusal(400, '/id'));
  });

  it('ignores server-set properties, and treats null as absent (D-028, D-030)', async () => {
    const serverSet = Object.fromEntries(typeOfWord(collection).serverSet.map((name) => [name, { a: 'lie' }]));
    const body = bodyOf(collection);
    const record = await root.create(samples[collection].at, {
      ...body,
      ...{ org: 7, owner: 'me', created: {}, modified: null, resource_state: 'Gone', href: '/x', typeId: 1 },
      ...{ id: null, description: null, tags: null, variables: null },
      properties: { ...body.properties, ...serverSet, parent: { id: UNKNOWN_ID }, env: null },
    });
    expect(record).toMatchObject({
      org: { id: tenant.organizationId },
      created: { id: self.id },
      resource_state: 'Platform::Resource::State::Active',
    });
    expect(JSON.stringify(record)).not.toContain('lie');
    for (const member of ['description', 'tags', 'variables', 'href', 'typeId'])
      expect(record).not.toHaveProperty(member);
  });

  it('names the place of each mistake in the body (D-031, D-032, D-033, D-180)', async () => {
    const violations: [string, object][] = [
      ['/name', { name: undefined }],
      ['/name', { name: null }],
      ['/name', { name: '' }],
      ['/name', { name: 'a'.repeat(256) }],
      ['/name', { name: 'a\u0007' }],
      ['/name', { name: 'a\u0085' }],
      ['/name', { name: 7 }],
      ['/description', { description: 7 }],
      ['/tags', { tags: 'a' }],
      ['/tags/1', { tags: ['a', 1] }],
      ['/variables', { variables: [] }],
      ['/variables/A~1B', { variables: { 'A/B': 1 } }],
      ['/properties', { properties: [] }],
    ];
    for (const [pointer, violation] of violations) {
      const reply = await root.post(samples[collection].at, { ...bodyOf(collection), ...violation });
      expect(reply, JSON.stringify(violation)).toMatchObject(refusal(400, pointer));
    }
    const wrong = { ...bodyOf(collection), resource_type: 'Platform::Resource::Gadget' };
    const status = collection === 'rules' ? 422 : 400;
    expect(await root.post(samples[collection].at, wrong)).toMatchObject(refusal(status, '/resource_type'));
  });

  it('is unchanged, modified included, by a request that changes nothing (D-025)', async () => {
    const record = await make(collection);
    expect((await root.patch(pathOf(collection, record), [])).body).toEqual(record);
    const patch = [{ op: 'add', path: '/description', value: 'new' }];
    const changed = (await root.patch(pathOf(collection, record), patch)).body;
    expect(changed).toMatchObject({ description: 'new', modified: { action: 'update', user: self.id } });
    expect(changed.created).toEqual(record.created);
    expect((await root.patch(pathOf(collection, record), patch)).body).toEqual(changed);
  });

  it('has one name among its siblings (D-184)', async () => {
    const { name } = await make(collection);
    const body = bodyOf(collection);
    const twin = { ...body, name };
    expect(await root.post(samples[collection].at, twin)).toMatchObject({
      status: 409,
      body: { message: expect.stringContaining(`'${name}'`) },
    });
  });
});

describe('hidden properties (D-029)', () => {
  it('a password, whatever is asked', async () => {
    const user = await make('users', { properties: { password: 'open-sesame', firstName: 'Ali' } });
    for (const path of [
      pathOf('users', user),
      `/acme/users?id=${user.id}&expand=true`,
      `/acme/users?id=${user.id}&compact=true`,
      `/acme/resources/${user.id}`,
      `/users/search?name=${user.name}`,
      `/acme/resourcetypes/${typeIdOf('Resource::User')}/resources?expand=true`,
    ]) {
      const { status, body } = await root.get(path);
      expect(status).toBe(200);
      expect(JSON.stringify(body)).toContain('Ali');
      expect(JSON.stringify(body)).not.toMatch(/password|sesame|scrypt/i);
    }
    expect(await root.get('/acme/users?password=open-sesame')).toMatchObject({ status: 400 });
  });

  it('the values of secrets, whatever is asked', async () => {
    const secret = await make('secrets');
    expect(secret.properties.items).toEqual([{ key: 'token' }]);
    expect((await read('secrets', secret)).properties.items).toEqual([{ key: 'token' }]);
    const [expanded] = (await root.get(`/acme/secrets?id=${secret.id}&expand=true`)).body;
    expect(expanded.properties.items).toEqual([{ key: 'token' }]);
  });
});

describe('organizations (D-023, D-024)', () => {
  it('belong to the one above; root to itself, with neither parent nor null', async () => {
    const { body: top } = await root.get('/root');
    expect(top).toMatchObject({ org: { id: top.id, properties: { fqon: 'root' } }, owner: { id: self.id } });
    expect(top.properties).not.toHaveProperty('parent');
    const below = await make('orgs');
    expect(below.properties.parent).toMatchObject({ id: tenant.organizationId, properties: { fqon: 'acme' } });
  });
});

describe('resource states (D-035)', () => {
  it('are listed by id and full name', async () => {
    const states = (await root.get('/resourcestates')).body;
    expect(states).toEqual(
      ['Active', 'Failed', 'Pending', 'Corrupt'].map((name) => ({
        id: expect.any(String),
        name: `Platform::Resource::State::${name}`,
      })),
    );
    expect(states[0].id).toBe('2ad1f4ce-7d1e-4bc9-a9bd-4de30a63521d');
    expect(states[3].id).toBe('681099f4-da63-48ef-99d0-75c01166d202');
    expect((await root.get('/acme/resourcestates')).body).toEqual(states);
  });
});
