import { beforeAll, describe, expect, it } from 'vitest';
import { refusal, sharedPlatform } from '../../../testing/platform.ts';
import { containersOf, web } from '../../../testing/sample-container.ts';
import { createTenant, type Tenant, withEnvironment } from '../../../testing/tenant.ts';

const UNKNOWN_ID = '00000000-0000-4000-8000-000000000000';

const { root } = sharedPlatform();
let tenant: Tenant;
/** Path of the list in which containers are created. */
let containers: string;
let docker: string;
beforeAll(async () => {
  tenant = await createTenant(root, 'acme');
  containers = `${tenant.environment}/containers`;
  docker = tenant.docker;
});

const { required, create, refused } = containersOf(() => ({ root, tenant }));

describe('the properties of a container (D-045)', () => {
  it('is shown with every default, its provider by name and type, and its live members', async () => {
    const container = await create('minimal');
    expect(container.properties).toEqual({
      container_type: 'DOCKER',
      image: 'nginx:1',
      provider: {
        id: docker,
        name: 'default-docker',
        resource_type: 'Platform::Configuration::Provider::CaaS::Docker',
      },
      cpus: 1,
      memory: 128,
      disk: 0,
      num_instances: 1,
      constraints: [],
      force_pull: false,
      env: {},
      labels: {},
      port_mappings: [],
      health_checks: [],
      volumes: [],
      secrets: [],
      gpu_support: { enabled: false, count: 1, type: '' },
      external_id: `/namespaces/${tenant.environmentId}/deployments/minimal`,
      age: expect.anything(),
      status: 'LOST',
      status_detail: { reason: expect.stringContaining('engine') },
      tasks_running: 0,
      tasks_healthy: 0,
      tasks_unhealthy: 0,
      tasks_staged: 0,
      instances: [],
      events: [],
      service_addresses: [],
      parent: expect.objectContaining({ id: tenant.environmentId, name: 'env' }),
    });
    expect(container).toMatchObject({
      resource_type: 'Platform::Resource::Container',
      resource_state: 'Platform::Resource::State::Active',
    });
    expect((await root.get(`/acme/containers/${container.id}`)).body).toEqual(container);
  });

  it('lets a patch replace labels, env and image of a container that was created without them', async () => {
    const { id } = await create('bare');
    const reply = await root.patch(`/acme/containers/${id}`, [
      { op: 'replace', path: '/properties/labels', value: { COMMIT_SHA: 'abc' } },
      { op: 'replace', path: '/properties/env', value: { A: '1' } },
      { op: 'replace', path: '/properties/image', value: 'nginx:2' },
    ]);
    const properties = { labels: { COMMIT_SHA: 'abc' }, env: { A: '1' }, image: 'nginx:2' };
    expect(reply).toMatchObject({ status: 200, body: { properties } });
  });

  it('returns the value as it was sent', async () => {
    const properties = {
      container_type: 'docker',
      provider: { id: docker, name: 'a name of my own', locations: ['here'] },
      cpus: 0.25,
      memory: 64.5,
      disk: 1,
      num_instances: 0,
      network: 'mesh',
      cmd: 'nginx -g "daemon off;"',
      user: '1000:1000',
      args: ['-a', ''],
      constraints: ['rack:CLUSTER'],
      accepted_resource_roles: ['slave_public'],
      force_pull: true,
      env: { A: '1', 'spring.profile-x': '' },
      labels: { 'any key / at all': 'x' },
      port_mappings: [{ protocol: 'udp', host_port: 0, virtual_hosts: ['a.example'], labels: { VIP: 'x' }, more: [1] }],
      gpu_support: { enabled: true },
    };
    const container = await create('everything', properties);
    const provider = {
      ...properties.provider,
      name: 'default-docker',
      resource_type: 'Platform::Configuration::Provider::CaaS::Docker',
    };
    expect(container.properties).toMatchObject({ ...properties, provider });
    expect(container.properties.port_mappings).toEqual(properties.port_mappings);
  });

  it('fills in the defaults of a health check', async () => {
    const { properties } = await create('checked', {
      port_mappings: [web],
      health_checks: [{ protocol: 'HTTP', path: '/', port_index: 0 }],
    });
    expect(properties.health_checks).toEqual([
      {
        protocol: 'HTTP',
        path: '/',
        port_index: 0,
        grace_period_seconds: 300,
        interval_seconds: 60,
        timeout_seconds: 10,
        max_consecutive_failures: 3,
      },
    ]);
  });

  it('drops properties it does not know, in POST, PUT and PATCH (D-033)', async () => {
    const container = await create('dropping', { colour: 'red', apiendpoints: [] });
    expect(container.properties).not.toHaveProperty('colour');
    const path = `/acme/containers/${container.id}`;
    const put = await root.put(path, { ...container, properties: { ...container.properties, colour: 'red' } });
    expect(put).toMatchObject({ status: 200, body: container });
    const patch = await root.patch(path, [{ op: 'add', path: '/properties/colour', value: 'red' }]);
    expect(patch).toMatchObject({ status: 200, body: container });
    expect(patch.body.properties).not.toHaveProperty('colour');
  });

  it.each([
    ['/properties/container_type', { container_type: 'VM' }, 'must be one of DOCKER'],
    ['/properties/image', { image: '' }, 'must not be empty'],
    ['/properties/image', { image: null }],
    ['/properties/provider', { provider: undefined }],
    ['/properties/provider/id', { provider: {} }],
    ['/properties/provider/id', { provider: { id: 'docker' } }],
    ['/properties/cpus', { cpus: 0 }, 'must be at least 0.01'],
    ['/properties/memory', { memory: 3 }, 'must be at least 4'],
    ['/properties/num_instances', { num_instances: 17 }, 'must be at most 16'],
    ['/properties/num_instances', { num_instances: -1 }, 'must be at least 0'],
    ['/properties/num_instances', { num_instances: 1.5 }, 'must be a whole number'],
    ['/properties/network', { network: 1 }],
    ['/properties/args', { args: '-a' }],
    ['/properties/labels/a', { labels: { a: 1 } }],
    ['/properties/env/1A', { env: { '1A': 'x' } }],
    ['/properties/env/A', { env: { A: true } }, 'must be a string'],
    ['/properties/port_mappings/0/protocol', { port_mappings: [{}] }, 'is required'],
    ['/properties/port_mappings/0/protocol', { port_mappings: [{ protocol: 'sctp' }] }, 'must be one of tcp, udp'],
    [
      '/properties/port_mappings/0/container_port',
      { port_mappings: [{ ...web, container_port: 0 }] },
      'must be at least 1',
    ],
    ['/properties/port_mappings/0/lb_port', { port_mappings: [{ ...web, lb_port: 65536 }] }, 'at most 65535'],
    [
      '/properties/port_mappings/0/type',
      { port_mappings: [{ ...web, type: ['internal', 'external'] }] },
      'must be one of internal, external, loadBalancer',
    ],
    ['/properties/port_mappings/0/name', { port_mappings: [{ ...web, name: 'web-' }] }],
    ['/properties/port_mappings/0/name', { port_mappings: [{ ...web, name: 'Web' }] }, 'lower-case letters'],
    ['/properties/port_mappings/0/name', { port_mappings: [{ ...web, name: 'a'.repeat(16) }] }, 'at most 15'],
    [
      '/properties/port_mappings/1/name',
      { port_mappings: [web, { protocol: 'udp', name: 'web' }] },
      'is used by another',
    ],
    [
      '/properties/port_mappings/0/container_port',
      { port_mappings: [{ protocol: 'tcp', expose_endpoint: true }] },
      'is required when expose_endpoint',
    ],
    ['/properties/health_checks/0/protocol', { health_checks: [{ path: '/' }] }],
    ['/properties/health_checks/0/path', { health_checks: [{ protocol: 'HTTP', port: 80, path: '/%zz' }] }],
    ['/properties/health_checks/0/path', { health_checks: [{ protocol: 'HTTPS', port: 80, path: '/a#b' }] }],
    ['/properties/health_checks/0/protocol', { health_checks: [{ protocol: 'UDP' }] }, 'HTTP, HTTPS, TCP, COMMAND'],
    ['/properties/volumes/0', { volumes: [{ mount_path: '/a' }] }, 'must have either volume_id or volume_resource'],
    [
      '/properties/volumes/0/volume_id',
      { volumes: [{ mount_path: '/a', volume_id: UNKNOWN_ID }] },
      'is not the id of an existing volume',
    ],
    [
      '/properties/secrets/0/secret_id',
      { secrets: [{ mount_type: 'directory', secret_id: UNKNOWN_ID, path: '/s' }] },
      'is not the id of an existing secret',
    ],
  ])('refuses at %s: %j', async (pointer, properties, message?: string) => {
    expect(await refused(properties)).toMatchObject(refusal(400, pointer, message));
  });

  it('refuses a hostile port name at once, not after a long search', async () => {
    const port_mappings = [{ ...web, name: `${'a'.repeat(50_000)}!` }];
    expect(await refused({ port_mappings })).toMatchObject(refusal(400));
  });

  it('mounts a key of a secret, or the whole of it as a directory', async () => {
    const properties = { provider: { id: docker }, items: [{ key: 'a', value: 'eA==' }] };
    const { id } = await root.create(`${tenant.environment}/secrets`, { name: 'keys', properties });
    const secrets = [{ mount_type: 'file', secret_id: id, path: '/x' }];
    expect(await refused({ secrets })).toMatchObject(refusal(400, '/properties/secrets/0/secret_key'));
    expect(
      (await create('mounting-all', { secrets: [{ ...secrets[0], mount_type: 'directory' }] })).name,
    ).toBeDefined();
  });

  it('names every violation of one body', async () => {
    const reply = await refused({ cpus: 0, memory: 'a lot', env: { A: null } });
    expect(reply.body.details.map(({ pointer }: { pointer: string }) => pointer).sort()).toEqual([
      '/properties/cpus',
      '/properties/env/A',
      '/properties/memory',
    ]);
  });

  it('refuses a provider that is unknown with 404, and one that is no container engine with 400', async () => {
    expect(await refused({ provider: { id: UNKNOWN_ID } })).toMatchObject(refusal(404));
    expect(await refused({ provider: { id: tenant.environmentId } })).toMatchObject(refusal(404));
    expect(await refused({ provider: { id: tenant.lambdas } })).toMatchObject(refusal(400));
  });
});

describe('names (D-053)', () => {
  it.each(['Web', 'web_1', '-web', 'web-', 'a.b', 'a/b', 'a'.repeat(64)])('refuses %s', async (name) => {
    const reply = await root.post(containers, { name, properties: required() });
    expect(reply).toMatchObject(refusal(400, '/name'));
  });

  it.each(['w', '0', 'a-b', 'a'.repeat(63)])('takes %s', async (name) => {
    expect((await create(name)).name).toBe(name);
  });

  it('are unique in an environment, and free in another', async () => {
    await create('twice');
    expect(await root.post(containers, { name: 'twice', properties: required() })).toMatchObject(refusal(409));
    const other = await withEnvironment(root, tenant, 'test', 'names');
    expect((await create('twice', {}, `${other.environment}/containers`)).name).toBe('twice');
  });
});

describe('embedding (D-037)', () => {
  it('puts full records in place of the properties that are asked for, and only then', async () => {
    const container = await create('embedding', {
      port_mappings: [web],
      volumes: [{ mount_path: '/v', volume_resource: { name: 'embedded', properties: { type: 'persistent' } } }],
    });
    const { id: api } = await root.create(`${tenant.environment}/apis`, { name: 'embedding' });
    const endpoint = await root.create(`/acme/apis/${api}/apiendpoints`, {
      name: 'e',
      properties: {
        resource: '/e',
        implementation_type: 'container',
        implementation_id: container.id,
        container_port_name: 'web',
      },
    });
    const path = `/acme/containers/${container.id}`;
    expect((await root.get(path)).body).toEqual(container);
    expect((await root.get(`${path}?embed=apiendpoints`)).body.properties.apiendpoints).toEqual([endpoint]);
    const all = (await root.get(`${path}?embed=provider&embed=volumes&embed=apiendpoints`)).body.properties;
    expect(all).toMatchObject({
      apiendpoints: [endpoint],
      provider: (await root.get(`/acme/providers/${docker}`)).body,
    });
    const [{ volume_id }] = container.properties.volumes;
    expect(all.volumes).toEqual([(await root.get(`/acme/volumes/${volume_id}`)).body]);
    expect(await root.get(`${path}?embed=secrets`)).toMatchObject(refusal(400));
  });
});
