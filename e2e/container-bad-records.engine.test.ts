import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { StoredResource } from '../server/model/record.ts';
import { openStore } from '../server/storage/world/world-store.ts';
import { expectNoLeftovers, IDLE, leftoversOf, requireEngine, serveOn, testImage } from '../server/testing/engine.ts';
import { type ApiClient, type Platform, refusal, startPlatform } from '../server/testing/platform.ts';
import { type ResourceFactory, resourceFactoryFor } from '../server/testing/resource-factory.ts';
import { cause, testOptions } from '../server/testing/small-world.ts';
import { type Body, createTenant, type Tenant } from '../server/testing/tenant.ts';
import { testSeed } from '../server/testing/test-seed.ts';

const POLL = { interval: 50 };
/** Number of generated records of each type. Each container or job that is accepted costs a container of the engine. */
const RECORDS = { secrets: 15, volumes: 15, containers: 30, jobs: 10, apis: 10, apiendpoints: 30 };
/** Answers of the gateway for a target that does not respond as it should, and of the programs behind it. */
const GATEWAY_STATUSES = [200, 202, 401, 403, 404, 405, 429, 502, 503];

let dataDir: string;
/** The folder of this machine that volumes may use. */
let hostDir: string;
let platform: Platform;
let root: ApiClient;
let make: ResourceFactory;
let tenant: Tenant;
let image: string;

const start = async (engine: 'auto' | 'none' = 'auto') => {
  platform = await startPlatform({ data: dataDir, containers: { engine }, allowedHostPaths: [hostDir] });
  root = platform.root;
  make = resourceFactoryFor(root);
};
beforeAll(async () => {
  await requireEngine();
  image = await testImage();
  dataDir = await mkdtemp(join(tmpdir(), 'terrarium-bad-records-'));
  hostDir = await mkdtemp(join(tmpdir(), 'terrarium-host-folder-'));
  await start();
  tenant = await createTenant(root, 'acme');
});
afterAll(async () => {
  const worldId = platform?.emulator.worldId;
  await platform?.stop();
  for (const folder of [dataDir, hostDir]) await rm(folder, { recursive: true, force: true });
  if (worldId) await expectNoLeftovers(worldId);
});

const idle = (more: object = {}) => ({ image, cmd: IDLE, memory: 16, cpus: 0.1, ...more });
const web = { protocol: 'tcp', name: 'web', expose_endpoint: true, container_port: 8080 };
const read = async ({ id }: Body): Promise<Body> => (await root.get(`/root/containers/${id}`)).body.properties;
const whenStatus = (container: Body, status: string) =>
  expect.poll(async () => (await read(container)).status, POLL).toBe(status);
const post = (properties: object) =>
  root.post(`${tenant.environment}/containers`, {
    name: make.fresh('odd'),
    properties: { container_type: 'DOCKER', provider: { id: tenant.docker }, ...properties },
  });

describe('a container that no engine can run', () => {
  it.each([
    ['image', '//evil'],
    ['image', '../x'],
    ['image', 'x?y=z'],
    ['image', 'Nginx'],
  ])('is refused with a pointer when its %s is %j', async (member, value) => {
    expect(await post(idle({ [member]: value }))).toMatchObject(refusal(400, `/properties/${member}`));
  });

  it('is refused with a pointer when one of its strings is half of a surrogate pair', async () => {
    expect(await post(idle({ user: '\ud800' }))).toMatchObject(refusal(400, '/properties/user'));
    expect(await post(idle({ env: { A: 'x\udc00' } }))).toMatchObject(refusal(400, '/properties/env/A'));
  });
});

it('a check path with a space is percent-encoded', async () => {
  const cmd = `mkdir -p "/www/health check"; echo ok > "/www/health check/index.html"; ${serveOn(8080)}`;
  const check = { protocol: 'HTTP', path: '/health check/', port_index: 0, interval_seconds: 1 };
  const container = await make.container(tenant, idle({ cmd, port_mappings: [web], health_checks: [check] }));
  await whenStatus(container, 'HEALTHY');
  await root.delete(`/root/containers/${container.id}`);
});

it('more memory than an engine can count means all of it', async () => {
  const container = await make.container(tenant, idle({ memory: 1e300 }));
  await whenStatus(container, 'RUNNING');
  await root.delete(`/root/containers/${container.id}`);
});

it('records that cannot be applied are FAILED after a start with their folder, and others run', async () => {
  const neighbor = await make.container(tenant, idle());
  const stored: [Body, object][] = [];
  for (const properties of [{ image: '//evil' }, { image: '../x' }, { user: '\ud800' }, { port_mappings: 'none' }])
    stored.push([await make.container(tenant, idle()), properties]);
  await platform.stop();
  const store = await openStore(testOptions({ medium: { kind: 'folder', dir: dataDir } }));
  // As an earlier version, which accepted them, has stored them.
  const put = stored.map(([{ id }, properties]): StoredResource => {
    const record = store.view.find(id);
    if (!record) throw new Error(`container ${id} is not stored`);
    return { ...record, properties: { ...record.properties, ...properties } as StoredResource['properties'] };
  });
  await store.commit({ put }, cause);
  await store.close();
  await start();
  await whenStatus(neighbor, 'RUNNING');
  for (const [container] of stored) {
    await whenStatus(container, 'FAILED');
    expect((await read(container)).status_detail.reason).not.toContain('no container engine responds');
  }
  for (const [container] of stored) expect((await root.delete(`/root/containers/${container.id}`)).status).toBe(204);
  await root.delete(`/root/containers/${neighbor.id}`);
});

describe('generated records', () => {
  const text = fc.oneof(
    fc.string({ maxLength: 12, unit: 'binary' }),
    fc.constantFrom('', ' ', '/', '//x', '../x', '\ud800', '\u0000', 'a b', '%zz', '?', '#', '\r\nX: y', '$A', '-'),
    fc.constantFrom('x'.repeat(300), '😀', '0', 'root', 'true', '__proto__', 'constructor'),
  );
  const number = fc.oneof(fc.integer({ min: -2, max: 65_536 }), fc.double({ noNaN: true, min: -1, max: 1e6 }));
  const odd = fc.oneof(text, number, fc.constant(null), fc.boolean(), fc.array(text, { maxLength: 2 }));
  const member = (usual: fc.Arbitrary<unknown>) =>
    fc.oneof({ arbitrary: usual, weight: 30 }, { arbitrary: odd, weight: 1 });
  const listOf = (entry: fc.Arbitrary<unknown>, maxLength = 2) => member(fc.array(entry, { maxLength }));
  const path = fc.oneof(
    fc.constantFrom('/a', '/a/b'),
    text.map((tail) => `/${tail}`),
  );
  const name = fc.oneof({ arbitrary: fc.constant('odd'), weight: 10 }, { arbitrary: text, weight: 1 });
  const port = fc.integer({ min: 1, max: 65_535 });
  const seconds = fc.constantFrom(0, 1, 86_400);
  const portName = fc.constantFrom('web', 'a', 'b-c');

  const secretItem = fc.record(
    {
      key: fc.oneof(fc.constantFrom('k', 'a.b', '..', 'a/b'), text),
      value: text,
      encoding: fc.constantFrom('base64', 'text'),
    },
    { requiredKeys: ['key', 'value'] },
  );
  const volumeType = fc.constantFrom('persistent', 'host_path', 'external', 'dynamic', 'empty_dir');
  const volume = () =>
    fc.record(
      {
        type: member(volumeType),
        config: member(fc.record({ host_path: fc.oneof(fc.constantFrom(hostDir, join(hostDir, 'no such')), path) })),
        size: member(fc.nat()),
        access_mode: member(fc.constantFrom('ReadWriteOnce', 'ReadOnlyMany', 'ReadWriteMany')),
        reclamation_policy: member(text),
        external_id: member(text),
        mount_path: member(text),
      },
      { requiredKeys: ['type'] },
    );
  const portMapping = fc.record(
    {
      protocol: fc.constantFrom('tcp', 'udp'),
      container_port: port,
      name: portName,
      expose_endpoint: fc.constant(true),
      lb_port: port,
      service_port: port,
      virtual_hosts: fc.array(text, { maxLength: 1 }),
      type: fc.constantFrom('internal', 'external', 'loadBalancer'),
    },
    { requiredKeys: ['protocol', 'container_port'] },
  );
  const healthCheck = fc.record(
    {
      protocol: fc.constantFrom('HTTP', 'HTTPS', 'TCP', 'COMMAND'),
      path,
      command: text,
      port,
      port_index: fc.nat(1),
      interval_seconds: fc.constantFrom(1, 86_400),
      timeout_seconds: fc.constantFrom(1, 86_400),
      grace_period_seconds: seconds,
      max_consecutive_failures: fc.constantFrom(0, 1, Number.MAX_SAFE_INTEGER),
    },
    { requiredKeys: ['protocol', 'port'] },
  );

  const workload = ({ secrets, volumes }: { secrets: string[]; volumes: string[] }) => {
    const mountedVolume = fc.oneof(
      fc.record({ mount_path: path, volume_id: fc.constantFrom(...volumes) }),
      fc.record({ mount_path: path, volume_resource: fc.record({ name, properties: volume() }) }),
    );
    const mountedSecret = fc.record(
      {
        mount_type: fc.constantFrom('env', 'file', 'directory'),
        secret_id: fc.constantFrom(...secrets),
        path: fc.oneof(path, text),
        secret_key: fc.constantFrom('k', 'a.b'),
      },
      { requiredKeys: ['mount_type', 'secret_id', 'path'] },
    );
    return fc.record(
      {
        container_type: member(fc.constant('DOCKER')),
        image: fc.oneof({ arbitrary: fc.constant(image), weight: 20 }, { arbitrary: text, weight: 1 }),
        cmd: member(fc.oneof({ arbitrary: fc.constant(IDLE), weight: 3 }, text)),
        args: fc.oneof({ arbitrary: fc.constant([]), weight: 3 }, listOf(text, 3)),
        user: member(fc.oneof({ arbitrary: fc.constantFrom('root', '1000', 'guest'), weight: 9 }, text)),
        env: member(
          fc.dictionary(fc.oneof({ arbitrary: fc.constantFrom('A', 'B_c'), weight: 9 }, text), text, { maxKeys: 2 }),
        ),
        labels: member(fc.dictionary(text, text, { maxKeys: 2 })),
        cpus: member(fc.double({ noNaN: true, min: 0.01, max: 1e6 })),
        memory: member(fc.constantFrom(4, 16.5, 1e6, 1e15, Number.MAX_VALUE)),
        disk: member(fc.nat()),
        num_instances: member(fc.constantFrom(0, 1, 1, 1, 2)),
        network: member(text),
        force_pull: fc.boolean(),
        constraints: listOf(text),
        accepted_resource_roles: listOf(text),
        gpu_support: member(fc.record({ enabled: fc.boolean() })),
        port_mappings: fc.oneof({ arbitrary: fc.constant([web]), weight: 2 }, listOf(portMapping)),
        health_checks: listOf(healthCheck),
        volumes: listOf(mountedVolume, 1),
        secrets: listOf(mountedSecret, 1),
      },
      { requiredKeys: ['container_type', 'image', 'cmd'] },
    );
  };

  const api = (gateways: string) => {
    const gateway = fc.record({ id: fc.oneof({ arbitrary: fc.constant(gateways), weight: 10 }, text) });
    return fc.record({ provider: member(gateway) }, { requiredKeys: [] });
  };
  const endpoint = (containers: string[]) =>
    fc.record(
      {
        resource: fc.oneof({ arbitrary: fc.nat(999).map((n) => `/page-${n}`), weight: 3 }, path),
        hosts: listOf(fc.oneof(fc.constantFrom('odd.example', '[::1]:80', 'ä.example'), text), 1),
        implementation_type: member(fc.constant('container')),
        implementation_id: fc.constantFrom(...containers),
        container_port_name: fc.oneof({ arbitrary: fc.constant('web'), weight: 5 }, fc.constantFrom('a', '8080')),
        methods: listOf(fc.constantFrom('GET', 'get', 'POST')),
        synchronous: fc.boolean(),
        is_http_aware: fc.boolean(),
        plugins: member(
          fc.record(
            {
              rateLimit: fc.record({ enabled: fc.boolean(), perMinute: fc.integer({ min: 1 }) }),
              platformSecurity: fc.record({ enabled: fc.boolean() }),
              cors: fc.record({ enabled: fc.boolean(), origins: fc.array(text, { maxLength: 1 }) }),
            },
            { requiredKeys: [] },
          ),
        ),
        whitelist: listOf(fc.constantFrom('127.0.0.1', '::1', '0.0.0.0/0', '10.0.0.0/33'), 1),
        auth_type: member(text),
        http_method: member(text),
      },
      { requiredKeys: ['resource', 'implementation_type', 'implementation_id', 'container_port_name'] },
    );

  it('of every type that concerns containers neither end the platform nor hurt a neighbor', {
    timeout: 600_000,
  }, async () => {
    const neighbor = await make.container(
      tenant,
      idle({ cmd: `echo well > /www/index.html; ${serveOn(8080)}`, port_mappings: [web] }),
    );
    await whenStatus(neighbor, 'RUNNING');
    const implementation = { implementation_type: 'container', implementation_id: neighbor.id };
    const { id: neighborEndpoint } = await root.create(`/root/apis/${(await make.api(tenant)).id}/apiendpoints`, {
      name: 'neighbor',
      properties: { resource: '/neighbor', container_port_name: 'web', ...implementation },
    });
    const urlOf = async (endpointId: string): Promise<URL> =>
      new URL((await root.get(`/root/apiendpoints/${endpointId}`)).body.properties.public_url);
    const expectNeighbor = async () => {
      const response = await fetch(await urlOf(neighborEndpoint));
      expect([response.status, await response.text()]).toEqual([200, 'well\n']);
    };

    /** Resolves to the ids of the records that the platform accepted. */
    const send = async (
      type: keyof typeof RECORDS,
      properties: fc.Arbitrary<object>,
      parents = [tenant.environment],
    ) => {
      const accepted: string[] = [];
      const samples = fc.sample(fc.record({ name, properties }), {
        numRuns: RECORDS[type],
        seed: testSeed + Object.keys(RECORDS).indexOf(type),
      });
      for (const [index, sample] of samples.entries()) {
        const sampleName = sample.name === 'odd' ? make.fresh('odd') : sample.name;
        const provider = type === 'apis' || type === 'apiendpoints' ? {} : { provider: { id: tenant.docker } };
        const sentBody = { name: sampleName, properties: { ...provider, ...sample.properties } };
        const { status, body } = await root.post(`${parents[index % parents.length]}/${type}`, sentBody);
        expect([201, 400, 404, 409], JSON.stringify([type, sentBody, body])).toContain(status);
        if (status === 201) accepted.push(body.id);
        await expectNeighbor();
      }
      expect(accepted.length, type).toBeGreaterThan(0);
      return accepted;
    };
    const secrets = await send('secrets', fc.record({ items: listOf(secretItem, 3) }));
    const volumes = await send('volumes', volume());
    const containers = await send('containers', workload({ secrets, volumes }));
    const jobs = await send('jobs', workload({ secrets, volumes }));
    const apis = await send('apis', api(tenant.gateways));
    const endpoints = await send(
      'apiendpoints',
      endpoint(containers),
      apis.map((id) => `/root/apis/${id}`),
    );
    const workloads = [...containers.map((id) => `containers/${id}`), ...jobs.map((id) => `jobs/${id}`)];

    const expectNoFault = async () => {
      await whenStatus(neighbor, 'RUNNING');
      const [{ id: instanceId }] = (await read(neighbor)).instances;
      for (const target of workloads) {
        const live = async (): Promise<Body> => (await root.get(`/root/${target}`)).body.properties;
        const isSettled = async () => {
          const { status, status_detail: detail } = await live();
          return status !== 'LAUNCHED' || detail !== undefined;
        };
        await expect.poll(isSettled, POLL).toBe(true);
        const { status, status_detail: detail } = await live();
        expect(status).not.toBe('LOST');
        expect(detail?.reason ?? '').not.toContain('internal error');
        await expectNeighbor();
      }
      for (const id of endpoints) {
        // Generated host names lead nowhere, but the path of the endpoint does.
        const { pathname } = await urlOf(id);
        const { status } = await fetch(new URL(pathname, await urlOf(neighborEndpoint)));
        expect(GATEWAY_STATUSES, pathname).toContain(status);
      }
      expect(await read(neighbor)).toMatchObject({ status: 'RUNNING', instances: [{ id: instanceId }] });
    };
    await expectNoFault();
    await platform.stop();
    await start();
    await expectNoFault();
    for (const target of workloads) expect((await root.delete(`/root/${target}`)).status).toBe(204);
    await root.delete(`/root/containers/${neighbor.id}`);
    // A world with a folder keeps its volumes.
    for (const { id } of (await root.get(`${tenant.environment}/volumes`)).body)
      expect((await root.delete(`/root/volumes/${id}`)).status).toBe(204);
    // The platform tries again to remove a network or volume every 30 s. A network that Docker has miscounted stays.
    const { worldId } = platform.emulator;
    const isClear = async () => (await leftoversOf(worldId)).length === 0;
    await vi.waitUntil(isClear, { interval: 50, timeout: 40_000 }).catch(() => undefined);
    await expectNoLeftovers(worldId);
  });
});
