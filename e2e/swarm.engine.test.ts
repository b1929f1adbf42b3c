import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { basic } from '../server/testing/checked-client.ts';
import { expectNoLeftovers, requireEngine, testImage, testImageWith } from '../server/testing/engine.ts';
import { makeEngineProxy } from '../server/testing/engine-proxy.ts';
import { type ApiClient, type Platform, startPlatform } from '../server/testing/platform.ts';
import { type ResourceFactory, resourceFactoryFor } from '../server/testing/resource-factory.ts';
import { createTestSwarm, isInForeignSwarm, missingForSwarmNode, SwarmNode } from '../server/testing/swarm-node.ts';
import { type Body, createTenant, type Tenant } from '../server/testing/tenant.ts';

const POLL = { timeout: 120_000, interval: 100 };
const SERVE_VERSION = 'echo "$VERSION"; echo "$VERSION" > /www/index.html; exec httpd -f -p 8080 -h /www';
const SERVE_HOST_NAME = 'hostname > /www/index.html; exec httpd -f -p 8080 -h /www';
const LOCAL_IMAGE = 'terrarium-test/on-one-node:1';

/** Reads a response until it contains a text. */
async function untilContains({ body }: Response, expectedText: string): Promise<void> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    if (text.includes(expectedText)) return;
  }
  throw new Error(`the response ended without ${expectedText}`);
}

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
    wasSwarm = await isInForeignSwarm(docker);
    platform = await startPlatform({ containers: { engine: 'auto' } });
    root = platform.root;
    make = resourceFactoryFor(root);
    tenant = await createTenant(root, 'acme');
  });
  afterAll(async () => {
    const worldId = platform?.emulator.worldId;
    await platform?.stop();
    const remainingServices = worldId
      ? await docker.listServices({ filters: { label: [`terrarium.world=${worldId}`] } }).catch(() => [])
      : [];
    if (worldId) await expectNoLeftovers(worldId);
    if (!wasSwarm) await docker.swarmLeave({ force: true }).catch(() => undefined);
    expect(remainingServices).toEqual([]);
  });

  it('is LOST as long as the daemon manages no swarm, and says how to make one', async () => {
    if (wasSwarm) return; // nothing to see where there is a swarm already
    const provider = await make.provider(tenant, 'CaaS::Swarm');
    const container = await make.container(tenant, { provider: { id: provider.id }, image, num_instances: 1 });
    const read = async () => (await root.get(`/root/containers/${container.id}`)).body.properties;
    await expect.poll(async () => (await read()).status, POLL).toBe('LOST');
    expect((await read()).status_detail.reason).toContain('docker swarm init');
    await createTestSwarm(docker);
    await expect.poll(async () => (await read()).status, POLL).toBe('RUNNING');
    expect((await root.delete(`/root/containers/${container.id}`)).status).toBe(204);
  });

  it('runs replicas as a service, published on the gateway; scales, updates, removes', async () => {
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
    const { baseUrl, rootCredentials: key } = platform.emulator;
    const headers = { Authorization: basic(key.apiKey, key.apiSecret ?? '') };
    const logStream = await fetch(`${baseUrl}/inspect/logs/${container.id}/stream`, { headers });
    await root.patch(`/root/containers/${container.id}`, [
      { op: 'replace', path: '/properties/env', value: { VERSION: 'two' } },
    ]);
    await expect
      .poll(async () => [await page(), await page(), await page()], POLL)
      .toEqual(['200 two', '200 two', '200 two']);
    await untilContains(logStream, '"text":"two"');
    expect((await root.delete(`/root/containers/${container.id}`)).status).toBe(204);
    const services = () => docker.listServices({ filters: { label: [`terrarium.record=${container.id}`] } });
    await expect.poll(services, POLL).toEqual([]);
  });

  it('of a large log, the newest lines of all instances are read', async () => {
    const provider = await make.provider(tenant, 'CaaS::Swarm');
    const write = `awk 'BEGIN { line = sprintf("%04000d", 0); for (i = 0; i < 8000; i++) print i, line; print "last" }'`;
    const properties = { provider: { id: provider.id }, image, num_instances: 2, cmd: `${write}; exec sleep 3600` };
    const container = await make.container(tenant, properties);
    const lines = async () => (await root.get(`/../inspect/logs/${container.id}`)).body.lines ?? [];
    await expect.poll(async () => (await lines()).at(-1)?.text, POLL).toBe('last');
    expect(JSON.stringify(await lines()).length).toBeLessThan(10_000_000);
    await root.delete(`/root/containers/${container.id}`);
  });

  it('FAILED names an image that no node has', async () => {
    const provider = await make.provider(tenant, 'CaaS::Swarm');
    const container = await make.container(tenant, {
      provider: { id: provider.id },
      image: 'terrarium-test/nothing:1',
    });
    const read = async () => (await root.get(`/root/containers/${container.id}`)).body.properties;
    // Before, it can fail because the daemon still removes the network of an earlier container, which is tried again.
    const reason = "image 'terrarium-test/nothing:1' cannot be pulled";
    await expect
      .poll(read, POLL)
      .toMatchObject({ status: 'FAILED', status_detail: { reason: expect.stringContaining(reason) } });
    await root.delete(`/root/containers/${container.id}`);
  });

  it('is LOST when its daemon hangs, and runs again when the daemon continues', async () => {
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

const missing = await missingForSwarmNode();
if (missing !== undefined) console.warn(`skipped: ${missing}`);

describe.skipIf(missing !== undefined)('a swarm of two nodes', () => {
  let docker: Awaited<ReturnType<typeof requireEngine>>;
  let image: string;
  let node: SwarmNode;
  let platform: Platform;
  let root: ApiClient;
  let make: ResourceFactory;
  let tenant: Tenant;
  let provider: Body;
  let managerName: string;

  beforeAll(async () => {
    docker = await requireEngine();
    image = await testImage();
    managerName = (await docker.info()).Name;
    node = await SwarmNode.start(docker);
    await testImage(undefined, node.docker);
    platform = await startPlatform({ containers: { engine: 'auto' } });
    root = platform.root;
    make = resourceFactoryFor(root);
    tenant = await createTenant(root, 'acme');
    provider = await make.provider(tenant, 'CaaS::Swarm');
  });
  afterAll(async () => {
    await platform?.stop();
    await node?.stop();
    await docker
      ?.getImage(LOCAL_IMAGE)
      .remove()
      .catch(() => undefined);
  });

  const create = (properties: object) =>
    make.container(tenant, { provider: { id: provider.id }, image, memory: 32, num_instances: 1, ...properties });
  const read = async ({ id }: Body): Promise<Body> => (await root.get(`/root/containers/${id}`)).body.properties;
  const remove = ({ id }: Body) => root.delete(`/root/containers/${id}`);
  const reason = async (container: Body): Promise<string> => (await read(container)).status_detail?.reason ?? '';

  async function untilRunning(container: Body): Promise<void> {
    const state = async () => [(await read(container)).status, await reason(container)];
    await expect.poll(state, POLL).toEqual(['RUNNING', '']);
  }

  async function serve(properties: object): Promise<{ container: Body; url: string }> {
    const port = { protocol: 'tcp', name: 'web', expose_endpoint: true, container_port: 8080 };
    const container = await create({ cmd: SERVE_HOST_NAME, port_mappings: [port], ...properties });
    const api = await make.api(tenant);
    const implementation = { implementation_type: 'container', implementation_id: container.id };
    const endpoint = await root.create(`/root/apis/${api.id}/apiendpoints`, {
      name: 'app',
      properties: { resource: '/app', container_port_name: 'web', ...implementation },
    });
    return { container, url: `${endpoint.properties.public_url}/` };
  }

  /** Returns the bodies of successful responses, and `status body` of the others. */
  async function request(url: string, count: number): Promise<{ bodies: Set<string>; failures: string[] }> {
    const bodies = new Set<string>();
    const failures: string[] = [];
    for (let i = 0; i < count; i++) {
      const response = await fetch(url);
      const body = (await response.text()).trim();
      if (response.status === 200) bodies.add(body);
      else failures.push(`${response.status} ${body}`);
    }
    return { bodies, failures };
  }

  /** Sends requests until a condition applies. Returns the failures. */
  async function requestUntil(url: string, isOver: () => Promise<boolean>): Promise<string[]> {
    const failures: string[] = [];
    for (const untilMs = Date.now() + POLL.timeout; !(await isOver()); ) {
      failures.push(...(await request(url, 5)).failures);
      if (Date.now() > untilMs) throw new Error('the expected state is not reached');
    }
    return failures;
  }

  it('sends requests to the instances of both nodes, and none fails when some of them stop', async () => {
    const { container, url } = await serve({ num_instances: 4 });
    await untilRunning(container);
    expect(new Set((await read(container)).instances.map(({ host }: Body) => host))).toEqual(
      new Set(['127.0.0.1', node.address]),
    );
    const { bodies, failures } = await request(url, 24);
    expect(failures).toEqual([]);
    expect(bodies.size).toBe(4);
    expect((await read(container)).instances.map(({ ports }: Body) => ports.length)).toEqual([1, 1, 1, 1]);
    await root.post(`/root/containers/${container.id}/scale?numInstances=2`);
    const hasStopped = async () => {
      const tasks = await docker.listTasks({ filters: { label: [`terrarium.record=${container.id}`] } });
      return tasks.filter(({ Status: status }) => status.State === 'running').length === 2;
    };
    expect(await requestUntil(url, hasStopped)).toEqual([]);
    expect((await request(url, 10)).bodies.size).toBe(2);
    await remove(container);
  });

  it('serves without failures after a drained node has given its tasks to the other one', async () => {
    const { container, url } = await serve({ num_instances: 2 });
    await untilRunning(container);
    await node.setAvailability(managerName, 'drain');
    try {
      const hosts = async () => {
        const { status, instances } = await read(container);
        return [status, ...instances.map(({ host }: Body) => host)];
      };
      await expect.poll(hosts, POLL).toEqual(['RUNNING', node.address, node.address]);
      expect((await request(url, 30)).failures).toEqual([]);
      const [instance] = (await read(container)).instances;
      const path = `/../inspect/containers/${container.id}/exec`;
      const refused = await root.send('POST', path, { body: { command: ['true'], instance: instance.id } });
      expect(JSON.stringify(refused.body)).toContain(`runs on node '${node.hostName}' (${node.address})`);
      expect(JSON.stringify(refused.body)).toContain('docker exec -it');
    } finally {
      await node.setAvailability(managerName, 'active');
    }
    await remove(container);
  });

  it('counts an instance whose health command passes as healthy, and serves', async () => {
    const check = {
      protocol: 'COMMAND',
      command: 'true',
      interval_seconds: 1,
      timeout_seconds: 5,
      max_consecutive_failures: 3,
    };
    const { container, url } = await serve({ health_checks: [check] });
    await expect.poll(async () => (await read(container)).status, POLL).toBe('HEALTHY');
    expect((await request(url, 5)).failures).toEqual([]);
    await remove(container);
  });

  it("counts an instance whose image's own check passes as healthy, and caps its CPUs to those of a node", async () => {
    const checked = 'terrarium-test/well:1';
    for (const engine of [docker, node.docker])
      await testImageWith(checked, ['HEALTHCHECK --interval=1s --timeout=60s --retries=1 CMD true'], engine);
    const container = await create({ image: checked, cpus: 512 });
    await expect.poll(async () => (await read(container)).status, POLL).toBe('HEALTHY');
    expect(await reason(container)).toMatch(/^the container engine has \d+ CPUs, so an instance gets \d+ and not 512$/);
    await remove(container);
  });

  it('keeps the old instances in use during an update and when the new definition ends at once', async () => {
    const { container, url } = await serve({ num_instances: 2 });
    await expect.poll(async () => (await request(url, 1)).failures, POLL).toEqual([]);
    await untilRunning(container);
    const patch = (path: string, value: unknown) =>
      root.patch(`/root/containers/${container.id}`, [{ op: 'replace', path: `/properties/${path}`, value }]);
    const before = (await request(url, 4)).bodies;
    await patch('cmd', `true; ${SERVE_HOST_NAME}`);
    const isUpdated = async () => {
      const { bodies } = await request(url, 4);
      return bodies.size === 2 && ![...bodies].some((body) => before.has(body));
    };
    const failures = await requestUntil(url, isUpdated);
    await patch('cmd', 'exit 3');
    failures.push(...(await requestUntil(url, async () => (await read(container)).status === 'FAILED')));
    expect(await reason(container)).toContain('the old one stays in use');
    expect((await request(url, 10)).failures).toEqual([]);
    expect(failures).toEqual([]);
    await remove(container);
  });

  it('reports the reason why tasks end or do not start', async () => {
    const crashing = await create({ cmd: 'exit 7' });
    await expect.poll(() => reason(crashing), POLL).toContain('ended with exit code 7');
    await remove(crashing);
    const unknown = await create({ args: ['/no/such/program'] });
    await expect.poll(() => reason(unknown), POLL).toContain('/no/such/program');
    await expect.poll(async () => (await read(unknown)).status, POLL).toBe('FAILED');
    await remove(unknown);
  });

  it('names the node that lacks an image, and the command that copies it', async () => {
    await testImage(LOCAL_IMAGE);
    const container = await create({ image: LOCAL_IMAGE, num_instances: 2 });
    await expect
      .poll(() => reason(container), POLL)
      .toContain(`docker save ${LOCAL_IMAGE} | ssh ${node.address} docker load`);
    expect(await reason(container)).toContain(node.hostName);
    await remove(container);
  });

  it('serves without failures after a lost node has been replaced, also where it is lost during an update', async () => {
    const steady = await serve({ num_instances: 2 });
    const updated = await serve({ num_instances: 2 });
    for (const { container } of [steady, updated]) await untilRunning(container);
    const cmd = `echo new; ${SERVE_HOST_NAME}`;
    await root.patch(`/root/containers/${updated.container.id}`, [
      { op: 'replace', path: '/properties/cmd', value: cmd },
    ]);
    const services = () => docker.listServices({ filters: { label: [`terrarium.record=${updated.container.id}`] } });
    await expect.poll(async () => (await services()).length, { ...POLL, interval: 10 }).toBe(2);
    await node.kill();
    for (const { container, url } of [steady, updated]) {
      const hosts = async () => {
        const { status, instances } = await read(container);
        return [status, ...instances.map(({ host }: Body) => host)];
      };
      await expect.poll(hosts, POLL).toEqual(['RUNNING', '127.0.0.1', '127.0.0.1']);
      expect((await request(url, 30)).failures).toEqual([]);
    }
    await expect.poll(async () => (await services()).length, POLL).toBe(1);
    const log = await root.get(`/../inspect/logs/${updated.container.id}`);
    expect(log.body.lines.map(({ text }: Body) => text)).toContain('new');
    for (const { container } of [steady, updated]) await remove(container);
  });
});
