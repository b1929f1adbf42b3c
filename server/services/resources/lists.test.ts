import { beforeAll, describe, expect, it } from 'vitest';
import { sharedPlatform } from '../../testing/platform.ts';
import { restoreWorldAfterEach } from '../../testing/restore-world-after-each.ts';
import {
  type Body,
  containerBody,
  createTenant,
  grant,
  lambdaBody,
  makeUser,
  type Tenant,
  withEnvironment,
} from '../../testing/tenant.ts';

const UNKNOWN_ID = '00000000-0000-4000-8000-000000000000';

const platform = sharedPlatform();
const { root } = platform;
/** `acme`, below it `acme.labs` with a place of its own, and `rival`. */
let acme: Tenant;
let rival: Tenant;
const ids: Record<string, string> = {};

beforeAll(async () => {
  acme = await createTenant(root, 'acme');
  rival = await createTenant(root, 'rival');
  const make = async (at: string, body: Body) => {
    ids[body.name] = (await root.create(at, body)).id;
  };
  await make('/acme', { name: 'labs' });
  await make('/acme.labs', { name: 'deep' });
  await make('/acme.labs/workspaces', { name: 'bench' });
  await make(
    `${acme.environment}/lambdas`,
    lambdaBody(acme, 'in-environment', { timeout: 7, public: false, cpus: 0.5 }),
  );
  await make(`${acme.workspace}/lambdas`, lambdaBody(acme, 'in-workspace', { timeout: 7, public: true }));
  await make('/acme/lambdas', lambdaBody(acme, 'in-organization', { public: false }));
  await make('/acme.labs/lambdas', lambdaBody(acme, 'in-labs'));
  await make(`${acme.environment}/containers`, containerBody(acme, 'web'));
  await make(`${rival.environment}/containers`, containerBody(rival, 'web-of-rival'));
  await make(`${acme.environment}/jobs`, containerBody(acme, 'batch'));
  const logging = { resource_type: 'Platform::Configuration::Provider::Logging' };
  await make('/acme/providers', { name: 'acme-logs', ...logging, properties: { level: 'debug', size: 3 } });
  await make(`${acme.environment}/providers`, { name: 'env-logs', ...logging });
  await make('/rival/providers', { name: 'rival-logs', ...logging });
});
restoreWorldAfterEach(platform);

const names = async (path: string): Promise<string[]> => (await root.get(path)).body.map((record: Body) => record.name);

describe('the contents of a list (D-186)', () => {
  it('F/{type}: all of that type that the organization owns, whatever the parent, not what is in sub-organizations', async () => {
    expect(await names('/acme/lambdas')).toEqual(['in-environment', 'in-workspace', 'in-organization']);
    expect(await names('/acme.labs/lambdas')).toEqual(['in-labs']);
    expect(await names('/acme/environments')).toEqual(['env']);
    expect(await names('/acme/workspaces')).toEqual(['ws']);
    expect(await names('/acme/containers')).toEqual(['web']);
    expect(await names('/acme/jobs')).toEqual(['batch']);
    expect(await names('/root/lambdas')).toEqual([]);
  });

  it('a child list: direct children only', async () => {
    expect(await names(`${acme.environment}/lambdas`)).toEqual(['in-environment']);
    expect(await names(`${acme.workspace}/lambdas`)).toEqual(['in-workspace']);
    expect(await names(`/root/orgs/${acme.organizationId}/lambdas`)).toEqual(['in-organization']);
    expect(await names(`/root/orgs/${acme.organizationId}/orgs`)).toEqual(['labs']);
    expect(await names(`/root/orgs/${acme.organizationId}/environments`)).toEqual([]);
    expect(await names(`${acme.environment}/workspaces`)).toEqual([]);
  });

  it('F/orgs: sub-organizations at any depth without F itself; /orgs and /users: everything', async () => {
    expect(await names('/acme/orgs')).toEqual(['labs', 'deep']);
    expect(await names('/root/orgs')).toEqual(['acme', 'rival', 'labs', 'deep']);
    expect(await names('/acme.labs.deep/orgs')).toEqual([]);
    expect(await names('/orgs')).toEqual(['root', 'acme', 'rival', 'labs', 'deep']);
    expect(await names('/users')).toEqual(['root']);
  });

  it('F/resources: all resources of the organization; below a resource, all of its children', async () => {
    expect(await names('/acme.labs/resources')).toEqual(['deep', 'bench', 'in-labs']);
    expect(await names(`${acme.environment}/resources`)).toEqual(['in-environment', 'web', 'batch', 'env-logs']);
  });

  it('is an array, never paged, oldest first', async () => {
    for (let index = 0; index < 120; index++) await root.create('/rival/groups', { name: `group-${index}` });
    expect(await names('/rival/groups')).toEqual(Array.from({ length: 120 }, (_, index) => `group-${index}`));
    for (const path of ['/root/orgs', '/acme/resources', '/rival/resources', '/acme/providers', '/orgs']) {
      const times = (await root.get(`${path}?expand=true`)).body.map((record: Body) => record.created.timestamp);
      expect(times, path).toEqual([...times].sort());
    }
  });

  it('is of links, of records with expand=true, whatever the type', async () => {
    for (const path of [
      '/orgs',
      '/users',
      '/acme/lambdas',
      '/acme/resources',
      '/acme/providers',
      `${acme.environment}/jobs`,
    ]) {
      for (const [query, member, absent] of [
        ['', 'typeId', 'resource_type'],
        ['?expand=false', 'typeId', 'resource_type'],
        ['?expand=true', 'resource_type', 'typeId'],
      ] as const) {
        const { body } = await root.get(path + query);
        expect(body.length).toBeGreaterThan(0);
        for (const record of body) {
          expect(record).toHaveProperty(member);
          expect(record).not.toHaveProperty(absent);
        }
      }
    }
  });

  it('omits resources that the caller cannot view (D-118)', async () => {
    const { id, client } = await makeUser(platform, 'reader');
    expect(await client.get('/acme/lambdas')).toMatchObject({ status: 200, body: [] });
    await grant(root, acme.workspace, 'lambda.view', id);
    const visibleNames = async (path: string) => (await client.get(path)).body.map((record: Body) => record.name);
    expect(await visibleNames('/acme/lambdas')).toEqual(['in-environment', 'in-workspace']);
    expect(await visibleNames('/acme/lambdas?timeout=7')).toEqual(['in-environment', 'in-workspace']);
    expect(await visibleNames('/acme/resources')).toEqual(['in-environment', 'in-workspace']);
    expect(await visibleNames('/orgs')).toEqual([]);
  });

  it('below an unknown parent is 404 (D-190)', async () => {
    for (const collection of ['environments', 'lambdas', 'licenses', 'entitlements', 'resources']) {
      expect(await root.get(`/acme/workspaces/${UNKNOWN_ID}/${collection}`)).toMatchObject({ status: 404 });
      expect(await root.get(`/acme/lambdas/${acme.workspaceId}/${collection}`)).toMatchObject({ status: 404 });
    }
  });
});

describe('lists of what names a resource', () => {
  it('F/providers/{id}/containers: its containers in all organizations (D-055)', async () => {
    const path = `/root/providers/${acme.docker}/containers`;
    expect(await names(path)).toEqual(['web', 'web-of-rival']);
    const expanded = (await root.get(`${path}?expand=true`)).body;
    expect(expanded[1]).toEqual((await root.get(`/rival/containers/${ids['web-of-rival']}`)).body);
    expect(await names(`${path}?name=web`)).toEqual(['web']);
    expect((await root.get(`${path}/${ids['web-of-rival']}`)).body.name).toBe('web-of-rival');
    expect(await root.get(`${path}/${ids.batch}`)).toMatchObject({ status: 404 });
    expect(await root.get(`/root/providers/${acme.lambdas}/containers/${ids.web}`)).toMatchObject({ status: 404 });
  });

  it('F/lambdas/{id}/apiendpoints: the endpoints that target it (D-062)', async () => {
    const api = await root.create(`${acme.environment}/apis`, { name: 'site' });
    const properties = { resource: '/x', implementation_type: 'lambda', implementation_id: ids['in-labs'] };
    await root.create(`/acme/apis/${api.id}/apiendpoints`, { name: 'to-labs', properties });
    expect(await names(`/acme.labs/lambdas/${ids['in-labs']}/apiendpoints`)).toEqual(['to-labs']);
    expect(await names(`/acme/lambdas/${ids['in-workspace']}/apiendpoints`)).toEqual([]);
    expect(await names(`/acme/apiendpoints?implementation_id=${ids['in-labs']}`)).toEqual(['to-labs']);
    expect(await names(`/acme/apiendpoints?implementation_id=${ids['in-labs']?.toUpperCase()}`)).toEqual(['to-labs']);
  });

  it('F/users/{id}/groups and F/groups/{id}/users (D-072, D-073)', async () => {
    const ada = await root.create('/acme/users', { name: 'ada', properties: { password: 'x' } });
    const bob = await root.create('/acme/users', { name: 'bob', properties: { password: 'x' } });
    const group = await root.create('/acme/groups', { name: 'staff', properties: { users: [bob.id, ada.id] } });
    expect(await names(`/acme/users/${ada.id}/groups`)).toEqual(['staff']);
    expect(await names(`/acme/groups/${group.id}/users`)).toEqual(['ada', 'bob']);
    expect((await root.get(`/acme/groups/${group.id}/users/${ada.id}`)).body.name).toBe('ada');
  });
});

describe('providers (D-065)', () => {
  const defaults = ['default-logging', 'nodejs-executor', 'default-docker', 'default-lambda'];

  it('are those of the place and of all above it', async () => {
    const atRoot = await names('/root/providers');
    expect(atRoot).toEqual(expect.arrayContaining(defaults));
    expect(await names('/acme/providers')).toEqual([...atRoot, 'acme-logs']);
    expect(await names('/acme.labs/providers')).toEqual([...atRoot, 'acme-logs']);
    expect(await names(`${acme.workspace}/providers`)).toEqual([...atRoot, 'acme-logs']);
    expect(await names(`${acme.environment}/providers`)).toEqual([...atRoot, 'acme-logs', 'env-logs']);
    expect(await names(`/root/orgs/${acme.organizationId}/providers`)).toEqual([...atRoot, 'acme-logs']);
    const path = `${acme.environment}/providers/${acme.docker}`;
    expect((await root.get(path)).body.name).toBe('default-docker');
  });

  it.each([
    ['CaaS', ['default-docker']],
    ['CaaS::Docker', ['default-docker']],
    ['Docker', ['default-docker']],
    ['CaaS::Kubernetes', []],
    ['Lambda', ['default-lambda']],
    ['Executor', ['nodejs-executor']],
    ['Lambda::Executor::NodeJS', ['nodejs-executor']],
    ['Kong', ['default-gateway']],
    ['GatewayManager', ['default-gateway-manager']],
    ['Logging', ['default-logging', 'acme-logs']],
    ['Platform::Configuration::Provider::Logging', ['default-logging', 'acme-logs']],
    ['Acme::Configuration::Provider::CaaS', ['default-docker']],
    ['e1782fef-4b7c-4f75-b8b8-6e6e2ecd82b2', ['default-logging', 'acme-logs']],
    ['E1782FEF-4B7C-4F75-B8B8-6E6E2ECD82B2', ['default-logging', 'acme-logs']],
    ['Data', []],
    ['Messaging', []],
  ])('?type=%s selects %j', async (type, expected) => {
    expect(await names(`/acme/providers?type=${encodeURIComponent(type)}`)).toEqual(expected);
  });

  it.each(['Toaster', 'caas', 'aaS', 'Platform::Resource::Container', UNKNOWN_ID, ''])(
    '?type=%s is 400',
    async (type) => {
      for (const parentPath of ['/acme', acme.workspace, acme.environment]) {
        expect(await root.get(`${parentPath}/providers?type=${type}`)).toMatchObject({
          status: 400,
          body: { code: 400 },
        });
      }
    },
  );
});

describe('filters (D-187)', () => {
  it.each([
    ['lambdas?timeout=7', ['in-environment', 'in-workspace']],
    ['lambdas?public=false', ['in-environment', 'in-organization']],
    ['lambdas?cpus=0.5', ['in-environment']],
    ['lambdas?timeout=7&public=true', ['in-workspace']],
    ['lambdas?timeout=7.0', []],
    ['lambdas?name=in-workspace', ['in-workspace']],
    ['lambdas?name=IN-WORKSPACE', []],
    ['lambdas?name=in-', []],
    ['lambdas?memory=512', []],
    ['containers?status=LOST', ['web']],
    ['containers?tasks_running=0', ['web']],
    ['containers?container_type=DOCKER&image=nginx%3A1', ['web']],
    ['environments?environment_type=development', ['env']],
    ['providers?level=debug', ['acme-logs']],
    ['providers?size=3&type=Logging', ['acme-logs']],
    ['orgs?fqon=acme.labs.deep', ['deep']],
    ['resources?timeout=7', ['in-environment', 'in-workspace']],
  ])('%s selects %j', async (query, expected) => {
    expect(await names(`/acme/${query}`)).toEqual(expected);
  });

  it('leave out what begins with an underscore: caches are passed by that way', async () => {
    expect(await names('/acme/lambdas?_=123&name=in-workspace')).toEqual(['in-workspace']);
    expect(await names('/acme/lambdas?__proto__=x&name=in-workspace')).toEqual(['in-workspace']);
  });

  it.each([
    ['lambdas?runtme=nodejs', "lambdas have no property 'runtme' to filter by; did you mean runtime?"],
    ['lambdas?TimeOut=7', "lambdas have no property 'TimeOut' to filter by; did you mean timeout?"],
    [
      'lambdas?force=true',
      "lambdas have no property 'force' to filter by; valid names: name, description, id, parent, ",
    ],
    ['lambdas?type=inline', "lambdas have no property 'type' to filter by; "],
    ['lambdas?toString=x', "lambdas have no property 'toString' to filter by; "],
    ['containers?stauts=LOST', "containers have no property 'stauts' to filter by; did you mean status?"],
    ['users?disabled=true', "users have no property 'disabled' to filter by; "],
    ['rules?type=Evnt', "unknown rule type 'Evnt'"],
  ])('%s is 400, with the nearest that there is', async (query, message) => {
    expect(await root.get(`/acme/${query}`)).toMatchObject({
      status: 400,
      body: { code: 400, reason: 'invalid_query', message: expect.stringContaining(message) },
    });
  });

  it('go by id and description, too, and with every form of list', async () => {
    const id = ids['in-labs'] ?? '';
    expect(await names(`/acme.labs/lambdas?id=${id}`)).toEqual(['in-labs']);
    expect(await names(`/acme.labs/lambdas?id=${id.toUpperCase()}&expand=true`)).toEqual(['in-labs']);
    await root.patch(`/acme.labs/lambdas/${id}`, [{ op: 'add', path: '/description', value: 'two words' }]);
    expect(await names('/acme.labs/lambdas?description=two+words&compact=true')).toEqual(['in-labs']);
    expect(await names('/orgs?name=rival')).toEqual(['rival']);
    expect(await names('/users?name=root&embed=x&showcredentials=false')).toEqual(['root']);
  });

  it('compare objects and links by their ids', async () => {
    const { lambdas, docker } = acme;
    expect(await names(`/acme/lambdas?provider=${lambdas}`)).toEqual([
      'in-environment',
      'in-workspace',
      'in-organization',
    ]);
    expect(await names(`/acme/lambdas?provider=${lambdas.toUpperCase()}&timeout=7&public=true`)).toEqual([
      'in-workspace',
    ]);
    expect(await names(`/acme/lambdas?provider=${docker}`)).toEqual([]);
    expect(await names(`/acme/containers?provider=${docker}&expand=true`)).toEqual(['web']);
    const environmentId = acme.environment.split('/').at(-1);
    expect(await names(`/acme/lambdas?parent=${environmentId}`)).toEqual(['in-environment']);
    expect(await names(`/acme/resources?provider=${docker}`)).toEqual(['web', 'batch']);
  });

  it.each([
    'lambdas?id=7',
    'lambdas?provider=x',
    'lambdas?provider=%5Bobject%20Object%5D',
    'containers?parent=0000-not-a-uuid',
    'rules?lambda=00000000-0000-0000-0000-00000000000',
    'secrets?providerId=docker',
    'resources?id=',
  ])('%s is 400: it is not a UUID', async (query) => {
    expect(await root.get(`/acme/${query}`)).toMatchObject({
      status: 400,
      body: { code: 400, reason: 'invalid_parameter', message: expect.stringMatching(/filter '\w+'.*UUID/) },
    });
  });

  it.each(['lambdas', 'providers', 'users', 'resources', 'entitlements'])(
    'of %s are not for paging, and say so',
    async (collection) => {
      for (const name of ['limit', 'offset', 'page', 'per_page', 'pageSize', 'cursor', 'skip']) {
        expect(await root.get(`/acme/${collection}?${name}=2`)).toMatchObject({
          status: 400,
          body: { code: 400, reason: 'invalid_query', message: expect.stringContaining('lists are not paged') },
        });
      }
    },
  );

  it('do not see a hidden property', async () => {
    expect(await root.get('/users?password=x')).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining("users have no property 'password' to filter by") },
    });
  });

  it('providerId filters secrets by provider', async () => {
    const body = { properties: { provider: { id: acme.docker }, items: [{ key: 'a', value: 'b' }] } };
    await root.create(`${acme.environment}/secrets`, { name: 'keys', ...body });
    expect(await names(`/acme/secrets?providerId=${acme.docker}`)).toEqual(['keys']);
    expect(await names(`/acme/secrets?providerId=${acme.docker.toUpperCase()}`)).toEqual(['keys']);
    expect(await names(`/acme/secrets?providerId=${acme.lambdas}`)).toEqual([]);
  });

  it('type selects rules, by the end of the name, by the full name or by id', async () => {
    const policy = await root.create('/acme/policies', { name: 'caps' });
    const rules = `/acme/policies/${policy.id}/rules`;
    const limit = {
      match_actions: [{ action: 'lambda.create' }],
      eval_logic: { property: 'lambdas.count', operator: '<', value: 99 },
    };
    const event = { match_actions: [{ action: 'lambda.create.post' }], lambda: ids['in-organization'] };
    await root.create(rules, { name: 'few', resource_type: 'Platform::Resource::Rule::Limit', properties: limit });
    await root.create(rules, { name: 'tell', resource_type: 'Platform::Resource::Rule::Event', properties: event });
    for (const list of [rules, '/acme/rules', '/rules']) {
      expect(await names(list)).toEqual(['few', 'tell']);
      expect(await names(`${list}?type=Limit`)).toEqual(['few']);
      expect(await names(`${list}?type=Platform::Resource::Rule::Event`)).toEqual(['tell']);
      expect(await names(`${list}?type=659df89f-fb8b-425a-926f-b73613e1a3fa`)).toEqual(['tell']);
      expect((await root.get(`${list}?type=Rule`)).status).toBe(400);
    }
    expect(await names(`/rules?lambda=${ids['in-organization']}`)).toEqual(['tell']);
  });

  it('of entitlements go by action, name and id', async () => {
    const all = (await root.get('/acme/entitlements')).body;
    const [entitlement] = (await root.get('/acme/entitlements?action=lambda.view&expand=true')).body;
    expect(entitlement.properties.action).toBe('lambda.view');
    expect((await root.get(`/acme/entitlements?id=${entitlement.id}`)).body).toEqual([
      all.find(({ id }: Body) => id === entitlement.id),
    ]);
    expect(await names(`/acme/entitlements?name=${entitlement.name}&action=lambda.view`)).toEqual([entitlement.name]);
    expect(await names('/acme/entitlements?_=123&action=lambda.view')).toEqual([entitlement.name]);
    const { org, owner, created, modified, ...compact } = entitlement;
    expect((await root.get('/acme/entitlements?action=lambda.view&compact=true')).body).toEqual([compact]);
  });
});

describe('environments of another place', () => {
  it('do not mix with one’s own', async () => {
    const test = await withEnvironment(root, acme, 'test');
    await root.create(`${test.environment}/containers`, containerBody(test, 'web'));
    expect(await names(`${test.environment}/containers`)).toEqual(['web']);
    expect(await names(`${acme.environment}/containers`)).toEqual(['web']);
    expect(await names('/acme/containers')).toEqual(['web', 'web']);
  });
});
