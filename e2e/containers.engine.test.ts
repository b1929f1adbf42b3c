import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { rootPairOf } from '../server/testing/account.ts';
import { CliRunner } from '../server/testing/command.ts';
import { expectNoLeftovers, requireEngine, serveOn, testImage } from '../server/testing/engine.ts';
import { type ApiClient, type Platform, startPlatform } from '../server/testing/platform.ts';
import { removeTestWorld } from '../server/testing/remove-test-world.ts';
import { type ResourceFactory, resourceFactoryFor } from '../server/testing/resource-factory.ts';
import { type Body, createTenant, type Tenant, withEnvironment } from '../server/testing/tenant.ts';

/** Short, but long enough that polling is no load by itself. */
const POLL = { interval: 50 };

/** Serves one page with VERSION; ends immediately when it is stopped. */
const SERVE = `echo "$VERSION" > /www/index.html; ${serveOn(8080)}`;

let dataDir: string;
let platform: Platform;
let root: ApiClient;
let make: ResourceFactory;
let tenant: Tenant;
let image: string;

const startHere = async (onStop: 'keep' | 'remove' = 'remove') => {
  platform = await startPlatform({ data: dataDir, containers: { engine: 'auto', onStop } });
  root = platform.root;
  make = resourceFactoryFor(root);
};

beforeAll(async () => {
  await requireEngine();
  image = await testImage();
  dataDir = await mkdtemp(join(tmpdir(), 'terrarium-containers-'));
  await startHere();
  tenant = await createTenant(root, 'acme');
});
afterEach(async () => {
  const containers: Body[] = (await root.get('/acme/containers')).body;
  for (const { id } of containers) await root.delete(`/root/containers/${id}`);
});
afterAll(async () => {
  const worldId = platform?.emulator.worldId;
  await platform?.stop();
  await rm(dataDir, { recursive: true, force: true });
  if (worldId) await expectNoLeftovers(worldId);
});

const web = { protocol: 'tcp', name: 'web', expose_endpoint: true, container_port: 8080 };
const app = (version: string, more: object = {}) => ({
  image,
  cmd: SERVE,
  memory: 32,
  env: { VERSION: version },
  port_mappings: [web],
  ...more,
});
const read = async ({ id }: Body): Promise<Body> => (await root.get(`/root/containers/${id}`)).body;
const whenStatus = async (container: Body, status: string): Promise<Body> => {
  await expect.poll(async () => (await read(container)).properties.status, POLL).toBe(status);
  return read(container);
};
const publish = async (container: Body, at = tenant): Promise<string> => {
  const api = await make.api(at);
  const { properties } = await root.create(`/root/apis/${api.id}/apiendpoints`, {
    name: 'app',
    properties: {
      resource: '/app',
      implementation_type: 'container',
      implementation_id: container.id,
      container_port_name: 'web',
    },
  });
  return properties.public_url;
};
const statusOf = async (url: string) => {
  const response = await fetch(`${url}/`);
  return `${response.status} ${(await response.text()).trim()}`;
};

/** Calls a URL repeatedly until it is stopped; returns all responses other than 200, and the number of responses. */
function underLoad(url: string) {
  const failures: string[] = [];
  const answers = new Set<string>();
  let calls = 0;
  let isOn = true;
  const worker = async () => {
    while (isOn) {
      const answer = await statusOf(url).catch((failure: Error) => `no answer: ${failure.message}`);
      calls++;
      answers.add(answer);
      if (!answer.startsWith('200')) failures.push(answer);
    }
  };
  const workers = Array.from({ length: 4 }, worker);
  return async () => {
    isOn = false;
    await Promise.all(workers);
    return { failures, seen: answers, calls };
  };
}

describe('a container behind the gateway', () => {
  it('runs, is published with its prefix stripped, and returns 503 when it is scaled to zero (D-048, D-153, D-159)', async () => {
    const container = await make.container(tenant, app('one'));
    expect(container.properties).toMatchObject({ status: 'LAUNCHED', tasks_running: 0, instances: [] });
    const url = await publish(container);
    const running = await whenStatus(container, 'RUNNING');
    expect(running.properties).toMatchObject({ tasks_running: 1, instances: [{ ports: [expect.any(Number)] }] });
    expect(await statusOf(url)).toBe('200 one');
    expect((await root.post(`/root/containers/${container.id}/scale?numInstances=0`)).status).toBe(202);
    await whenStatus(container, 'SUSPENDED');
    await expect.poll(() => statusOf(url), POLL).toMatch(/^503/);
    await root.post(`/root/containers/${container.id}/scale?numInstances=2`);
    expect((await whenStatus(container, 'RUNNING')).properties.instances).toHaveLength(2);
    expect(await statusOf(url)).toBe('200 one');
  });

  it('is RUNNING after a scale from 0 only when its instance takes requests', async () => {
    const cmd = `until [ -e /go ]; do sleep 0.1; done; ${SERVE}`;
    const container = await make.container(tenant, app('one', { cmd }));
    const url = await publish(container);
    const whenCount = (count: number) =>
      expect.poll(async () => (await read(container)).properties.tasks_running, POLL).toBe(count);
    const open = () => root.post(`/../inspect/containers/${container.id}/exec`, { command: ['touch', '/go'] });
    await whenCount(1);
    await open();
    await whenStatus(container, 'RUNNING');
    await root.post(`/root/containers/${container.id}/scale?numInstances=0`);
    await whenCount(0);
    await root.post(`/root/containers/${container.id}/scale?numInstances=1`);
    await expect
      .poll(async () => (await read(container)).properties, POLL)
      .toMatchObject({ tasks_running: 1, status: 'SCALING' });
    await open();
    await whenStatus(container, 'RUNNING');
    expect(await statusOf(url)).toBe('200 one');
  });

  it('reports when its last instance has ended, also if its status was that of none before', async () => {
    const container = await make.container(tenant, app('one'));
    await whenStatus(container, 'RUNNING');
    const ends = new AbortController();
    const headers = { authorization: rootPairOf(platform) };
    const { body } = await fetch(`${platform.emulator.baseUrl}/inspect/events`, { headers, signal: ends.signal });
    await root.post(`/root/containers/${container.id}/scale?numInstances=0`);
    let [running, received] = [1, ''];
    // As the window does: it reads the record again after each report.
    for await (const part of body?.pipeThrough(new TextDecoderStream()) ?? []) {
      received += part;
      if (!received.includes('event: containers')) continue;
      received = '';
      running = (await read(container)).properties.tasks_running;
      if (running === 0) break;
    }
    ends.abort();
    expect(running).toBe(0);
  });

  it('is updated under load without a failed request: new instances serve before the old ones go (D-052)', async () => {
    const container = await make.container(tenant, app('before', { num_instances: 2 }));
    const url = await publish(container);
    await whenStatus(container, 'RUNNING');
    const end = underLoad(url);
    const patched = await root.patch(`/root/containers/${container.id}`, [
      { op: 'replace', path: '/properties/env', value: { VERSION: 'after' } },
    ]);
    expect(patched.status).toBe(200);
    await expect
      .poll(async () => [await statusOf(url), await statusOf(url), (await read(container)).properties.status], POLL)
      .toEqual(['200 after', '200 after', 'RUNNING']);
    const { failures, seen, calls } = await end();
    expect(failures).toEqual([]);
    expect([...seen].sort()).toEqual(['200 after', '200 before']);
    expect(calls).toBeGreaterThan(20);
  });

  it('moves to another provider under load without a failed request, endpoints and all (D-133)', async () => {
    const container = await make.container(tenant, app('moved'));
    const url = await publish(container);
    await whenStatus(container, 'RUNNING');
    const other = await make.provider(tenant, 'CaaS::Docker');
    const end = underLoad(url);
    const moving = await root.post(`/root/containers/${container.id}/migrate?provider=${other.id}`);
    expect(moving).toMatchObject({ status: 202, body: { id: container.id, properties: { status: 'MIGRATING' } } });
    await expect.poll(async () => (await root.get(`/root/containers/${container.id}`)).status, POLL).toBe(404);
    const movedContainers: Body[] = (await root.get(`/root/providers/${other.id}/containers?expand=true`)).body;
    expect(movedContainers).toMatchObject([{ name: container.name, properties: { status: 'RUNNING' } }]);
    expect(await statusOf(url)).toBe('200 moved');
    expect((await end()).failures).toEqual([]);
  });

  it('is promoted: a copy runs in the other environment, the source and its endpoint stay (D-133)', async () => {
    const container = await make.container(tenant, app('promoted'));
    const url = await publish(container);
    await whenStatus(container, 'RUNNING');
    const target = await withEnvironment(root, tenant, 'test');
    await root.post(`/root/containers/${container.id}/promote?target=${target.environmentId}`);
    await expect
      .poll(async () => (await root.get(`${target.environment}/containers?expand=true`)).body, POLL)
      .toMatchObject([{ name: container.name, properties: { status: 'RUNNING', env: { VERSION: 'promoted' } } }]);
    await whenStatus(container, 'RUNNING');
    expect(await statusOf(url)).toBe('200 promoted');
  });

  it('a move to an image that cannot run removes the copy and reports why (D-134)', async () => {
    const container = await make.container(tenant, app('stuck'));
    await whenStatus(container, 'RUNNING');
    await root.patch(`/root/containers/${container.id}`, [
      { op: 'replace', path: '/properties/image', value: 'terrarium-test/nothing:1' },
    ]);
    await whenStatus(container, 'FAILED');
    const other = await make.provider(tenant, 'CaaS::Docker');
    await root.post(`/root/containers/${container.id}/migrate?provider=${other.id}`);
    await whenStatus(container, 'FAILED');
    expect((await root.get(`/root/providers/${other.id}/containers`)).body).toEqual([]);
    expect((await read(container)).properties.status_detail.reason).toContain('terrarium-test/nothing:1');
  });
});

describe('what an engine is asked for now', () => {
  it('reads the log of all instances (D-191)', async () => {
    const container = await make.container(tenant, {
      image,
      cmd: 'echo hello from inside; echo oops >&2; exec sleep 600',
    });
    await whenStatus(container, 'RUNNING');
    const { baseUrl } = platform.emulator;
    const log = (query = '') => root.send('GET', `/../log/container/${container.id}${query}`);
    expect(baseUrl).toBeTruthy();
    await expect
      .poll(async () => (await log()).body, POLL)
      .toEqual(expect.arrayContaining([expect.stringContaining('hello from inside')]));
    expect(JSON.stringify((await log('?stderr=false')).body)).not.toContain('oops');
  });
});

describe('a restart of the platform', () => {
  it('adopts running instances', async () => {
    const container = await make.container(tenant, app('kept'));
    const url = await publish(container);
    const before = await whenStatus(container, 'RUNNING');
    await platform.stop();
    await startHere('keep');
    const again = await whenStatus(container, 'RUNNING');
    expect(again.properties.instances).not.toEqual([]);
    const path = new URL(url).pathname;
    expect(await statusOf(`${platform.emulator.gatewayUrl}${path}`)).toBe('200 kept');
    // The previous stop removed the containers; the next one keeps them.
    expect(again.properties.instances[0].id).not.toBe(before.properties.instances[0].id);
    await platform.stop();
    await startHere();
    const adopted = await whenStatus(container, 'RUNNING');
    expect(adopted.properties.instances[0].id).toBe(again.properties.instances[0].id);
    expect(await statusOf(`${platform.emulator.gatewayUrl}${path}`)).toBe('200 kept');
  });
});

describe('a copy of a data folder', () => {
  it('runs its containers after reset --new-id, with files of its own, and those of the original stay', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'terrarium-copies-'));
    const [original, copy] = [join(folder, 'original'), join(folder, 'copy')];
    const start = (data: string, onStop: 'keep' | 'remove') =>
      startPlatform({ data, containers: { engine: 'auto', onStop } });
    const started: Platform[] = [];
    const worldIds = new Set<string>();
    const cli = new CliRunner();
    try {
      const first = await start(original, 'keep');
      started.push(first);
      worldIds.add(first.emulator.worldId);
      const tenant = await createTenant(first.root, 'acme');
      const data = {
        mount_path: '/data',
        volume_resource: { name: 'data', properties: { type: 'persistent', size: 1 } },
      };
      const cmd = `echo "$(cat /data/starts 2>/dev/null)x" > /data/starts; cat /data/starts; ${serveOn(8080)}`;
      const { id } = await resourceFactoryFor(first.root).container(tenant, app('one', { cmd, volumes: [data] }));
      const properties = async ({ root: client }: Platform) =>
        (await client.get(`/root/containers/${id}`)).body.properties;
      const status = async (at: Platform) => (await properties(at)).status;
      await expect.poll(() => status(first), POLL).toBe('RUNNING');
      const [{ id: instanceId }] = (await properties(first)).instances;
      await first.stop();
      await cp(original, copy, { recursive: true });

      const lost = await start(copy, 'remove');
      started.push(lost);
      await expect.poll(() => status(lost), POLL).toBe('LOST');
      expect((await properties(lost)).status_detail.reason).toContain(`reset --new-id --data ${copy}`);
      await lost.stop();
      expect((await cli.runInProcess(['reset', '--new-id', '--data', copy])).exitCode).toBe(0);
      const second = await start(copy, 'remove');
      started.push(second);
      worldIds.add(second.emulator.worldId);
      await expect.poll(() => status(second), POLL).toBe('RUNNING');
      const log = async (at: Platform) => (await at.root.get(`/../log/container/${id}`)).body;
      await expect.poll(() => log(second), POLL).toEqual(['x']);
      await second.stop();

      const again = await start(original, 'remove');
      started.push(again);
      await expect.poll(() => status(again), POLL).toBe('RUNNING');
      expect((await properties(again)).instances).toMatchObject([{ id: instanceId }]);
      expect(await log(again)).toEqual(['x']);
    } finally {
      await cli.close();
      await Promise.all(started.map((each) => each.stop()));
      await Promise.all([...worldIds].map(removeTestWorld));
      await rm(folder, { recursive: true });
    }
    expect(worldIds.size).toBe(2);
  });
});
