import { beforeAll, expect, it } from 'vitest';
import { type ApiClient, sharedPlatform } from '../../testing/platform.ts';
import {
  type Body,
  containerBody,
  createTenant,
  grant,
  lambdaBody,
  makeUser,
  type Tenant,
} from '../../testing/tenant.ts';

const platform = sharedPlatform();
const { root } = platform;
/** Tenant in which the writer may write anything. */
let ownTenant: Tenant;
/** Tenant in which the writer may do nothing. */
let other: Tenant;
let writer: ApiClient;
let foreign: Record<'secret' | 'volume' | 'lambda' | 'open' | 'container' | 'provider' | 'user' | 'group', Body>;
let policy: Body;
let api: Body;

beforeAll(async () => {
  ownTenant = await createTenant(root, 'own');
  other = await createTenant(root, 'other');
  const { id, client } = await makeUser(platform, 'writer');
  writer = client;
  for (const noun of [
    'container',
    'lambda',
    'apiendpoint',
    'provider',
    'group',
    'rule',
    'policy',
    'volume',
    'secret',
    'entitlement',
  ]) {
    for (const verb of ['create', 'view', 'update']) await grant(root, ownTenant.org, `${noun}.${verb}`, id);
  }
  for (const action of ['container.promote', 'lambda.promote', 'apiendpoint.invoke'])
    await grant(root, ownTenant.org, action, id);
  const provider = { id: other.docker };
  foreign = {
    secret: await root.create(`${other.environment}/secrets`, {
      name: 'theirs',
      properties: { provider, items: [{ key: 'k', value: 'v' }] },
    }),
    volume: await root.create(`${other.environment}/volumes`, {
      name: 'theirs',
      properties: { provider, type: 'persistent' },
    }),
    lambda: await root.create(`${other.environment}/lambdas`, lambdaBody(other, 'private', { public: false })),
    open: await root.create(`${other.environment}/lambdas`, lambdaBody(other, 'open')),
    container: await root.create(
      `${other.environment}/containers`,
      containerBody(other, 'theirs', {
        num_instances: 0,
        port_mappings: [{ name: 'web', protocol: 'tcp', container_port: 80, expose_endpoint: true }],
      }),
    ),
    provider: await root.create(`${other.org}/providers`, {
      name: 'theirs',
      resource_type: 'Platform::Configuration::Provider::CaaS::Docker',
    }),
    user: await root.create(`${other.org}/users`, { name: 'their-user', properties: { password: 'x' } }),
    group: await root.create(`${other.org}/groups`, { name: 'theirs' }),
  };
  policy = await root.create(`${ownTenant.org}/policies`, { name: 'p' });
  api = await root.create(`${ownTenant.environment}/apis`, { name: 'own-api' });
});

let createdCount = 0;
const name = () => `thing-${++createdCount}`;
const ownContainer = (properties: object) => containerBody(ownTenant, name(), { num_instances: 0, ...properties });
const endpoint = (target: Body, properties: object = {}) => ({
  name: name(),
  properties: { resource: `/${name()}`, implementation_type: 'lambda', implementation_id: target.id, ...properties },
});
const mountOf = (secret: Body) => ({ mount_type: 'env', secret_id: secret.id, path: 'A', secret_key: 'k' });

const creations: [what: string, action: string, named: keyof typeof foreign, at: () => string, body: () => object][] = [
  [
    'a secret',
    'secret.view',
    'secret',
    () => `${ownTenant.environment}/containers`,
    () => ownContainer({ secrets: [mountOf(foreign.secret)] }),
  ],
  [
    'a secret of a job',
    'secret.view',
    'secret',
    () => `${ownTenant.environment}/lambdas`,
    () => lambdaBody(ownTenant, name(), { secrets: [mountOf(foreign.secret)] }),
  ],
  [
    'a volume',
    'volume.view',
    'volume',
    () => `${ownTenant.environment}/containers`,
    () => ownContainer({ volumes: [{ mount_path: '/v', volume_id: foreign.volume.id }] }),
  ],
  [
    'a private lambda of an endpoint',
    'lambda.invoke',
    'lambda',
    () => `${ownTenant.org}/apis/${api.id}/apiendpoints`,
    () => endpoint(foreign.lambda),
  ],
  [
    'a container of an endpoint',
    'container.view',
    'container',
    () => `${ownTenant.org}/apis/${api.id}/apiendpoints`,
    () => endpoint(foreign.container, { implementation_type: 'container', container_port_name: 'web' }),
  ],
  [
    'the lambda of an event rule',
    'lambda.invoke',
    'lambda',
    () => `${ownTenant.org}/policies/${policy.id}/rules`,
    () => ({
      name: name(),
      resource_type: 'Platform::Resource::Rule::Event',
      properties: { match_actions: [{ action: 'lambda.create.post' }], lambda: foreign.lambda.id },
    }),
  ],
  [
    'a provider',
    'provider.view',
    'provider',
    () => `${ownTenant.environment}/containers`,
    () => ownContainer({ provider: { id: foreign.provider.id } }),
  ],
  [
    'the provider of an inline volume',
    'provider.view',
    'provider',
    () => `${ownTenant.environment}/containers`,
    () =>
      ownContainer({
        volumes: [
          {
            mount_path: '/v',
            volume_resource: {
              name: 'inline',
              properties: { type: 'persistent', provider: { id: foreign.provider.id } },
            },
          },
        ],
      }),
  ],
  [
    'a linked provider',
    'provider.view',
    'provider',
    () => `${ownTenant.org}/providers`,
    () => ({
      name: name(),
      resource_type: 'Platform::Configuration::Provider::Logging',
      properties: { linked_providers: [{ id: foreign.provider.id }] },
    }),
  ],
  [
    'a member',
    'user.view',
    'user',
    () => `${ownTenant.org}/groups`,
    () => ({ name: name(), properties: { users: [foreign.user.id] } }),
  ],
  [
    'whom an endpoint lets in, in any spelling',
    'group.view',
    'group',
    () => `${ownTenant.org}/apis/${api.id}/apiendpoints`,
    () => endpoint(foreign.open, { plugins: { acmeSecurity: { enabled: true, groups: [foreign.group.id] } } }),
  ],
];

it.each(creations)(
  '%s out of reach cannot be named: %s is missing (D-117, D-118)',
  async (_, action, named, at, body) => {
    const requestBody = body();
    const refused = await writer.post(at(), requestBody);
    expect(refused).toMatchObject({ status: 403, body: { message: expect.stringContaining(`Failed: '${action}'`) } });
    expect(refused.body.details).toEqual([
      { pointer: expect.stringMatching(/^\/properties\//), message: expect.stringContaining(foreign[named].id) },
    ]);
    expect((await root.post(at(), requestBody)).status).toBe(201);
  },
);

it('public identities and those of the same organization or one above can be named', async () => {
  const user = await root.create('/root/users', { name: 'above', properties: { password: 'x' } });
  expect((await writer.post(`${ownTenant.org}/apis/${api.id}/apiendpoints`, endpoint(foreign.open))).status).toBe(201);
  expect(
    (await writer.post(`${ownTenant.org}/groups`, { name: name(), properties: { users: [user.id] } })).status,
  ).toBe(201);
  expect((await writer.post(`${ownTenant.environment}/containers`, ownContainer({}))).status).toBe(201);
});

it('patches, PUTs and membership name nothing out of reach either', async () => {
  const container = await writer.create(`${ownTenant.environment}/containers`, ownContainer({}));
  const group = await writer.create(`${ownTenant.org}/groups`, { name: name() });
  const secrets = [mountOf(foreign.secret)];
  const path = `${ownTenant.org}/containers/${container.id}`;
  const answers = [
    await writer.patch(path, [{ op: 'add', path: '/properties/secrets', value: secrets }]),
    await writer.put(path, { ...container, properties: { ...container.properties, secrets } }),
    await writer.patch(`${ownTenant.org}/groups/${group.id}/users?id=${foreign.user.id}`, []),
  ];
  expect(answers.map(({ status }) => status)).toEqual([403, 403, 403]);
  expect((await root.get(path)).body.properties.secrets).toEqual([]);
});

it('an earlier reference of a record does not reject a change', async () => {
  const container = await root.create(
    `${ownTenant.environment}/containers`,
    ownContainer({ secrets: [mountOf(foreign.secret)] }),
  );
  const path = `${ownTenant.org}/containers/${container.id}`;
  const patch = [{ op: 'replace', path: '/properties/secrets/0/path', value: 'B' }];
  expect((await writer.patch(path, patch)).status).toBe(200);
});

it('rights are given to those within reach only', async () => {
  const container = await writer.create(`${ownTenant.environment}/containers`, ownContainer({}));
  const path = `${ownTenant.org}/containers/${container.id}/entitlements`;
  const [entitlement] = (await writer.get(`${path}?expand=true`)).body;
  const { id, name: named, properties } = entitlement;
  const put = (identity: string) =>
    writer.put(`${ownTenant.org}/entitlements/${id}`, {
      id,
      name: named,
      properties: { action: properties.action, identities: [identity] },
    });
  expect(await put(foreign.user.id)).toMatchObject({
    status: 403,
    body: { message: expect.stringContaining("'user.view'") },
  });
});

it('a promotion mounts resources with the same names at the target, and lists the missing ones (D-133)', async () => {
  const provider = { id: ownTenant.docker };
  const make = (environment: string, collection: string, properties: object, named: string) =>
    root.create(`${environment}/${collection}`, { name: named, properties: { provider, ...properties } });
  const source = {
    db: await make(ownTenant.environment, 'secrets', { items: [{ key: 'k', value: 'development' }] }, 'db'),
    data: await make(ownTenant.environment, 'volumes', { type: 'empty_dir' }, 'data'),
  };
  const production = await root.create(`${ownTenant.workspace}/environments`, {
    name: 'production',
    properties: { environment_type: 'production' },
  });
  const target = `${ownTenant.org}/environments/${production.id}`;
  const lambda = await root.create(
    `${ownTenant.environment}/lambdas`,
    lambdaBody(ownTenant, 'promoted', { secrets: [mountOf(source.db)] }),
  );
  const promote = () => root.post(`${ownTenant.org}/lambdas/${lambda.id}/promote?target=${production.id}`);
  expect(await promote()).toMatchObject({ status: 409, body: { message: expect.stringContaining("secret 'db'") } });
  expect((await root.get(`${target}/lambdas`)).body).toEqual([]);

  const targetSecret = await make(target, 'secrets', { items: [{ key: 'k', value: 'production' }] }, 'db');
  expect((await promote()).status).toBe(202);
  await expect
    .poll(async () => (await root.get(`${target}/lambdas?expand=true`)).body[0]?.properties.secrets)
    .toEqual([mountOf(targetSecret)]);
  // Nothing in development mounts it, so development can be deleted; production cannot, while other resources mount its secrets.
  const deletion = await root.delete(`${target}?force=true`);
  expect(deletion.status).toBe(204);
});

it('an environment is not deleted, even by force, while others mount its secrets or volumes (D-133)', async () => {
  const environment = await root.create(`${ownTenant.workspace}/environments`, {
    name: 'kept',
    properties: { environment_type: 'test' },
  });
  const path = `${ownTenant.org}/environments/${environment.id}`;
  const secret = await root.create(`${path}/secrets`, {
    name: 'shared',
    properties: { provider: { id: ownTenant.docker }, items: [{ key: 'k', value: 'v' }] },
  });
  const lambda = await root.create(
    `${ownTenant.environment}/lambdas`,
    lambdaBody(ownTenant, 'mounting', { secrets: [mountOf(secret)] }),
  );
  for (const query of ['', '?force=true']) {
    const refused = await root.delete(`${path}${query}`);
    expect(refused).toMatchObject({ status: 409, body: { details: [{ pointer: `/resources/${lambda.id}` }] } });
    expect(refused.body.message).toMatch(/lambda 'mounting' .* mounts its secret 'shared'/);
  }
  await root.delete(`${ownTenant.org}/lambdas/${lambda.id}`);
  expect((await root.delete(`${path}?force=true`)).status).toBe(204);
});

it('everybody may change the password, names, email and phone number of his own user, and no more (D-117)', async () => {
  const { id, client } = await makeUser(platform, 'self');
  const path = `/root/users/${id}`;
  const ownChanges = [
    { op: 'add', path: '/properties/firstName', value: 'Ada' },
    { op: 'add', path: '/properties/email', value: 'ada@example.com' },
    { op: 'replace', path: '/properties/password', value: 'new' },
  ];
  expect(await client.patch(path, ownChanges)).toMatchObject({
    status: 200,
    body: { properties: { firstName: 'Ada' } },
  });
  expect((await client.get(path)).status).toBe(200);
  for (const patch of [
    { op: 'replace', path: '/name', value: 'root2' },
    { op: 'add', path: '/properties/platform_home', value: 'own' },
  ]) {
    expect(await client.patch(path, [patch])).toMatchObject({
      status: 403,
      body: { message: expect.stringContaining('user.update') },
    });
  }
});
