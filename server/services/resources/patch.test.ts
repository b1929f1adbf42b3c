import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Operation } from 'fast-json-patch';
import suite from 'json-patch-test-suite/tests.json' with { type: 'json' };
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { sharedPlatform, startPlatform } from '../../testing/platform.ts';
import { type ResourceFactory, resourceFactoryFor } from '../../testing/resource-factory.ts';
import { type Body, createTenant, type Tenant } from '../../testing/tenant.ts';

const platform = sharedPlatform();
let tenant: Tenant;
let make: ResourceFactory;
beforeAll(async () => {
  make = resourceFactoryFor(platform.root);
  tenant = await createTenant(platform.root, 'patched');
});

const makeLambda = (properties = {}) => make.lambda(tenant, properties);
const makeContainer = (properties = {}) => make.container(tenant, properties);
const makeProvider = (properties = {}) => make.provider(tenant, 'Logging', properties);
const pathOf = ({ resource_type, id }: Body) => {
  const typeNoun = /::(Lambda|Container|Provider|User|Rule|Environment|Secret|Volume)\b/.exec(resource_type)?.[1];
  return `${tenant.org}/${typeNoun?.toLowerCase()}s/${id}`;
};
const patch = (record: Body, ...operations: unknown[]) => platform.root.patch(pathOf(record), operations);
const read = async (record: Body): Promise<Body> => (await platform.root.get(pathOf(record))).body;

interface SuiteCase {
  comment?: string;
  doc: unknown;
  patch: { path?: unknown; from?: unknown }[];
  expected?: unknown;
  error?: string;
  disabled?: boolean;
}

describe('RFC 6902 through PATCH on an open property: json-patch-test-suite (D-090)', () => {
  const at = '/properties/config/doc';
  const below = (pointer: unknown) => (typeof pointer === 'string' && /^(\/|$)/.test(pointer) ? at + pointer : pointer);
  // The suite's own type says less than its cases have.
  const cases = (suite as unknown as SuiteCase[]).filter((suiteCase) => suiteCase.patch && !suiteCase.disabled);

  it.each(
    cases.map((suiteCase, index) => ({
      ...suiteCase,
      title: `${index} ${suiteCase.comment ?? suiteCase.error ?? JSON.stringify(suiteCase.patch)}`,
    })),
  )('$title', async ({ doc, patch: operations, expected, error }) => {
    const provider = await makeProvider({ config: { doc } });
    const moved = operations.map((operation) => ({
      ...operation,
      ...('path' in operation && { path: below(operation.path) ?? null }),
      ...('from' in operation && { from: below(operation.from) ?? null }),
    }));
    const { status, body } = await patch(provider, ...moved);
    if (error !== undefined) {
      expect([400, 422]).toContain(status);
      expect(await read(provider)).toEqual(provider);
    } else {
      expect(status).toBe(200);
      expect(body.properties.config.doc).toEqual(expected ?? doc);
      expect((await read(provider)).properties.config.doc).toEqual(expected ?? doc);
    }
  });
});

describe('What may be patched (D-090)', () => {
  it('all six operations work on properties, name, description, tags and variables, in the order given', async () => {
    const lambda = await makeLambda({ env: { A: '1' } });
    const { status, body } = await patch(
      lambda,
      { op: 'test', path: '/name', value: lambda.name },
      { op: 'replace', path: '/name', value: `${lambda.name}-new` },
      { op: 'add', path: '/description', value: 'said' },
      { op: 'add', path: '/tags', value: ['x'] },
      { op: 'add', path: '/tags/-', value: 'y' },
      { op: 'copy', from: '/tags/1', path: '/tags/0' },
      { op: 'add', path: '/variables', value: { V: 'v' } },
      { op: 'move', from: '/variables/V', path: '/variables/W' },
      { op: 'add', path: '/properties/env/B', value: '2' },
      { op: 'remove', path: '/properties/env/A' },
      { op: 'add', path: '/properties/timeout', value: 5 },
    );
    expect(status).toBe(200);
    expect(body).toMatchObject({
      name: `${lambda.name}-new`,
      description: 'said',
      tags: ['y', 'x', 'y'],
      variables: { W: 'v' },
    });
    expect(body.properties).toMatchObject({ env: { B: '2' }, timeout: 5 });
    expect(body.properties.env).not.toHaveProperty('A');
    expect(body.modified.action).toBe('update');
    expect(await read(lambda)).toEqual(body);
  });
  it('is all or nothing', async () => {
    const lambda = await makeLambda();
    const reply = await patch(
      lambda,
      { op: 'replace', path: '/name', value: 'half' },
      { op: 'remove', path: '/properties/nothing' },
    );
    expect(reply.status).toBe(422);
    expect(await read(lambda)).toEqual(lambda);
  });
  it('an empty array is 200 and changes nothing, modified included', async () => {
    const lambda = await makeLambda();
    const reply = await patch(lambda);
    expect(reply).toMatchObject({ status: 200, body: lambda });
  });
  it('a patch without an effect does not change modified (D-025)', async () => {
    const lambda = await makeLambda({ env: { A: '1' } });
    const reply = await patch(
      lambda,
      { op: 'replace', path: '/properties/env/A', value: '2' },
      { op: 'replace', path: '/properties/env/A', value: '1' },
    );
    expect(reply).toMatchObject({ status: 200, body: lambda });
  });
  it.each(['lambdas', 'providers', 'orgs', 'entitlements', 'users'])('a list of %s is 400', async (collection) => {
    expect((await platform.root.patch(`${tenant.org}/${collection}`, [])).status).toBe(400);
    if (collection !== 'orgs')
      expect((await platform.root.patch(`${tenant.environment}/${collection}`, [])).status).toBe(400);
  });
  it.each(['/orgs', '/users', '/rules'])('the global list %s is 400', async (path) => {
    expect((await platform.root.patch(path, [])).status).toBe(400);
  });
  it('works on the organization itself and in the second-level form (D-004)', async () => {
    const lambda = await makeLambda();
    const operation = [{ op: 'add', path: '/description', value: 'd' }];
    const reply = await platform.root.patch(`${tenant.environment}/lambdas/${lambda.id}`, operation);
    expect(reply.body).toMatchObject({ id: lambda.id, description: 'd' });
    expect((await platform.root.patch(tenant.org, operation)).body).toMatchObject({ description: 'd' });
    expect((await platform.root.patch(`${tenant.workspace}/lambdas/${lambda.id}`, operation)).status).toBe(404);
  });
  it('the body may be application/json-patch+json (D-007)', async () => {
    const lambda = await makeLambda();
    const reply = await platform.root.send('PATCH', pathOf(lambda), {
      body: JSON.stringify([{ op: 'add', path: '/description', value: 'd' }]),
      headers: { 'Content-Type': 'application/json-patch+json; charset=utf-8' },
    });
    expect(reply.status).toBe(200);
  });
});

describe('A malformed document is 400 and details point into it (D-091)', () => {
  it.each([
    ['an object', { op: 'add', path: '/name', value: 'x' }, undefined],
    ['nothing at all', undefined, undefined],
    ['an operation that is none', [null], '/0'],
    [
      'an unknown op',
      [
        { op: 'test', path: '/name', value: 'x' },
        { op: 'merge', path: '/name' },
      ],
      '/1/op',
    ],
    ['an op that only JavaScript knows', [{ op: 'toString', path: '/name' }], '/0/op'],
    ['a missing path', [{ op: 'remove' }], '/0/path'],
    ['a missing value', [{ op: 'add', path: '/name' }], '/0/value'],
    ['a missing from', [{ op: 'copy', path: '/name' }], '/0/from'],
    ['a pointer without its slash', [{ op: 'remove', path: 'name' }], '/0/path'],
    ['the whole document', [{ op: 'replace', path: '', value: {} }], '/0/path'],
    ['a pointer with a bad escape', [{ op: 'remove', path: '/properties/env/~2' }], '/0/path'],
    ['a from with a bad escape', [{ op: 'move', from: '/tags/~', path: '/tags/0' }], '/0/from'],
    ['a pointer that is a number', [{ op: 'remove', path: 7 }], '/0/path'],
    ['a pointer to a prototype', [{ op: 'add', path: '/properties/__proto__/x', value: 1 }], '/0/path'],
  ])('%s', async (_, document, pointer) => {
    const lambda = await makeLambda();
    const reply = await platform.root.patch(pathOf(lambda), document);
    expect(reply.status).toBe(400);
    expect(reply.body.code).toBe(400);
    if (pointer !== undefined) expect(reply.body.details[0].pointer).toBe(pointer);
    expect(await read(lambda)).toEqual(lambda);
  });
});

describe('An operation that cannot be applied is 422, is named, and changes nothing (D-092, D-093, D-094)', () => {
  it.each<Operation>([
    { op: 'remove', path: '/properties/timeout' },
    { op: 'replace', path: '/properties/timeout', value: 1 },
    { op: 'replace', path: '/properties/provider/name', value: 'x' },
    { op: 'move', from: '/properties/timeout', path: '/properties/memory' },
    { op: 'copy', from: '/properties/timeout', path: '/properties/memory' },
    { op: 'test', path: '/properties/timeout', value: 30 },
    { op: 'test', path: '/properties/handler', value: 'other' },
    { op: 'add', path: '/properties/env/A/B', value: 'x' },
    { op: 'add', path: '/tags/0', value: 'x' },
    { op: 'replace', path: '/id', value: '00000000-0000-4000-8000-000000000000' },
    { op: 'replace', path: '/resource_state', value: 'Platform::Resource::State::Failed' },
    { op: 'remove', path: '/owner' },
    { op: 'add', path: '/created/timestamp', value: 'now' },
    { op: 'add', path: '/invented', value: 1 },
    { op: 'remove', path: '/name' },
    { op: 'replace', path: '/properties', value: {} },
    { op: 'remove', path: '/properties' },
    { op: 'replace', path: '/properties/parent', value: { id: 'x' } },
    { op: 'replace', path: '/properties/parent/name', value: 'other' },
    { op: 'add', path: '/properties/status', value: 'RUNNING' },
    { op: 'test', path: '/id', value: 'x' },
    { op: 'test', path: '/properties/parent/name', value: 'env' },
    { op: 'copy', from: '/id', path: '/description' },
    { op: 'copy', from: '/properties/parent/name', path: '/description' },
    { op: 'move', from: '/properties/parent', path: '/properties/env' },
  ])('$op $path', async (operation) => {
    const lambda = await makeLambda();
    const reply = await patch(lambda, { op: 'test', path: '/name', value: lambda.name }, operation);
    expect(reply.status).toBe(422);
    expect(reply.body.message).toMatch(`operation 1 (${operation.path}): `);
    expect(reply.body.details).toEqual([{ pointer: operation.path, message: expect.any(String) }]);
    expect(await read(lambda)).toEqual(lambda);
  });
  it("a container's name cannot be patched (D-052)", async () => {
    const container = await makeContainer();
    expect((await patch(container, { op: 'replace', path: '/name', value: 'other' })).status).toBe(422);
    expect((await patch(container, { op: 'replace', path: '/name', value: container.name })).status).toBe(200);
  });
  it.each(['01', '', '1e0', '+1'])("'%s' is not an index of an array (RFC 6901)", async (index) => {
    const lambda = await makeLambda();
    await patch(lambda, { op: 'add', path: '/tags', value: ['a', 'b'] });
    const before = await read(lambda);
    for (const operation of [
      { op: 'add', path: `/tags/${index}`, value: 'x' },
      { op: 'copy', from: '/tags/0', path: `/tags/${index}` },
      { op: 'move', from: '/tags/0', path: `/tags/${index}` },
    ])
      expect([operation, await patch(lambda, operation)]).toMatchObject([operation, { status: 422 }]);
    expect(await read(lambda)).toEqual(before);
  });
  it('an index out of range is 422', async () => {
    const container = await makeContainer();
    const mapping = { protocol: 'tcp', container_port: 80 };
    expect((await patch(container, { op: 'add', path: '/properties/port_mappings/1', value: mapping })).status).toBe(
      422,
    );
    expect((await patch(container, { op: 'add', path: '/properties/port_mappings/0', value: mapping })).status).toBe(
      200,
    );
  });
});

describe('A patch makes nothing that no request could hold', () => {
  it('by nesting deeper, step by step', async () => {
    const provider = await makeProvider({ config: {} });
    const nest = (depth: number) =>
      Array.from({ length: depth }, (_, index) => ({
        op: 'add',
        path: `/properties/config${'/a'.repeat(index + 1)}`,
        value: {},
      }));
    expect((await patch(provider, ...nest(97))).status).toBe(200);
    for (const depth of [98, 1000]) expect((await patch(provider, ...nest(depth))).status).toBe(422);
    const body = { op: 'copy', from: '/properties/config', path: `/properties/config${'/a'.repeat(97)}` };
    expect((await patch(provider, body)).status).toBe(422);
  });
  it('by copies of copies', async () => {
    const provider = await makeProvider({ config: { seed: 'x'.repeat(1000) } });
    const copies = (count: number) =>
      Array.from({ length: count }, (_, index) => ({
        op: 'copy',
        from: '/properties/config',
        path: `/properties/config/c${index}`,
      }));
    expect((await patch(provider, ...copies(5))).status).toBe(200);
    expect((await patch(provider, ...copies(40))).status).toBe(422);
  });
  it('by growing from patch to patch', async () => {
    const provider = await makeProvider({ config: {} });
    const grow = (name: string) =>
      patch(provider, { op: 'add', path: `/properties/config/${name}`, value: 'x'.repeat(4 * 1024 * 1024) });
    expect((await grow('a')).status).toBe(200);
    expect((await grow('b')).status).toBe(200);
    expect((await grow('c')).status).toBe(413);
    expect(Object.keys((await read(provider)).properties.config)).toEqual(['a', 'b']);
  });
});

describe('add and replace (D-095)', () => {
  it('add on an existing member replaces it, whole maps included', async () => {
    const container = await makeContainer({ env: { A: '1' }, labels: { l: '1' } });
    const reply = await patch(
      container,
      { op: 'add', path: '/properties/env', value: { B: '2' } },
      { op: 'replace', path: '/properties/labels', value: {} },
      { op: 'replace', path: '/properties/image', value: 'nginx:2' },
    );
    expect(reply.body.properties).toMatchObject({ env: { B: '2' }, labels: {}, image: 'nginx:2' });
  });
  it.each(['/properties/environment_types', '/properties/linked_providers'])(
    'replace creates %s of a provider, add works on it',
    async (path) => {
      for (const op of ['replace', 'add']) {
        const provider = await makeProvider();
        const reply = await patch(
          provider,
          { op, path, value: [] },
          { op: 'replace', path: '/name', value: make.fresh('p') },
        );
        expect(reply.status).toBe(200);
        expect(reply.body.properties[path.slice('/properties/'.length)]).toEqual([]);
      }
    },
  );
  it('replace creates nothing else', async () => {
    expect(
      (await patch(await makeProvider(), { op: 'replace', path: '/properties/locations', value: [] })).status,
    ).toBe(422);
  });
});

describe('The result is validated like a create (D-096)', () => {
  it.each([
    [{ op: 'replace', path: '/properties/env/A', value: 1 }, '/properties/env/A'],
    [{ op: 'replace', path: '/properties/env', value: [] }, '/properties/env'],
    [{ op: 'add', path: '/properties/timeout', value: 501 }, '/properties/timeout'],
    [{ op: 'remove', path: '/properties/handler' }, '/properties/handler'],
    [{ op: 'add', path: '/properties/invented', value: 1 }, '/properties/invented'],
    [{ op: 'replace', path: '/name', value: '' }, '/name'],
    [{ op: 'add', path: '/tags', value: [1] }, '/tags/0'],
    [{ op: 'add', path: '/variables', value: { a: 1 } }, '/variables/a'],
    [{ op: 'add', path: '/description', value: 1 }, '/description'],
  ])('%j is 400 with a pointer into the record', async (operation, pointer) => {
    const lambda = await makeLambda({ env: { A: '1' } });
    const reply = await patch(lambda, operation);
    expect(reply.status).toBe(400);
    expect(reply.body.details.map((detail: { pointer: string }) => detail.pointer)).toContain(pointer);
    expect(await read(lambda)).toEqual(lambda);
  });
  it('a patch of no property is accepted under a limit that was lowered since', async () => {
    const data = await mkdtemp(join(tmpdir(), 'terrarium-lowered-limits-'));
    onTestFinished(() => rm(data, { recursive: true }));
    const before = await startPlatform({ data });
    onTestFinished(() => before.stop());
    const container = await resourceFactoryFor(before.root).container(await createTenant(before.root, 'acme'), {
      num_instances: 3,
    });
    await before.stop();
    const { root, stop } = await startPlatform({ data, limits: { maxInstances: 2 } });
    onTestFinished(stop);
    const patch = [
      { op: 'test', path: '/properties/num_instances', value: 3 },
      { op: 'add', path: '/description', value: 'shop' },
    ];
    expect(await root.patch(`/acme/containers/${container.id}`, patch)).toMatchObject({
      status: 200,
      body: { description: 'shop', properties: { num_instances: 3 } },
    });
  });
  it('a name conflict is 409', async () => {
    const [first, other] = [await makeLambda(), await makeLambda()];
    expect((await patch(first, { op: 'replace', path: '/name', value: other.name })).status).toBe(409);
  });
  it('an unknown linked provider is 422', async () => {
    const value = [{ id: '00000000-0000-4000-8000-000000000000' }];
    const reply = await patch(await makeProvider(), { op: 'add', path: '/properties/linked_providers', value });
    expect(reply.status).toBe(422);
  });
  it('a member that is null counts as absent (D-030)', async () => {
    const lambda = await makeLambda({ env: { A: '1' }, timeout: 3 });
    const reply = await patch(
      lambda,
      { op: 'replace', path: '/properties/timeout', value: null },
      { op: 'add', path: '/description', value: null },
    );
    expect(reply.status).toBe(200);
    expect(reply.body.properties).not.toHaveProperty('timeout');
    expect(reply.body).not.toHaveProperty('description');
  });
});
