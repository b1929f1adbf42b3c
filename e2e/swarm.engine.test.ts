import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectNoLeftovers, requireEngine, testImage } from '../server/testing/engine.ts';
import { makeEngineProxy } from '../server/testing/engine-proxy.ts';
import { type ApiClient, type Platform, startPlatform } from '../server/testing/platform.ts';
import { type ResourceFactory, resourceFactoryFor } from '../server/testing/resource-factory.ts';
import { type Body, createTenant, type Tenant } from '../server/testing/tenant.ts';

const LIMIT_MS = 180_000;
const POLL = { timeout: 60_000, interval: 100 };
const SERVE_VERSION = 'echo "$VERSION" > /www/index.html; exec httpd -f -p 8080 -h /www';

describe('a provider of type CaaS::Swarm (D-082)', () => {
  let docker: Awaited<ReturnType<typeof requireEngine>>;
  let image: string;
  let platform: Platform;
  let root: ApiClient;
  let make: ResourceFactory;
  let tenant: Tenant;
  /** Did a swarm exist before this test? Then it stays. */
  let wasSwarm: boolean;

  beforeAll(async () => {
    docker = await requireEngine();
    image = await testImage();
    wasSwarm = (await docker.info()).Swarm?.LocalNodeState === 'active';
    platform = await startPlatform({ containers: { engine: 'auto' } });
    root = platform.root;
    make = resourceFactoryFor(root);
    tenant = await createTenant(root, 'acme');
  }, LIMIT_MS);
  afterAll(async () => {
    const worldId = platform?.emulator.worldId;
    await platform?.stop();
    const remainingServices = worldId
      ? await docker.listServices({ filters: { label: [`terrarium.world=${worldId}`] } }).catch(() => [])
      : [];
    if (worldId) await expectNoLeftovers(worldId);
    if (!wasSwarm) await docker.swarmLeave({ force: true }).catch(() => undefined);
    expect(remainingServices).toEqual([]);
  }, LIMIT_MS);

  it('is LOST as long as the daemon manages no swarm, and says how to make one', { timeout: LIMIT_MS }, async () => {
    if (wasSwarm) return; // nothing to see where there is a swarm already
    const provider = await make.provider(tenant, 'CaaS::Swarm');
    const container = await make.container(tenant, { provider: { id: provider.id }, image, num_instances: 1 });
    const read = async () => (await root.get(`/root/containers/${container.id}`)).body.properties;
    await expect.poll(async () => (await read()).status, POLL).toBe('LOST');
    expect((await read()).status_detail.reason).toContain('docker swarm init');
    await docker.swarmInit({ ListenAddr: '127.0.0.1:2377', AdvertiseAddr: '127.0.0.1' });
    await expect.poll(async () => (await read()).status, POLL).toBe('RUNNING');
    expect((await root.delete(`/root/containers/${container.id}`)).status).toBe(204);
  });

  it('runs replicas as a service, published on the gateway; scales, updates, removes', {
    timeout: LIMIT_MS,
  }, async () => {
    const provider = await make.provider(tenant, 'CaaS::Swarm');
    const container: Body = await make.container(tenant, {
      provider: { id: provider.id },
      image,
      cmd: SERVE_VERSION,
      memory: 32,
      num_instances: 2,
      env: { VERSION: 'one' },
      port_mappings: [{ protocol: 'tcp', name: 'web', expose_endpoint: true, container_port: 8080 }],
    });
    const read = async (): Promise<Body> => (await root.get(`/root/containers/${container.id}`)).body.properties;
    await expect.poll(async () => (await read()).status, POLL).toBe('RUNNING');
    expect((await read()).instances).toHaveLength(2);
    const [service, ...otherServices] = await docker.listServices({
      filters: { label: [`terrarium.record=${container.id}`] },
    });
    expect(otherServices).toEqual([]);
    expect(service?.Spec?.Mode?.Replicated?.Replicas).toBe(2);

    const api = await make.api(tenant);
    const endpoint = await root.create(`/root/apis/${api.id}/apiendpoints`, {
      name: 'app',
      properties: {
        resource: '/app',
        implementation_type: 'container',
        implementation_id: container.id,
        container_port_name: 'web',
      },
    });
    const page = async () => {
      const answer = await fetch(`${endpoint.properties.public_url}/`);
      return `${answer.status} ${(await answer.text()).trim()}`;
    };
    await expect.poll(page, POLL).toBe('200 one');
    await root.post(`/root/containers/${container.id}/scale?numInstances=3`);
    await expect.poll(async () => (await read()).instances.length, POLL).toBe(3);
    await root.patch(`/root/containers/${container.id}`, [
      { op: 'replace', path: '/properties/env', value: { VERSION: 'two' } },
    ]);
    await expect
      .poll(async () => [await page(), await page(), await page()], POLL)
      .toEqual(['200 two', '200 two', '200 two']);
    expect((await root.delete(`/root/containers/${container.id}`)).status).toBe(204);
    const services = () => docker.listServices({ filters: { label: [`terrarium.record=${container.id}`] } });
    await expect.poll(services, POLL).toEqual([]);
  });

  it('FAILED names an image that no node has', { timeout: LIMIT_MS }, async () => {
    const provider = await make.provider(tenant, 'CaaS::Swarm');
    const container = await make.container(tenant, {
      provider: { id: provider.id },
      image: 'terrarium-test/nothing:1',
    });
    const read = async () => (await root.get(`/root/containers/${container.id}`)).body.properties;
    await expect.poll(async () => (await read()).status, POLL).toBe('FAILED');
    expect((await read()).status_detail.reason).toContain("image 'terrarium-test/nothing:1' cannot be pulled");
    await root.delete(`/root/containers/${container.id}`);
  });

  it('is LOST when its daemon hangs, and runs again when the daemon continues', {
    timeout: LIMIT_MS,
  }, async () => {
    const proxy = await makeEngineProxy();
    await proxy.open();
    const provider = await make.provider(tenant, 'CaaS::Swarm', { config: { url: proxy.url } });
    const container = await make.container(tenant, { provider: { id: provider.id }, image });
    const status = async () => (await root.get(`/root/containers/${container.id}`)).body.properties.status;
    await expect.poll(status, POLL).toBe('RUNNING');
    proxy.hang();
    await expect.poll(status, POLL).toBe('LOST');
    const log = await root.send('GET', `/../log/container/${container.id}`);
    expect([log.status, log.headers.get('retry-after')]).toEqual([503, '5']);
    await proxy.open();
    await expect.poll(status, POLL).toBe('RUNNING');
    expect((await root.delete(`/root/containers/${container.id}`)).status).toBe(204);
    const services = () => docker.listServices({ filters: { label: [`terrarium.record=${container.id}`] } });
    await expect.poll(services, POLL).toEqual([]);
    await proxy.remove();
  });
});
