import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../json.ts';
import { refusalOf, WorldForTests } from './world-for-tests.ts';

const NOBODY = '11111111-2222-4333-8444-555555555555';

function setting(environmentType?: string) {
  const world = new WorldForTests();
  const { environment, docker, lambdas } = world.withEnvironment(environmentType);
  const minimal = { container_type: 'DOCKER', image: 'nginx', provider: { id: docker.id } };
  const create = (properties: JsonObject, name = 'web') =>
    world.create('containers', { under: environment, name, properties: { ...minimal, ...properties } });
  const secret = () =>
    world.create('secrets', {
      under: environment,
      properties: { provider: { id: docker.id }, items: [{ key: 'a', value: 'b' }] },
    });
  const volume = () =>
    world.create('volumes', { under: environment, properties: { type: 'empty_dir', provider: { id: docker.id } } });
  return { world, environment, docker, lambdas, minimal, create, secret, volume };
}

test('a container is stored with its defaults, and unknown properties are dropped (D-033, D-045)', () => {
  const { create, minimal } = setting();
  expect(create({ colour: 'red', container_type: 'docker' }).properties).toEqual({
    ...minimal,
    container_type: 'docker',
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
  });
});

test('a health check gets its defaults too (D-045)', () => {
  const { create } = setting();
  expect(create({ health_checks: [{ protocol: 'HTTP', path: '/up', interval_seconds: 5 }] }).properties).toMatchObject({
    health_checks: [
      {
        protocol: 'HTTP',
        path: '/up',
        grace_period_seconds: 300,
        interval_seconds: 5,
        timeout_seconds: 10,
        max_consecutive_failures: 3,
      },
    ],
  });
});

test('the read form names the provider and has every array and count, with nothing running yet (D-045, D-048)', () => {
  const { world, create, docker, environment } = setting();
  const web = create({ provider: { id: docker.id, locations: [], note: 'mine' } });
  expect(world.shown(web)).toMatchObject({
    provider: {
      id: docker.id,
      name: docker.name,
      resource_type: 'Platform::Configuration::Provider::CaaS::Docker',
      locations: [],
      note: 'mine',
    },
    external_id: `/namespaces/${environment.id}/deployments/web`,
    age: web.created.at,
    tasks_running: 0,
    tasks_healthy: 0,
    tasks_unhealthy: 0,
    tasks_staged: 0,
    instances: [],
    events: [],
    service_addresses: [],
  });
});

test.each([
  [{ container_type: 'VM' }, '/properties/container_type', 'must be one of DOCKER'],
  [{ image: '' }, '/properties/image', 'must not be empty'],
  [{ cpus: 0 }, '/properties/cpus', 'must be greater than 0'],
  [{ memory: 3 }, '/properties/memory', 'must be at least 4'],
  [{ num_instances: 17 }, '/properties/num_instances', 'must be at most 16'],
  [{ num_instances: -1 }, '/properties/num_instances', 'must be at least 0'],
  [{ num_instances: 1.5 }, '/properties/num_instances', 'must be a whole number'],
  [{ env: { A: true } }, '/properties/env/A', 'must be a string'],
  [{ health_checks: [{ protocol: 'UDP' }] }, '/properties/health_checks/0/protocol', 'HTTP, HTTPS, TCP, COMMAND'],
  [{ volumes: [{ mount_path: '/a' }] }, '/properties/volumes/0', 'must have either volume_id or volume_resource'],
  [{ volumes: [{ mount_path: '/a', volume_id: NOBODY }] }, '/properties/volumes/0/volume_id', 'names no volume'],
  [
    { volumes: [{ mount_path: '/a', volume_resource: { name: 'Bad Name', properties: {} } }] },
    '/properties/volumes/0/volume_resource/name',
    'lower-case letters',
  ],
  [
    { volumes: [{ mount_path: '/a', volume_resource: { name: 'data', properties: { type: 'tape' } } }] },
    '/properties/volumes/0/volume_resource/properties/type',
    'must be one of persistent',
  ],
  [
    { secrets: [{ mount_type: 'env', secret_id: NOBODY, path: 'A', secret_key: 'a' }] },
    '/properties/secrets/0/secret_id',
    'names no secret',
  ],
  [{ port_mappings: [{ protocol: 'sctp' }] }, '/properties/port_mappings/0/protocol', 'must be one of tcp, udp'],
  [{ port_mappings: [{}] }, '/properties/port_mappings/0/protocol', 'is required'],
  [
    { port_mappings: [{ protocol: 'tcp', container_port: 0 }] },
    '/properties/port_mappings/0/container_port',
    'must be at least 1',
  ],
  [{ port_mappings: [{ protocol: 'tcp', lb_port: 65536 }] }, '/properties/port_mappings/0/lb_port', 'at most 65535'],
  [{ port_mappings: [{ protocol: 'tcp', name: 'Web' }] }, '/properties/port_mappings/0/name', 'lower-case letters'],
  [{ port_mappings: [{ protocol: 'tcp', name: 'a'.repeat(16) }] }, '/properties/port_mappings/0/name', 'at most 15'],
  [
    {
      port_mappings: [
        { protocol: 'tcp', name: 'a' },
        { protocol: 'udp', name: 'a' },
      ],
    },
    '/properties/port_mappings/1/name',
    'is used by another',
  ],
  [
    { port_mappings: [{ protocol: 'tcp', expose_endpoint: true }] },
    '/properties/port_mappings/0/container_port',
    'is required when expose_endpoint',
  ],
  [
    { port_mappings: [{ protocol: 'tcp', type: ['internal', 'external'] }] },
    '/properties/port_mappings/0/type',
    'must be one of internal, external, loadBalancer',
  ],
])('%j is refused at its place (D-045, D-046)', (change: JsonObject, pointer, message) => {
  const { create } = setting();
  const refusal = refusalOf(() => create(change));
  expect(refusal).toMatchObject({ status: 400, pointer });
  expect(refusal.message).toContain(message);
});

test('a hostile port name is refused at once, not after a long search', () => {
  const { create } = setting();
  const name = `${'a'.repeat(50_000)}!`;
  expect(refusalOf(() => create({ port_mappings: [{ protocol: 'tcp', name }] }))).toMatchObject({ status: 400 });
});

test('the provider must exist, run containers and fit the environment (D-045, D-054)', () => {
  const { world, create, lambdas } = setting('production');
  const forTests = world.create('providers', {
    type: 'Configuration::Provider::CaaS::Kubernetes',
    properties: { environment_types: ['test'] },
  });
  expect(refusalOf(() => create({ provider: { id: NOBODY } }))).toMatchObject({ status: 404 });
  expect(refusalOf(() => create({ provider: { id: lambdas.id } }))).toMatchObject({ status: 400 });
  expect(refusalOf(() => create({ provider: { id: forTests.id } }))).toEqual({
    status: 409,
    message: 'Incompatible Environment type',
    pointer: '/properties/provider/id',
  });
  world.update(forTests, { environment_types: [] });
  expect(create({ provider: { id: forTests.id } })).toBeDefined();
});

describe('an exposed port (D-047)', () => {
  const exposed = { protocol: 'tcp', name: 'http', container_port: 8080, expose_endpoint: true };
  const mappingOf = (sent: JsonObject) => {
    const { world, create, environment } = setting();
    const web = create({ port_mappings: [sent] });
    const host = `web.${environment.id}.svc.cluster.local`;
    return { host, stored: web.properties.port_mappings, shown: world.shown(web).port_mappings };
  };

  test('stores lb_port and type, and shows its address', () => {
    const { host, stored, shown } = mappingOf({ ...exposed, note: 'kept', service_address: { host: 'elsewhere' } });
    const materialised = { ...exposed, note: 'kept', lb_port: 8080, type: 'internal' };
    expect(stored).toEqual([materialised]);
    expect(shown).toEqual([{ ...materialised, service_address: { host, port: 8080, protocol: 'tcp' } }]);
  });

  test('keeps the lb_port and type that were sent', () => {
    const { host, shown } = mappingOf({ ...exposed, lb_port: 80, type: ['external'] });
    expect(shown).toMatchObject([{ lb_port: 80, type: ['external'], service_address: { host, port: 80 } }]);
  });

  test('takes lb_port 0 for none', () => {
    expect(mappingOf({ ...exposed, lb_port: 0 }).stored).toMatchObject([{ lb_port: 8080 }]);
  });

  test('is nothing of all that unless it is exposed', () => {
    const { stored, shown } = mappingOf({ ...exposed, expose_endpoint: false, lb_port: 80, type: 'external' });
    expect(stored).toEqual([{ ...exposed, expose_endpoint: false }]);
    expect(shown).toEqual(stored);
  });
});

test('an inline volume is created in the environment and named by its id (D-045)', () => {
  const { world, create, environment, docker } = setting();
  const volume_resource = { name: 'data', properties: { type: 'persistent', size: 10 } };
  const web = create({ volumes: [{ mount_path: '/data', read_only: true, volume_resource }] });

  const [data] = world.view.named('volumes', 'data', environment.id);
  expect(data?.properties).toEqual({ type: 'persistent', size: 10, provider: { id: docker.id } });
  expect(web.properties.volumes).toEqual([{ mount_path: '/data', read_only: true, volume_id: data?.id }]);
  expect(data && world.shown(data)).toMatchObject({ container: { id: web.id, name: 'web' } });
});

test('two inline volumes of one name are refused', () => {
  const { create } = setting();
  const volume_resource = { name: 'data', properties: { type: 'persistent' } };
  const volumes = [
    { mount_path: '/a', volume_resource },
    { mount_path: '/b', volume_resource },
  ];
  expect(refusalOf(() => create({ volumes }))).toMatchObject({ status: 400 });
});

test('a deleted volume or secret is no longer mounted (D-079)', () => {
  const { world, create, volume, secret, docker } = setting();
  const [data, keys] = [volume(), secret()];
  const volumes = [{ mount_path: '/data', volume_id: data.id }];
  const secrets = [{ mount_type: 'directory', secret_id: keys.id, path: '/keys' }];
  const web = create({ volumes, secrets });

  for (const one of [data, keys, docker]) expect(world.view.referrers(one.id)).toContain(web);
  expect(world.forget(web, data)).toEqual({ ...web.properties, volumes: [] });
  expect(world.forget(web, keys)).toEqual({ ...web.properties, secrets: [] });
  expect(world.forget(web, docker)).toBeUndefined();
});

test('a key of the secret is named unless the whole secret becomes a directory (D-045)', () => {
  const { create, secret } = setting();
  const mount = { secret_id: secret().id, path: '/x' };
  expect(refusalOf(() => create({ secrets: [{ ...mount, mount_type: 'file' }] }))).toMatchObject({
    status: 400,
    pointer: '/properties/secrets/0/secret_key',
  });
});

test('what a container shows can be sent back and changes nothing (D-028, D-052)', () => {
  const { world, create, volume } = setting();
  const port_mappings = [{ protocol: 'tcp', name: 'http', container_port: 80, expose_endpoint: true }];
  const web = create({ port_mappings, volumes: [{ mount_path: '/data', volume_id: volume().id }] });
  const { provider: _, ...shown } = world.shown(web);
  expect(world.update(web, { ...shown, provider: web.properties.provider ?? {} })).toEqual(web);
});

test('a job has the properties of a container but no service address (D-213)', () => {
  const { world, environment, minimal } = setting();
  const port_mappings = [{ protocol: 'tcp', name: 'http', container_port: 80, expose_endpoint: true }];
  const job = world.create('jobs', { under: environment, name: 'once', properties: { ...minimal, port_mappings } });
  expect(job.properties).toMatchObject({ memory: 128, env: {} });
  expect(JSON.stringify(world.shown(job))).not.toContain('service_address"');
});
