import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { grant, makePlace, makeUser, otherEnvironment, type Place } from '../../../e2e/place.ts';
import { type Platform, refusal, startPlatform, type Voice } from '../../../e2e/platform.ts';

const NOBODY = '00000000-0000-4000-8000-000000000000';

let platform: Platform;
let root: Voice;
let place: Place;
/** Where containers are created. */
let containers: string;
let docker: string;
beforeAll(async () => {
  platform = await startPlatform();
  root = platform.root;
  place = await makePlace(root, 'acme');
  containers = `${place.environment}/containers`;
  docker = place.docker;
});
afterAll(() => platform?.stop());

const required = () => ({ container_type: 'DOCKER', image: 'nginx:1', provider: { id: docker } });
const create = (name: string, properties: object = {}, at = containers) =>
  root.create(at, { name, properties: { ...required(), ...properties } });
const refused = (properties: object) =>
  root.post(containers, { name: 'refused', properties: { ...required(), ...properties } });
const web = { protocol: 'tcp', name: 'web', container_port: 80, expose_endpoint: true };

describe('what a container holds (D-045)', () => {
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
      external_id: `/namespaces/${place.environmentId}/deployments/minimal`,
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
      parent: expect.objectContaining({ id: place.environmentId, name: 'env' }),
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

  it('gives back what was sent as it was sent', async () => {
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
    const { properties } = await create('checked', { health_checks: [{ protocol: 'HTTP', path: '/', port_index: 0 }] });
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
    ['/properties/container_type', { container_type: 'VM' }],
    ['/properties/image', { image: '' }],
    ['/properties/image', { image: null }],
    ['/properties/provider', { provider: undefined }],
    ['/properties/provider/id', { provider: {} }],
    ['/properties/provider/id', { provider: { id: 'docker' } }],
    ['/properties/num_instances', { num_instances: 17 }],
    ['/properties/network', { network: 1 }],
    ['/properties/args', { args: '-a' }],
    ['/properties/labels/a', { labels: { a: 1 } }],
    ['/properties/env/1A', { env: { '1A': 'x' } }],
    ['/properties/port_mappings/0/name', { port_mappings: [{ ...web, name: 'web-' }] }],
    ['/properties/port_mappings/1/name', { port_mappings: [web, { protocol: 'udp', name: 'web' }] }],
    ['/properties/port_mappings/0/container_port', { port_mappings: [{ protocol: 'tcp', expose_endpoint: true }] }],
    ['/properties/health_checks/0/protocol', { health_checks: [{ path: '/' }] }],
    ['/properties/secrets/0/secret_id', { secrets: [{ mount_type: 'directory', secret_id: NOBODY, path: '/s' }] }],
  ])('refuses at %s: %j', async (pointer, properties) => {
    expect(await refused(properties)).toMatchObject(refusal(400, pointer));
  });

  it('names every offence of one body', async () => {
    const reply = await refused({ cpus: 0, memory: 'a lot', env: { A: null } });
    expect(reply.body.details.map(({ pointer }: { pointer: string }) => pointer).sort()).toEqual([
      '/properties/cpus',
      '/properties/env/A',
      '/properties/memory',
    ]);
  });

  it('refuses a provider that is unknown with 404, and one that is no container engine with 400', async () => {
    expect(await refused({ provider: { id: NOBODY } })).toMatchObject(refusal(404));
    expect(await refused({ provider: { id: place.environmentId } })).toMatchObject(refusal(404));
    expect(await refused({ provider: { id: place.lambdas } })).toMatchObject(refusal(400));
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
    const other = await otherEnvironment(root, place, 'test', 'names');
    expect((await create('twice', {}, `${other.environment}/containers`)).name).toBe('twice');
  });
});

describe('port mappings (D-046, D-047)', () => {
  it('has the service address in the answer to the create, with lb_port and type filled in', async () => {
    const { properties } = await create('exposed', { port_mappings: [web] });
    const host = `exposed.${place.environmentId}.svc.cluster.local`;
    expect(properties.port_mappings).toEqual([
      { ...web, lb_port: 80, type: 'internal', service_address: { host, port: 80, protocol: 'tcp' } },
    ]);
  });

  it('takes the lb_port and the type that are sent, a one-element array included', async () => {
    const mapping = { ...web, lb_port: 8080, type: ['external'] };
    const { properties } = await create('chosen', { port_mappings: [mapping] });
    expect(properties.port_mappings).toEqual([
      { ...mapping, service_address: { host: expect.any(String), port: 8080, protocol: 'tcp' } },
    ]);
  });

  it('ignores a service address that is sent, whatever part of it', async () => {
    const { properties } = await create('ignoring', {
      port_mappings: [{ ...web, service_address: { host: 'evil.example' } }],
    });
    expect(properties.port_mappings[0].service_address.host).toMatch(/^ignoring\./);
  });

  it('has none of the three without expose_endpoint', async () => {
    const mapping = { protocol: 'tcp', container_port: 80, lb_port: 80, type: 'internal', service_address: {} };
    const { properties } = await create('hidden', { port_mappings: [mapping] });
    expect(properties.port_mappings).toEqual([{ protocol: 'tcp', container_port: 80 }]);
  });

  it('keeps the address over the life of the container, until the port is no longer exposed', async () => {
    const container = await create('living', { port_mappings: [web] });
    const path = `/acme/containers/${container.id}`;
    const image = await root.patch(path, [{ op: 'replace', path: '/properties/image', value: 'nginx:2' }]);
    expect(image.body.properties.port_mappings).toEqual(container.properties.port_mappings);
    const hidden = await root.patch(path, [
      { op: 'replace', path: '/properties/port_mappings/0/expose_endpoint', value: false },
    ]);
    expect(hidden.body.properties.port_mappings).toEqual([{ ...web, expose_endpoint: false }]);
  });

  it('takes from a client that compares whole records a service address that stays as it is (D-093)', async () => {
    const container = await create('compared', { port_mappings: [web] });
    const [{ service_address }] = container.properties.port_mappings;
    const path = '/properties/port_mappings/0/service_address';
    for (const operation of [
      { op: 'add', path, value: service_address },
      { op: 'replace', path, value: service_address },
      { op: 'remove', path },
      { op: 'replace', path: '/properties/port_mappings', value: container.properties.port_mappings },
    ]) {
      const reply = await root.patch(`/acme/containers/${container.id}`, [operation]);
      expect(reply, JSON.stringify(operation)).toMatchObject({ status: 200, body: container });
    }
  });
});

describe('volumes (D-045)', () => {
  const volume_resource = { name: 'data', properties: { type: 'persistent', size: 10 } };

  it('creates a volume in the environment for a volume_resource, and names it by volume_id', async () => {
    const container = await create('mounting', { volumes: [{ mount_path: '/data', volume_resource }] });
    const [{ volume_id: id, ...mount }] = container.properties.volumes;
    expect(mount).toEqual({ mount_path: '/data' });
    const volume = (await root.get(`${place.environment}/volumes/${id}`)).body;
    expect(volume).toMatchObject({ name: 'data', properties: { type: 'persistent', size: 10 } });
    expect(volume.properties.container).toMatchObject({ id: container.id, name: 'mounting' });

    const again = await create('sharing', { volumes: [{ mount_path: '/d', volume_id: id.toUpperCase() }] });
    expect(again.properties.volumes).toEqual([{ mount_path: '/d', volume_id: id }]);
  });

  it('creates nothing when the volume cannot be created', async () => {
    const volumes = (one: object) => refused({ volumes: [{ mount_path: '/data', volume_resource: one }] });
    const at = '/properties/volumes/0/volume_resource';
    expect(await volumes({ name: 'tape', properties: { type: 'tape' } })).toMatchObject(
      refusal(400, `${at}/properties/type`),
    );
    expect(await volumes({ properties: { type: 'persistent' } })).toMatchObject(refusal(400, `${at}/name`));
    expect(await volumes(volume_resource)).toMatchObject(refusal(409));
    expect((await root.get('/acme/containers?name=refused')).body).toEqual([]);
    expect((await root.get('/acme/volumes?name=tape')).body).toEqual([]);
  });

  it('does not create a container whose name is taken, nor its volume', async () => {
    const body = {
      name: 'mounting',
      properties: {
        ...required(),
        volumes: [{ mount_path: '/x', volume_resource: { ...volume_resource, name: 'x' } }],
      },
    };
    expect(await root.post(containers, body)).toMatchObject(refusal(409));
    expect((await root.get('/acme/volumes?name=x')).body).toEqual([]);
  });
});

describe('PUT and PATCH (D-052)', () => {
  it('takes a record back as it was read, in either form of the path, and touches nothing', async () => {
    const container = await create('round', {
      env: { A: '1' },
      port_mappings: [web],
      health_checks: [{ protocol: 'TCP' }],
      volumes: [{ mount_path: '/v', volume_resource: { name: 'round', properties: { type: 'persistent' } } }],
    });
    for (const path of [`/acme/containers/${container.id}`, `${containers}/${container.id}`]) {
      const { body: read } = await root.get(path);
      expect(await root.put(path, read)).toMatchObject({ status: 200, body: container });
      expect(await root.patch(path, [])).toMatchObject({ status: 200, body: container });
    }
  });

  it('refuses what a create would refuse, and changes nothing', async () => {
    const container = await create('strict');
    const path = `/acme/containers/${container.id}`;
    const put = await root.put(path, { ...container, properties: { ...container.properties, memory: 1 } });
    expect(put).toMatchObject(refusal(400, '/properties/memory'));
    const patch = await root.patch(path, [{ op: 'remove', path: '/properties/image' }]);
    expect(patch).toMatchObject(refusal(400, '/properties/image'));
    expect((await root.get(path)).body).toEqual(container);
  });

  it('lets an exported record be posted into another environment, where it is the same but for its place', async () => {
    const source = await create('exported', { env: { A: '1' }, port_mappings: [web], num_instances: 3 });
    const other = await otherEnvironment(root, place, 'test', 'import');
    const { id: _, ...exported } = (await root.get(`/acme/containers/${source.id}`)).body;
    const copy = await create('exported', exported.properties, `${other.environment}/containers`);
    const placeless = ({ properties }: { properties: object }) =>
      JSON.parse(
        JSON.stringify({ ...properties, parent: 0, age: 0 }).replaceAll(place.environmentId, other.environmentId),
      );
    expect(placeless(copy)).toEqual(placeless(source));
  });
});

describe('scale (D-053)', () => {
  it('is accepted with the full record', async () => {
    const container = await create('scaled');
    const reply = await root.post(`/acme/containers/${container.id}/scale?numInstances=3`);
    expect(reply).toMatchObject({ status: 202, body: { id: container.id, properties: { num_instances: 3 } } });
    const none = await root.post(`/acme/containers/${container.id}/scale?numInstances=0`);
    expect(none).toMatchObject({ status: 202, body: { properties: { num_instances: 0, status: 'SUSPENDED' } } });
  });

  it.each(['', '?numInstances=', '?numInstances=-1', '?numInstances=17', '?numInstances=1.5', '?numInstances=x'])(
    'refuses %s',
    async (query) => {
      const { id } = await create(`scaled-${query.replace(/[^0-9a-z]/g, '')}0${query.length}`);
      expect(await root.post(`/acme/containers/${id}/scale${query}`)).toMatchObject(refusal(400));
      expect((await root.get(`/acme/containers/${id}`)).body.properties.num_instances).toBe(1);
    },
  );
});

describe('the type of the environment (D-054)', () => {
  it('has to be among those the provider serves, unless it serves all or the environment is a system one', async () => {
    const make = async (environment_types?: string[]) => {
      const body = {
        name: `for-${environment_types?.join('-') ?? 'any'}`,
        resource_type: 'Platform::Configuration::Provider::CaaS::Docker',
        properties: { ...(environment_types && { environment_types }) },
      };
      return (await root.create('/acme/providers', body)).id;
    };
    const post = (provider: string, environment: string) =>
      root.post(`${environment}/containers`, {
        name: `c-${provider.slice(0, 8)}`,
        properties: { ...required(), provider: { id: provider } },
      });
    const testOnly = await make(['test']);
    const system = await otherEnvironment(root, place, 'system');
    const refused = await post(testOnly, place.environment);
    expect(refused).toMatchObject(refusal(409));
    expect(refused.body.message).toContain('Incompatible Environment type');
    expect((await post(await make(), place.environment)).status).toBe(201);
    expect((await post(await make([]), place.environment)).status).toBe(201);
    expect((await post(testOnly, system.environment)).status).toBe(201);
  });

  it('does not touch a container that is put back as it is', async () => {
    const provider = await root.create('/acme/providers', {
      name: 'turning',
      resource_type: 'Platform::Configuration::Provider::CaaS::Docker',
    });
    const container = await create('staying', { provider: { id: provider.id } });
    await root.patch(`/acme/providers/${provider.id}`, [
      { op: 'add', path: '/properties/environment_types', value: ['production'] },
    ]);
    const path = `/acme/containers/${container.id}`;
    expect(await root.put(path, container)).toMatchObject({ status: 200, body: container });
    expect(await root.patch(path, [])).toMatchObject({ status: 200, body: container });
  });
});

describe('the containers of a provider (D-055)', () => {
  it('are listed and read below it, in whichever organization, expanded on demand', async () => {
    const provider = await root.create('/root/providers', {
      name: 'shared',
      resource_type: 'Platform::Configuration::Provider::CaaS::Kubernetes',
    });
    await root.create('/orgs', { name: 'elsewhere' });
    const { id: workspace } = await root.create('/elsewhere/workspaces', { name: 'w' });
    const far = await root.create(`/elsewhere/workspaces/${workspace}/environments`, {
      name: 'e',
      properties: { environment_type: 'test' },
    });
    const near = await create('near', { provider: { id: provider.id } });
    const farther = await create(
      'far',
      { provider: { id: provider.id } },
      `/elsewhere/environments/${far.id}/containers`,
    );
    await root.create(`${place.environment}/jobs`, {
      name: 'no-container',
      properties: { ...required(), provider: { id: provider.id } },
    });
    const list = `/root/providers/${provider.id}/containers`;
    const links = (await root.get(list)).body;
    expect(links.map(({ id }: { id: string }) => id)).toEqual([near.id, farther.id]);
    expect(links[0]).not.toHaveProperty('resource_type');
    expect((await root.get(`${list}?expand=true`)).body).toEqual([near, farther]);
    expect((await root.get(`${list}/${farther.id}`)).body).toEqual(farther);
    const { id: other } = await create('other');
    expect(await root.get(`${list}/${other}`)).toMatchObject(refusal(404));
    expect(await root.get(`/root/providers/${NOBODY}/containers`)).toMatchObject(refusal(404));
  });
});

describe('the containers of a provider, by rights (D-055, D-118)', () => {
  it('are those that the caller may view', async () => {
    const { id, voice } = await makeUser(platform, 'watcher');
    const list = `/root/providers/${docker}/containers`;
    expect(await voice.get(list)).toMatchObject({ status: 200, body: [] });
    const seen = await create('watched');
    await grant(root, `/acme/containers/${seen.id}`, 'container.view', id);
    expect((await voice.get(list)).body).toMatchObject([{ id: seen.id }]);
  });
});

describe('embedding (D-037)', () => {
  it('puts full records in place of the properties that are asked for, and only then', async () => {
    const container = await create('embedding', {
      port_mappings: [web],
      volumes: [{ mount_path: '/v', volume_resource: { name: 'embedded', properties: { type: 'persistent' } } }],
    });
    const { id: api } = await root.create(`${place.environment}/apis`, { name: 'embedding' });
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

describe('without an engine (D-050)', () => {
  it('stores, changes and deletes all the same, and says LOST and why', async () => {
    const container = await create('engineless');
    const lost = { status: 'LOST', status_detail: { reason: expect.any(String) }, tasks_running: 0 };
    expect(container).toMatchObject({ resource_state: 'Platform::Resource::State::Active', properties: lost });
    const path = `/acme/containers/${container.id}`;
    const patched = await root.patch(path, [{ op: 'replace', path: '/properties/image', value: 'nginx:2' }]);
    expect(patched).toMatchObject({ status: 200, body: { properties: lost } });
    expect((await root.delete(path)).status).toBe(204);
    expect(await root.get(path)).toMatchObject(refusal(404));
    expect(await root.delete(path)).toMatchObject(refusal(404));
  });

  it('cannot promote a container: 503 with Retry-After, and nothing is changed', async () => {
    const container = await create('unmoved');
    const target = await otherEnvironment(root, place, 'production');
    const path = `/acme/containers/${container.id}`;
    const reply = await root.post(`${path}/promote?target=${target.environmentId}`);
    expect(reply).toMatchObject(refusal(503));
    expect(reply.headers.get('retry-after')).toBe('5');
    expect((await root.get(path)).body).toEqual(container);
    expect((await root.get(`${target.environment}/containers`)).body).toEqual([]);
  });
});
