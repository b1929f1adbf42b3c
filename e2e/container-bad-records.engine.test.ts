import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { StoredResource } from '../server/model/record.ts';
import { openStore } from '../server/storage/world/world-store.ts';
import { expectNoLeftovers, requireEngine, testImage } from '../server/testing/engine.ts';
import { type ApiClient, type Platform, refusal, startPlatform } from '../server/testing/platform.ts';
import { type ResourceFactory, resourceFactoryFor } from '../server/testing/resource-factory.ts';
import { cause, testOptions } from '../server/testing/small-world.ts';
import { type Body, createTenant, type Tenant } from '../server/testing/tenant.ts';

const POLL = { timeout: 60_000, interval: 50 };
/** Generated records: each that is accepted costs a container of the engine. */
const RECORDS = 40;
/** Ends immediately when it is stopped. */
const IDLE = 'trap "exit 0" TERM; sleep 3600 & wait';

let dataDir: string;
let platform: Platform;
let root: ApiClient;
let make: ResourceFactory;
let tenant: Tenant;
let image: string;

const start = async (engine: 'auto' | 'none' = 'auto') => {
  platform = await startPlatform({ data: dataDir, containers: { engine } });
  root = platform.root;
  make = resourceFactoryFor(root);
};
beforeAll(async () => {
  await requireEngine();
  image = await testImage();
  dataDir = await mkdtemp(join(tmpdir(), 'terrarium-bad-records-'));
  await start();
  tenant = await createTenant(root, 'acme');
});
afterAll(async () => {
  const worldId = platform?.emulator.worldId;
  await platform?.stop();
  await rm(dataDir, { recursive: true, force: true });
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
  const cmd = 'mkdir -p "/www/health check" && echo ok > "/www/health check/index.html"; exec httpd -f -p 8080 -h /www';
  const check = { protocol: 'HTTP', path: '/health check/', port_index: 0, interval_seconds: 1 };
  const container = await make.container(tenant, idle({ cmd, port_mappings: [web], health_checks: [check] }));
  await whenStatus(container, 'HEALTHY');
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
    fc.constantFrom('x'.repeat(300), '😀', '0', 'root', 'true'),
  );
  const number = fc.oneof(fc.integer({ min: -2, max: 65_536 }), fc.double({ noNaN: true, min: -1, max: 1e6 }));
  const odd = fc.oneof(text, number, fc.constant(null), fc.boolean(), fc.array(text, { maxLength: 2 }));
  const member = (usual: fc.Arbitrary<unknown>) =>
    fc.oneof({ arbitrary: usual, weight: 20 }, { arbitrary: odd, weight: 1 });
  const port = fc.integer({ min: 1, max: 65_535 });
  const path = text.map((tail) => `/${tail}`);
  const properties = fc.record(
    {
      image: fc.oneof({ arbitrary: fc.constant('IMAGE'), weight: 20 }, { arbitrary: text, weight: 1 }),
      cmd: member(fc.oneof(fc.constant(IDLE), text)),
      args: member(fc.array(text, { maxLength: 3 })),
      user: member(text),
      env: member(fc.dictionary(fc.constantFrom('A', 'B', 'a b', ''), text, { maxKeys: 2 })),
      labels: member(fc.dictionary(text, text, { maxKeys: 2 })),
      cpus: member(fc.double({ noNaN: true, min: 0.01, max: 1e6 })),
      num_instances: member(fc.integer({ min: 0, max: 2 })),
      network: member(text),
      force_pull: fc.boolean(),
      port_mappings: member(
        fc.array(
          fc.record(
            {
              protocol: fc.constantFrom('tcp', 'udp'),
              container_port: port,
              name: fc.constantFrom('web', 'a', 'b-c'),
              expose_endpoint: fc.boolean(),
              lb_port: port,
              virtual_hosts: fc.array(text, { maxLength: 1 }),
            },
            { requiredKeys: ['protocol'] },
          ),
          { maxLength: 2 },
        ),
      ),
      health_checks: member(
        fc.array(
          fc.record(
            {
              protocol: fc.constantFrom('HTTP', 'HTTPS', 'TCP', 'COMMAND'),
              path,
              command: text,
              port,
              port_index: fc.integer({ min: 0, max: 1 }),
              interval_seconds: fc.constantFrom(1, 86_400),
              timeout_seconds: fc.constantFrom(1, 86_400),
              grace_period_seconds: fc.constantFrom(0, 1, 86_400, 1e9),
              max_consecutive_failures: fc.constantFrom(0, 1, Number.MAX_SAFE_INTEGER),
            },
            { requiredKeys: ['protocol'] },
          ),
          { maxLength: 2 },
        ),
      ),
      volumes: member(
        fc.array(
          fc.record({
            mount_path: path,
            volume_resource: fc.record({
              name: fc.constantFrom('odd-volume', ' '),
              properties: fc.constant({ type: 'empty_dir' }),
            }),
          }),
          { maxLength: 1 },
        ),
      ),
    },
    { requiredKeys: ['image'] },
  );

  it('neither end the platform nor hurt their neighbor, whatever they contain', { timeout: 600_000 }, async () => {
    const neighbor = await make.container(tenant, idle());
    await whenStatus(neighbor, 'RUNNING');
    const [{ id: instanceId }] = (await read(neighbor)).instances;
    const samples = fc.sample(properties, { numRuns: RECORDS, seed: 40 });
    const accepted: string[] = [];
    for (const sample of samples) {
      const { status, body } = await post({ ...sample, memory: 16, ...(sample.image === 'IMAGE' && { image }) });
      expect([201, 400, 409], JSON.stringify(body)).toContain(status);
      if (status === 201) accepted.push(body.id);
    }
    expect(accepted.length).toBeGreaterThan(RECORDS / 10);
    for (const id of accepted) {
      await expect.poll(async () => (await read({ id } as Body)).status, POLL).not.toBe('LAUNCHED');
      const { status, status_detail: detail } = await read({ id } as Body);
      expect(status).not.toBe('LOST');
      expect(detail?.reason ?? '').not.toContain('internal error');
    }
    expect(await read(neighbor)).toMatchObject({ status: 'RUNNING', instances: [{ id: instanceId }] });
    for (const id of accepted) expect((await root.delete(`/root/containers/${id}`)).status).toBe(204);
    await root.delete(`/root/containers/${neighbor.id}`);
  });
});
