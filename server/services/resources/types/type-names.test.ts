import { beforeAll, describe, expect, it } from 'vitest';
import { type ApiClient, refusal, sharedPlatform, startPlatform } from '../../../testing/platform.ts';
import { type Body, containerBody, createTenant, lambdaBody, type Tenant } from '../../../testing/tenant.ts';

const UNKNOWN_ID = '00000000-0000-4000-8000-000000000000';

/** The ids that D-081 gives; the others are constants of our own. */
const IDS: Record<string, string> = {
  'Resource::Organization': '23ba3299-b04e-4c5c-9b3d-64939b22944e',
  'Resource::Workspace': 'fa17bae4-1294-42cc-93cc-c4ead7dc0343',
  'Resource::Environment': '46b28076-9d94-4860-9aca-e8483a56d32c',
  'Resource::Container': '28cbf0e0-2c48-4589-85d5-df97a3a1f318',
  'Resource::Node::Lambda': 'e3a463fc-e51f-4166-8cec-3d9a54f7babd',
  'Resource::Api': 'df4bf8b5-170f-453e-9526-c37c898d96c9',
  'Resource::Policy': 'c3c05a39-acb3-4a45-97a8-5696ad1b4214',
  'Resource::User': '58b6775d-37a5-44bc-9115-7331fc4964b7',
  'Resource::Group': 'ad4c7258-1896-45bf-8ec8-c875dcc7654e',
  'Resource::Secret': '98d8a6d6-e3db-488f-b32d-8b00b3fce472',
  'Resource::Volume': '24361db7-0fc0-4be5-9973-d88d5602956f',
  'Resource::Job': 'c8ce1302-6f66-4300-8429-2574abf28d81',
  'Resource::Configuration::DataFeed': '8f875ffc-69ff-48c8-9d6d-f3622b7b1062',
  'Resource::Spec::StreamSpec': 'e9e90e0a-4f87-492e-afcc-2cd84057f226',
  'Configuration::AppDeployment': 'e97d8674-848a-487e-b640-823fdc39fa10',
  'Resource::UserProfile': 'b9e3c356-b6d8-4561-a20a-398b5cd8d62d',
  'Resource::Task': '57a02f53-abbe-4e85-9857-de34a9aee411',
  'Configuration::Provider': '5542148a-5568-4df2-a411-4b6c7248bc83',
  'Configuration::Provider::Logging': 'e1782fef-4b7c-4f75-b8b8-6e6e2ecd82b2',
  'Configuration::Provider::CaaS::ECS': '8406d8e0-4b7e-49f1-acf7-04c519ca9dca',
  'Configuration::Provider::Lambda::AWS': '53261b96-2ab4-49d2-bada-0d4b55661b5c',
  'Configuration::Provider::GatewayManager::AWS': '4262ea0f-6f04-4ea9-b4b8-5ad2d75f8478',
  'Configuration::Provider::StreamProvider': 'b7f764be-9ae6-4f70-9c42-849cc881125f',
  'Configuration::Provider::Catalog': '13e40777-52f5-4768-bbc4-a08128fcae3b',
  'Configuration::Provider::Git': '8b3d347a-cd8f-4491-afe9-e8c7ed042317',
};
const OWN_TYPES =
  'Resource::ApiEndpoint Resource::Rule::Event Resource::Rule::Limit Resource::Rule Resource::Entitlement ' +
  'Resource::License Resource::Domain Configuration::Provider::CaaS Configuration::Provider::CaaS::Docker ' +
  'Configuration::Provider::CaaS::Kubernetes Configuration::Provider::CaaS::DCOS Configuration::Provider::CaaS::Swarm ' +
  'Configuration::Provider::Lambda Configuration::Provider::Lambda::Executor Configuration::Provider::GatewayManager ' +
  'Configuration::Provider::Kong Configuration::Provider::Policy Configuration::Provider::Security ' +
  'Configuration::Provider::Data Configuration::Provider::Data::PostgreSQL Configuration::Provider::Messaging ' +
  'Configuration::Provider::Messaging::RabbitMQ Configuration::Provider::ActionProvider ' +
  'Configuration::Provider::Lambda::Executor::NodeJS Configuration::Provider::Lambda::Executor::JavaScript ' +
  'Configuration::Provider::Lambda::Executor::Java Configuration::Provider::Lambda::Executor::Python ' +
  'Configuration::Provider::Lambda::Executor::Ruby Configuration::Provider::Lambda::Executor::DotNet ' +
  'Configuration::Provider::Lambda::Executor::GoLang Configuration::Provider::Lambda::Executor::Bash';

const platform = sharedPlatform({ typePrefix: 'Brand' });
const { root } = platform;
let tenant: Tenant;
let container: Body;
beforeAll(async () => {
  tenant = await createTenant(root, 'acme');
  container = await root.create(`${tenant.environment}/containers`, containerBody(tenant, 'one'));
});

const idsOf = (list: Body) => list.map(({ id }: Body) => id);

describe('the configured prefix (D-080)', () => {
  it('begins every type and state in the output', async () => {
    const lambda = await root.create(`${tenant.environment}/lambdas`, lambdaBody(tenant, 'l'));
    const policy = await root.create('/acme/policies', { name: 'p' });
    const rule = await root.create(`/acme/policies/${policy.id}/rules`, {
      name: 'r',
      resource_type: 'Brand::Resource::Rule::Event',
      properties: { match_actions: [{ action: 'job.create' }], lambda: lambda.id },
    });
    expect(container).toMatchObject({
      resource_type: 'Brand::Resource::Container',
      resource_state: 'Brand::Resource::State::Active',
      properties: { provider: { resource_type: 'Brand::Configuration::Provider::CaaS::Docker' } },
    });
    expect(rule.resource_type).toBe('Brand::Resource::Rule::Event');
    const replies = await Promise.all([
      root.get(`/root/providers/${tenant.docker}`),
      root.get('/root/providers?expand=true'),
      root.get('/root/resourcetypes'),
      root.get('/resourcestates'),
      root.get(`${tenant.environment}/entitlements?expand=true`),
      root.get('/orgs?expand=true'),
      root.get('/users/self'),
    ]);
    for (const { status, body } of replies) {
      expect(status).toBe(200);
      expect(JSON.stringify(body)).toContain('Brand::');
    }
    const all = JSON.stringify([container, lambda, policy, rule, ...replies.map(({ body }) => body)]);
    expect(new Set(all.match(/"[^":]*::(?:Resource|Configuration)::/g))).toEqual(
      new Set(['"Brand::Resource::', '"Brand::Configuration::']),
    );
  });

  it('is no part of the comparison on input: any first segment means the same, and so does the id', async () => {
    let createdCount = 0;
    const post = (resource_type: string) =>
      root.post('/acme/workspaces', { name: `w-${createdCount++}`, resource_type });
    for (const type of [
      'Brand::Resource::Workspace',
      'Platform::Resource::Workspace',
      '::Resource::Workspace',
      IDS['Resource::Workspace'] ?? '',
      (IDS['Resource::Workspace'] ?? '').toUpperCase(),
    ]) {
      expect(await post(type), type).toMatchObject({
        status: 201,
        body: { resource_type: 'Brand::Resource::Workspace' },
      });
    }
    for (const type of [
      'Resource::Workspace',
      'Brand::resource::workspace',
      'Brand::Resource::Environment',
      'Brand::Other::Resource::Workspace',
      IDS['Resource::Environment'] ?? '',
      UNKNOWN_ID,
      'workspaces',
      '',
    ]) {
      expect(await post(type), type).toMatchObject(refusal(400, '/resource_type'));
    }
  });

  it('may be another in linked providers and in lists by type', async () => {
    const [logging] = (await root.get('/root/providers?type=Anything::Configuration::Provider::Logging')).body;
    const provider = await root.create('/acme/providers', {
      name: 'foreign',
      resource_type: 'Foreign::Configuration::Provider::Kong',
      properties: {
        linked_providers: [
          { id: logging.id, type: 'Foreign::Configuration::Provider::Logging', typeId: logging.typeId },
        ],
      },
    });
    expect(provider).toMatchObject({
      resource_type: 'Brand::Configuration::Provider::Kong',
      properties: { linked_providers: [{ type: 'Brand::Configuration::Provider::Logging' }] },
    });
  });

  it('names the members of tokens too, in lower case', async () => {
    const { password = '' } = platform.emulator.rootCredentials;
    const form = new URLSearchParams({ grant_type: 'password', username: 'root', password });
    const reply = await fetch(`${platform.emulator.securityUrl}/root/oauth/issue`, { method: 'POST', body: form });
    expect(Object.keys((await reply.json()) as object)).toContain('brand_access_token_href');
  });
});

describe('the table (D-081, D-084)', () => {
  it('is listed in full, with the ids of the contract and own ones for the rest', async () => {
    const { status, body } = await root.get('/root/resourcetypes');
    expect(status).toBe(200);
    const listed = new Map<string, string>(body.map(({ name, id }: Body) => [name, id]));
    for (const [name, id] of Object.entries(IDS)) expect(listed.get(`Brand::${name}`), name).toBe(id);
    for (const name of OWN_TYPES.split(' ')) {
      expect(listed.get(`Brand::${name}`), name).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    }
    expect(new Set(listed.values()).size).toBe(body.length);
    expect([...listed.values()]).toContain('45bc59bf-e6b7-4537-b685-a7aa32f56ddd');
    expect((await root.get('/resourcetypes')).body).toEqual(body);
    const expanded = (await root.get('/acme/resourcetypes?expand=true&colour=red')).body;
    expect(expanded).toMatchObject(body);
    expect(expanded[0].description).toEqual(expect.any(String));
  });

  it('keeps its own constants over starts', async () => {
    const other = await startPlatform();
    try {
      const ids = async (client: ApiClient) =>
        (await client.get('/resourcetypes')).body.map(({ id, name }: Body) => [name.replace(/^\w+/, ''), id]);
      expect(await ids(other.root)).toEqual(await ids(root));
    } finally {
      await other.stop();
    }
  });

  it('answers for one type by id or encoded full name, with its schema and the properties in it', async () => {
    const id = IDS['Resource::Container'];
    const typePath = `/acme/resourcetypes/${id}`;
    const { status, body } = await root.get(typePath);
    expect(status).toBe(200);
    expect(body).toMatchObject({ id, name: 'Brand::Resource::Container' });
    for (const name of ['Brand::Resource::Container', 'Platform::Resource::Container']) {
      expect((await root.get(`/acme/resourcetypes/${encodeURIComponent(name)}`)).body).toEqual(body);
    }
    const schema = await root.get(`${typePath}/schema`);
    expect(schema).toMatchObject({
      status: 200,
      body: { type: 'object', properties: { image: { type: 'string' }, num_instances: { type: 'integer' } } },
    });
    expect(schema.body.required.sort()).toEqual(['container_type', 'image', 'provider']);
    const properties = (await root.get(`${typePath}/typeproperties`)).body;
    expect(properties.map(({ name }: Body) => name)).toEqual(Object.keys(schema.body.properties));
  });

  it('has a schema and properties for every type', async () => {
    for (const { id, name } of (await root.get('/resourcetypes')).body) {
      expect(await root.get(`/root/resourcetypes/${id}/schema`), name).toMatchObject({
        status: 200,
        body: { type: 'object' },
      });
      expect((await root.get(`/root/resourcetypes/${id}/typeproperties`)).status, name).toBe(200);
      expect((await root.get(`/root/resourcetypes/${id}/resources`)).status, name).toBe(200);
    }
  });

  it('is read-only: 501', async () => {
    const typePath = `/root/resourcetypes/${IDS['Resource::Api']}`;
    expect(await root.post('/root/resourcetypes', { name: 'x' })).toMatchObject(refusal(501));
    expect(await root.patch(typePath, [])).toMatchObject(refusal(501));
    expect(await root.delete(typePath)).toMatchObject(refusal(501));
    expect(await root.post(`${typePath}/typeproperties`, {})).toMatchObject(refusal(501));
  });

  it('is 404 for a type that is unknown', async () => {
    const foreign = encodeURIComponent('Brand::Resource::Toaster');
    for (const rest of ['', '/schema', '/typeproperties', '/resources', '/resources/search?name=x']) {
      expect(await root.get(`/root/resourcetypes/${UNKNOWN_ID}${rest}`), rest).toMatchObject(refusal(404));
      expect(await root.get(`/root/resourcetypes/${foreign}${rest}`), rest).toMatchObject(refusal(404));
      expect(await root.get(`/root/resourcetypes/toaster${rest}`), rest).toMatchObject(refusal(400));
    }
    expect(await root.get(`/nowhere/resourcetypes/${IDS['Resource::Api']}`)).toMatchObject(refusal(404));
  });
});

describe('the resources of a type (D-085)', () => {
  const resourcesPath = (type: string, fqon = 'acme') => `/${fqon}/resourcetypes/${encodeURIComponent(type)}/resources`;

  it('are those that the organization owns, not its children’s, as links or records', async () => {
    await root.create('/acme', { name: 'sub' });
    const inner = await root.create('/acme.sub/workspaces', { name: 'inner' });
    const list = resourcesPath(IDS['Resource::Container'] ?? '');
    const [link, ...otherLinks] = (await root.get(list)).body;
    expect(otherLinks).toEqual([]);
    expect(link).toEqual({
      typeId: IDS['Resource::Container'],
      id: container.id,
      name: 'one',
      href: `${platform.emulator.metaUrl}/acme/containers/${container.id}`,
    });
    expect((await root.get(`${list}?expand=true`)).body).toEqual([container]);
    expect((await root.get(resourcesPath('Any::Resource::Container'))).body).toEqual([link]);
    expect((await root.get(resourcesPath('Any::Resource::Container', 'root'))).body).toEqual([]);
    expect(idsOf((await root.get(resourcesPath('Any::Resource::Workspace'))).body)).not.toContain(inner.id);
    expect(idsOf((await root.get(resourcesPath('Any::Resource::Workspace', 'acme.sub'))).body)).toEqual([inner.id]);
    const orgs = (await root.get(`${resourcesPath('Any::Resource::Organization')}?expand=true`)).body;
    expect(orgs.map(({ name }: Body) => name)).toEqual(['sub']);
  });

  it('include the sub-types of an abstract type', async () => {
    const types = async (type: string) =>
      (await root.get(`${resourcesPath(type, 'root')}?expand=true`)).body.map((record: Body) => record.resource_type);
    expect(await types('A::Configuration::Provider')).toHaveLength(6);
    expect(await types('A::Configuration::Provider::Logging')).toEqual(['Brand::Configuration::Provider::Logging']);
    expect((await root.get(`${resourcesPath('A::Resource::Rule')}?expand=true`)).body).toMatchObject([
      { resource_type: 'Brand::Resource::Rule::Event' },
    ]);
  });

  it('are empty for types that are only listed', async () => {
    for (const name of ['Resource::Configuration::DataFeed', 'Resource::License', 'Configuration::AppDeployment']) {
      expect(await root.get(resourcesPath(`Brand::${name}`))).toMatchObject({ status: 200, body: [] });
    }
  });

  it('are searched by one criterion at least', async () => {
    const search = (query: string) => root.get(`${resourcesPath('A::Resource::Container')}/search${query}`);
    for (const query of ['', '?expand=true', '?compact=true'])
      expect(await search(query), query).toMatchObject(refusal(400));
    expect(idsOf((await search('?name=one')).body)).toEqual([container.id]);
    expect((await search('?image=nginx:1&expand=true')).body).toEqual([container]);
    expect(idsOf((await search('?num_instances=1&memory=128')).body)).toEqual([container.id]);
    expect((await search('?image=other')).body).toEqual([]);
    expect(await search('?colour=red')).toMatchObject(refusal(400));
  });
});
