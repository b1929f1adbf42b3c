import * as fc from 'fast-check';
import { compare } from 'fast-json-patch';
import { beforeAll, describe, expect, it } from 'vitest';
import { send } from '../../testing/checked-client.ts';
import { sharedPlatform } from '../../testing/platform.ts';
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
  const typeNoun = /::(Lambda|Container|Provider|User|Rule|Environment|ApiEndpoint)\b/.exec(resource_type)?.[1];
  return `${tenant.org}/${typeNoun?.toLowerCase()}s/${id}`;
};
const patch = (record: Body, ...operations: unknown[]) => platform.root.patch(pathOf(record), operations);
const read = async (record: Body): Promise<Body> => (await platform.root.get(pathOf(record))).body;

describe('Clients that compare whole records are understood (D-093)', () => {
  it('a remove of a server-set property, or a write of the value it has, does nothing', async () => {
    const container = await makeContainer();
    const reply = await patch(
      container,
      { op: 'remove', path: '/properties/status' },
      { op: 'remove', path: '/properties/parent' },
      { op: 'remove', path: '/properties/instances' },
      { op: 'replace', path: '/properties/tasks_running', value: container.properties.tasks_running },
      { op: 'add', path: '/properties/external_id', value: container.properties.external_id },
      { op: 'replace', path: '/properties/parent', value: container.properties.parent },
      { op: 'replace', path: '/id', value: container.id },
      { op: 'add', path: '/org', value: container.org },
      { op: 'replace', path: '/modified', value: container.modified },
    );
    expect(reply).toMatchObject({ status: 200, body: container });
  });
  it('whatever name the platform was reached by', async () => {
    const container = await makeContainer();
    const headers = {
      'X-Forwarded-Proto': 'https',
      'X-Forwarded-Host': 'localhost',
      'Content-Type': 'application/json',
    };
    const forwarded = (await platform.root.send('GET', pathOf(container), { headers })).body;
    expect(forwarded.properties.parent.href).toMatch(/^https:\/\/localhost\//);
    const body = JSON.stringify([{ op: 'replace', path: '/properties/parent', value: forwarded.properties.parent }]);
    expect((await platform.root.send('PATCH', pathOf(container), { headers, body })).status).toBe(200);
  });
  it('a port mapping can be taken out of the middle of the record as read', async () => {
    const mapping = (name: string, port: number) => ({
      name,
      protocol: 'tcp',
      container_port: port,
      expose_endpoint: true,
    });
    const container = await makeContainer({ port_mappings: [mapping('a', 1), mapping('b', 2), mapping('c', 3)] });
    const target = structuredClone(container);
    target.properties.port_mappings.splice(1, 1);
    const reply = await patch(container, ...compare(container, target));
    expect(reply.status).toBe(200);
    expect(reply.body.properties.port_mappings).toEqual(target.properties.port_mappings);
  });
  it('a service address is the server’s whatever a patch says of it', async () => {
    const mapping = { name: 'web', protocol: 'tcp', container_port: 80, expose_endpoint: true };
    const container = await makeContainer({ port_mappings: [mapping] });
    const reply = await patch(container, { op: 'remove', path: '/properties/port_mappings/0/service_address' });
    expect(reply).toMatchObject({ status: 200, body: container });
    const test = { op: 'test', path: '/properties/port_mappings', value: container.properties.port_mappings };
    expect((await patch(container, test)).status).toBe(200);
  });
  it('a provider can be changed within the provider object as read', async () => {
    const container = await makeContainer();
    const target = structuredClone(container);
    target.properties.provider = { id: tenant.docker };
    const reply = await patch(container, ...compare(container, target));
    expect(reply).toMatchObject({ status: 200, body: container });
  });
  it('linked providers can be reordered as read', async () => {
    const { id: first } = await makeProvider();
    const { id: second } = await makeProvider();
    const provider = await makeProvider({ linked_providers: [{ id: first }, { id: second, location: 'here' }] });
    const target = structuredClone(provider);
    target.properties.linked_providers.reverse();
    const reply = await patch(provider, ...compare(provider, target));
    expect(reply.status).toBe(200);
    expect(reply.body.properties).toEqual(target.properties);
  });
});

describe('The difference between two records as read (D-093)', () => {
  it('leads from any container to any other', async () => {
    let container = await makeContainer();
    const host = `${container.name}.${tenant.environmentId}.svc.cluster.local`;
    const name = fc.stringMatching(/^[a-z]{1,3}$/);
    const mapping = fc
      .record({ name, port: fc.integer({ min: 1, max: 9 }), isExposed: fc.boolean() })
      .map(({ name, port, isExposed }) => ({
        name,
        protocol: 'tcp',
        container_port: port,
        expose_endpoint: isExposed,
        ...(isExposed && { lb_port: port, type: 'internal', service_address: { host, port, protocol: 'tcp' } }),
      }));
    const strings = fc.dictionary(name, name, { noNullPrototype: true });
    const properties = fc.record(
      {
        image: name,
        cpus: fc.integer({ min: 1, max: 3 }),
        env: strings,
        labels: strings,
        port_mappings: fc.uniqueArray(mapping, { selector: (portMapping) => portMapping.name, maxLength: 4 }),
        cmd: name,
        args: fc.array(name),
      },
      { requiredKeys: ['image', 'cpus', 'env', 'labels', 'port_mappings'] },
    );
    const targetMembers = fc.record(
      { properties, description: name, tags: fc.array(name), variables: strings },
      { requiredKeys: ['properties'] },
    );
    await fc.assert(
      fc.asyncProperty(targetMembers, async ({ properties: newProperties, ...members }) => {
        const { description: _d, tags: _t, variables: _v, ...record } = structuredClone(container);
        const { cmd: _c, args: _a, ...otherProperties } = record.properties;
        const target = { ...record, ...members, properties: { ...otherProperties, ...newProperties } };
        const reply = await patch(container, ...compare(container, target));
        expect(reply.status).toBe(200);
        const { modified: _, ...answered } = reply.body;
        const { modified: __, ...expected } = target;
        expect(answered).toEqual(expected);
        container = reply.body;
      }),
      { numRuns: 60 },
    );
  });
});

describe('A patch and its inverse', () => {
  it('lead from any document to any other and back', async () => {
    const provider = await makeProvider({ config: { doc: {} } });
    const json = fc.jsonValue({ maxDepth: 3 }).filter((value) => !JSON.stringify(value).includes('__proto__'));
    await fc.assert(
      fc.asyncProperty(json, json, async (first, other) => {
        const doc = (value: unknown) => ({ properties: { config: { doc: value } } });
        await patch(provider, { op: 'replace', path: '/properties/config/doc', value: first });
        for (const [from, to] of [
          [first, other],
          [other, first],
        ]) {
          const reply = await patch(provider, ...compare(doc(from), doc(to)));
          expect(reply.status).toBe(200);
          expect(reply.body.properties.config.doc).toEqual(JSON.parse(JSON.stringify(to)));
        }
      }),
      { numRuns: 40 },
    );
  });
});

describe('Links are patched in their written form (D-097)', () => {
  it("a rule's lambda by id", async () => {
    const [first, other] = [await makeLambda(), await makeLambda()];
    const policy = await platform.root.create(`${tenant.org}/policies`, { name: make.fresh('policy') });
    const rule = await platform.root.create(`${tenant.org}/policies/${policy.id}/rules`, {
      name: 'rule',
      resource_type: 'Platform::Resource::Rule::Event',
      properties: { match_actions: [{ action: 'volume.import' }], lambda: first.id },
    });
    const reply = await patch(
      rule,
      { op: 'test', path: '/properties/lambda', value: first.id },
      { op: 'replace', path: '/properties/lambda', value: other.id },
    );
    expect(reply.body.properties.lambda).toMatchObject({ id: other.id, name: other.name });
  });
  it("an environment's type by name", async () => {
    const environment = await platform.root.create(`${tenant.workspace}/environments`, {
      name: make.fresh('env'),
      properties: { environment_type: 'TEST' },
    });
    const reply = await patch(environment, {
      op: 'replace',
      path: '/properties/environment_type',
      value: 'Production',
    });
    expect(reply.body.properties.environment_type).toBe('production');
  });
});

describe('Two clients that patch at once', () => {
  it('both changes last when they do not touch each other', async () => {
    const lambda = await makeLambda({ env: {} });
    const names = Array.from({ length: 20 }, (_, index) => `V${index}`);
    const replies = await Promise.all(
      names.map((name) => patch(lambda, { op: 'add', path: `/properties/env/${name}`, value: name })),
    );
    expect(replies.map(({ status }) => status)).toEqual(names.map(() => 200));
    expect(Object.keys((await read(lambda)).properties.env).sort()).toEqual(names.sort());
  });
  it('of those that test the previous value, one succeeds', async () => {
    const lambda = await makeLambda({ env: { LOCK: 'free' } });
    const replies = await Promise.all(
      ['a', 'b', 'c', 'd'].map((value) =>
        patch(
          lambda,
          { op: 'test', path: '/properties/env/LOCK', value: 'free' },
          { op: 'replace', path: '/properties/env/LOCK', value: value },
        ),
      ),
    );
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 422, 422, 422]);
  });
  it('of a user both apply, although hashing a password takes long', async () => {
    const user = await platform.root.create('/root/users', {
      name: make.fresh('user'),
      properties: { password: 'old' },
    });
    await Promise.all([
      patch(user, { op: 'replace', path: '/properties/password', value: 'new' }),
      patch(user, { op: 'add', path: '/properties/firstName', value: 'Ann' }),
    ]);
    expect((await read(user)).properties).toMatchObject({ firstName: 'Ann' });
    await platform.as(user.name, 'new');
  });
});

describe('The effects of a patch (D-098)', () => {
  it('of an endpoint: its routes at once, and where it says they lead', async () => {
    const [first, other] = [await makeLambda(), await makeLambda()];
    const endpoint = await make.endpoint(await make.api(tenant), first);
    const { public_url: before } = endpoint.properties;
    expect(await send('GET', before)).toMatchObject({ status: 200, body: first.name });
    const { body } = await patch(
      endpoint,
      { op: 'replace', path: '/properties/resource', value: '/elsewhere' },
      { op: 'replace', path: '/properties/implementation_id', value: other.id },
    );
    const { public_url: after, upstream_url } = body.properties;
    expect(after).toMatch(/\/elsewhere$/);
    expect(upstream_url).toContain(other.id);
    expect(await send('GET', after)).toMatchObject({ status: 200, body: other.name });
    expect((await send('GET', before)).status).toBe(404);
  });
  it('of a lambda: the next invocation (D-057)', async () => {
    const lambda = await makeLambda();
    const { properties } = await make.endpoint(await make.api(tenant), lambda);
    expect((await send('GET', properties.public_url)).body).toBe(lambda.name);
    const value = Buffer.from("exports.other = async (event) => 'patched';").toString('base64');
    await patch(
      lambda,
      { op: 'replace', path: '/properties/code', value },
      { op: 'replace', path: '/properties/handler', value: 'other' },
    );
    expect((await send('GET', properties.public_url)).body).toBe('patched');
  });
  it('of a user: the account, password too', async () => {
    const user = await make.user('/root');
    await patch(user, { op: 'replace', path: '/properties/password', value: 'changed' });
    await expect(platform.as(user.name, 'x')).rejects.toThrow('no token');
    await patch(user, { op: 'replace', path: '/name', value: `${user.name}-renamed` });
    const client = await platform.as(`${user.name}-renamed`, 'changed');
    expect((await client.get('/users/self')).body.id).toBe(user.id);
  });
  it('of a provider: later use only', async () => {
    const engine = await make.provider(tenant, 'CaaS::Docker');
    const container = await make.container(tenant, { provider: { id: engine.id } });
    await patch(engine, { op: 'add', path: '/properties/environment_types', value: ['production'] });
    expect(await read(container)).toEqual(container);
    const another = await platform.root.post(`${tenant.environment}/containers`, {
      ...container,
      id: undefined,
      name: 'x',
    });
    expect(another.status).toBe(409);
  });
});
