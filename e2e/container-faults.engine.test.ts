import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { expectNoLeftovers, IDLE, requireEngine, serveOn, testImage } from '../server/testing/engine.ts';
import { type EngineProxy, makeEngineProxy } from '../server/testing/engine-proxy.ts';
import { type ApiClient, type Platform, startPlatform } from '../server/testing/platform.ts';
import { type ResourceFactory, resourceFactoryFor } from '../server/testing/resource-factory.ts';
import { type Body, createTenant, type Tenant } from '../server/testing/tenant.ts';

const POLL = { interval: 50 };
/** More than twice as many as the platform lets an engine handle at the same time. */
const CONTAINER_COUNT = 10;
const CRASHING_COUNT = 10;
const SERVE = `echo "$VERSION" > /www/index.html; ${serveOn(8080)}`;
const frequent = { interval_seconds: 1, timeout_seconds: 1, grace_period_seconds: 0, max_consecutive_failures: 1 };
const web = { protocol: 'tcp', name: 'web', expose_endpoint: true, container_port: 8080 };

let platform: Platform;
let root: ApiClient;
let make: ResourceFactory;
let tenant: Tenant;
let image: string;
let docker: Awaited<ReturnType<typeof requireEngine>>;

beforeAll(async () => {
  docker = await requireEngine();
  image = await testImage();
  platform = await startPlatform({ containers: { engine: 'auto' } });
  root = platform.root;
  make = resourceFactoryFor(root);
  tenant = await createTenant(root, 'acme');
});
afterEach(async () => {
  for (const { id } of (await root.get('/acme/containers')).body) await root.delete(`/root/containers/${id}`);
});
afterAll(async () => {
  const worldId = platform?.emulator.worldId;
  await platform?.stop();
  if (worldId) await expectNoLeftovers(worldId);
});

const idle = (more: object = {}) => ({ image, cmd: IDLE, memory: 16, cpus: 1, ...more });
const read = async ({ id }: Body): Promise<Body> => (await root.get(`/root/containers/${id}`)).body;
const statusOf = async (container: Body) => (await read(container)).properties.status;
const reasonOf = async (container: Body) => (await read(container)).properties.status_detail?.reason ?? '';
const engineOf = async ({ id }: Body) =>
  docker.listContainers({ all: true, filters: { label: [`terrarium.record=${id}`] } });

describe('a container that cannot run as it is defined', () => {
  it('FAILED names an image that does not exist; another image fixes it (D-051)', async () => {
    const container = await make.container(tenant, idle({ image: 'terrarium-test/nothing:1' }));
    await expect.poll(() => statusOf(container), POLL).toBe('FAILED');
    expect((await read(container)).properties.status_detail).toEqual({
      reason: expect.stringContaining("image 'terrarium-test/nothing:1' cannot be pulled"),
      image: 'terrarium-test/nothing:1',
    });
    expect((await read(container)).resource_state).toMatch(/Active$/);
    await root.patch(`/root/containers/${container.id}`, [{ op: 'replace', path: '/properties/image', value: image }]);
    await expect.poll(() => statusOf(container), POLL).toBe('RUNNING');
  });

  it('an image that exits immediately is reported with its exit code, and started again', async () => {
    const container = await make.container(tenant, idle({ cmd: 'echo no config >&2; exit 3' }));
    await expect.poll(() => reasonOf(container), POLL).toMatch(/ended with exit code 3/);
    expect(['LAUNCHED', 'SCALING']).toContain(await statusOf(container));
    await expect
      .poll(async () => (await read(container)).properties.events.map(({ type }: { type: string }) => type), POLL)
      .toEqual(expect.arrayContaining(['die (exit code 3)', 'start']));
  });

  it('an instance that exceeds its memory limit is reported', async () => {
    const container = await make.container(tenant, idle({ memory: 32, cmd: 'sleep 1; tail /dev/zero' }));
    await expect.poll(() => reasonOf(container), POLL).toMatch(/killed because it exceeded its memory limit/);
  });

  it('a health check that never passes makes it UNHEALTHY, and it gets no requests', async () => {
    const check = { ...frequent, protocol: 'HTTP', path: '/', port: 8080 };
    const serving = (health: object) =>
      make.container(tenant, idle({ cmd: SERVE, port_mappings: [web], health_checks: [health] }));
    const container = await serving({ ...check, path: '/missing', max_consecutive_failures: 2 });
    await expect.poll(() => statusOf(container), POLL).toBe('UNHEALTHY');
    const well = await serving(check);
    await expect.poll(() => statusOf(well), POLL).toBe('HEALTHY');
    const propertiesOfWell = async () => (await read(well)).properties;
    await expect.poll(propertiesOfWell, POLL).toMatchObject({ tasks_healthy: 1, tasks_unhealthy: 0 });
  });

  it('an instance counts as unhealthy at its first failed check, before the status changes (D-048)', async () => {
    for (const check of [
      { protocol: 'HTTP', path: '/missing', port: 8080 },
      { protocol: 'COMMAND', command: 'test ! -e /tmp/ill' },
    ]) {
      const health_checks = [{ ...check, ...frequent, max_consecutive_failures: 1_000 }];
      const cmd = `touch /tmp/ill; ${SERVE}`;
      const container = await make.container(tenant, idle({ cmd, port_mappings: [web], health_checks }));
      const counts = async () => {
        const { tasks_unhealthy, tasks_healthy, status } = (await read(container)).properties;
        return { tasks_unhealthy, tasks_healthy, status };
      };
      await expect.poll(counts, POLL).toEqual({ tasks_unhealthy: 1, tasks_healthy: 0, status: 'RUNNING' });
      if (check.protocol !== 'COMMAND') continue;
      const [{ Id = '' } = {}] = await engineOf(container);
      const exec = await docker.getContainer(Id).exec({ Cmd: ['rm', '/tmp/ill'] });
      await exec.start({ Detach: true });
      await expect.poll(counts, POLL).toEqual({ tasks_unhealthy: 0, tasks_healthy: 1, status: 'HEALTHY' });
    }
  });

  it('a crash loop keeps its reason while it runs between two ends', async () => {
    const container = await make.container(tenant, idle({ cmd: 'sleep 1; exit 3' }));
    const reasonWhileRunning = async () => {
      const { tasks_running: running, status_detail: detail } = (await read(container)).properties;
      return running === 1 ? detail?.reason : undefined;
    };
    await expect.poll(reasonWhileRunning, POLL).toMatch(/ended with exit code 3, after \d+ restarts?/);
  });

  it('a crash loop is not HEALTHY while its check passes between two ends', async () => {
    const cmd = 'httpd -p 8080 -h /www; sleep 2; exit 3';
    const health_checks = [{ ...frequent, protocol: 'TCP' }];
    const container = await make.container(tenant, idle({ cmd, port_mappings: [web], health_checks }));
    const statusBetweenEnds = async () => {
      const { status, tasks_healthy: healthy, status_detail: detail } = (await read(container)).properties;
      return healthy === 1 && /restart/.test(detail?.reason) ? status : undefined;
    };
    let status: string | undefined;
    await expect.poll(async () => (status = await statusBetweenEnds()), POLL).toBeDefined();
    expect(status).toBe('RUNNING');
  });

  it('a process that is killed for the memory of its instance is reported even if the instance runs on', async () => {
    const container = await make.container(tenant, idle({ memory: 16, cmd: `(tail /dev/zero); ${IDLE}` }));
    await expect.poll(() => reasonOf(container), POLL).toMatch(/^a process of instance \w{12} was killed because/);
    expect(await statusOf(container)).toBe('RUNNING');
  });

  it('of two commands, one that is to run often is not kept waiting by one that is to run rarely', async () => {
    const rare = { ...frequent, protocol: 'COMMAND', command: 'true', interval_seconds: 600 };
    const health_checks = [rare, { ...frequent, protocol: 'COMMAND', command: 'echo full; exit 4' }];
    const container = await make.container(tenant, idle({ health_checks }));
    await expect.poll(() => statusOf(container), POLL).toBe('UNHEALTHY');
    await expect.poll(() => reasonOf(container), POLL).toContain('exit code 4, full');
  });

  it('a check that never ends fails', async () => {
    const never = 'mkdir -p /www/cgi-bin; printf "#!/bin/sh\nsleep 3600\n" > /www/cgi-bin/never';
    const cmd = `${never}; /bin/busybox chmod +x /www/cgi-bin/never; ${serveOn(8080)}`;
    const checks: [object, RegExp][] = [
      [{ protocol: 'COMMAND', command: 'sleep 3600' }, /has failed its COMMAND check since .*: .*exceeded timeout/],
      [{ protocol: 'HTTP', path: '/cgi-bin/never' }, /has failed its HTTP check of .*: no response within 1 s/],
    ];
    for (const [check, reason] of checks) {
      const health_checks = [{ ...frequent, ...check }];
      const container = await make.container(tenant, idle({ cmd, port_mappings: [web], health_checks }));
      await expect.poll(() => reasonOf(container), POLL).toMatch(reason);
      await expect.poll(() => statusOf(container), POLL).toBe('UNHEALTHY');
    }
  });

  it('of a large log, the newest lines are read', async () => {
    const write = `i=0; while [ $i -lt 40 ]; do printf "%01000000d\n" $i; i=$((i + 1)); done; echo last`;
    const container = await make.container(tenant, idle({ cmd: `${write}; ${IDLE}` }));
    const newest = async () => (await root.get(`/../inspect/logs/${container.id}`)).body.lines?.at(-1)?.text;
    await expect.poll(newest, POLL).toBe('last');
    const { body } = await root.get(`/../inspect/logs/${container.id}`);
    expect(JSON.stringify(body).length).toBeLessThan(10_000_000);
  });

  it('a command that does not exist, a mount that is refused', async () => {
    const container = await make.container(tenant, idle({ cmd: undefined, args: ['/no/such/program'] }));
    await expect.poll(() => statusOf(container), POLL).toBe('FAILED');
    expect(await reasonOf(container)).toContain('no such file or directory');
    expect(await engineOf(container)).toEqual([]);
  });

  it('an update that cannot run leaves the old instances serving', async () => {
    const container = await make.container(tenant, idle());
    await expect.poll(() => statusOf(container), POLL).toBe('RUNNING');
    const [before] = (await read(container)).properties.instances;
    await root.patch(`/root/containers/${container.id}`, [{ op: 'replace', path: '/properties/cmd', value: 'exit 5' }]);
    await expect.poll(() => reasonOf(container), POLL).toMatch(/the old one stays in use: .*exit code 5/);
    expect((await read(container)).properties.instances.map(({ id }: { id: string }) => id)).toContain(before.id);
  });
});

describe('what happens around it', () => {
  it('a provider whose address leads to the same engine leaves the containers of other providers alone', async () => {
    const first = await make.container(tenant, idle());
    await expect.poll(() => statusOf(first), POLL).toBe('RUNNING');
    const [instance] = await engineOf(first);
    const proxy = await makeEngineProxy();
    await proxy.open();
    const provider = await make.provider(tenant, 'CaaS::Docker', { config: { url: proxy.url } });
    const second = await make.container(tenant, idle({ provider: { id: provider.id } }));
    await expect.poll(() => statusOf(second), POLL).toBe('RUNNING');
    expect((await engineOf(first)).map(({ Id, State }) => [Id, State])).toEqual([[instance?.Id, 'running']]);
    expect((await root.delete(`/root/containers/${second.id}`)).status).toBe(204);
    await expect.poll(() => engineOf(second), POLL).toEqual([]);
    await proxy.remove();
  });

  it('a removed instance is created again; a foreign container is never changed', async () => {
    const foreign = await docker.createContainer({
      Image: image,
      Cmd: ['/bin/sh', '-c', IDLE],
      Labels: { 'terrarium.world': 'another' },
    });
    await foreign.start();
    const container = await make.container(tenant, idle());
    await expect.poll(() => statusOf(container), POLL).toBe('RUNNING');
    const [{ Id: before = '' } = {}] = await engineOf(container);
    await docker.getContainer(before).remove({ force: true });
    await expect
      .poll(async () => (await engineOf(container)).map(({ Id, State }) => [Id !== before, State]), POLL)
      .toEqual([[true, 'running']]);
    expect((await foreign.inspect()).State.Running).toBe(true);
    await foreign.remove({ force: true });
  });

  it('an instance that another program disconnected from its network is reported when a request has failed', async () => {
    const container = await make.container(tenant, idle({ cmd: SERVE, port_mappings: [web] }));
    await expect.poll(() => statusOf(container), POLL).toBe('RUNNING');
    const api = await make.api(tenant);
    const implementation = { implementation_type: 'container', implementation_id: container.id };
    const endpoint = await root.create(`/root/apis/${api.id}/apiendpoints`, {
      name: 'app',
      properties: { resource: '/app', container_port_name: 'web', ...implementation },
    });
    const page = async () => (await fetch(endpoint.properties.public_url)).status;
    await expect.poll(page, POLL).toBe(200);
    const [{ Id = '', NetworkSettings: network } = {}] = await engineOf(container);
    const [name = ''] = Object.keys(network?.Networks ?? {});
    await docker.getNetwork(name).disconnect({ Container: Id, Force: true });
    await expect
      .poll(async () => [await page(), await reasonOf(container)], POLL)
      .toEqual([
        503,
        `instance ${Id.slice(0, 12)} cannot be reached: it was disconnected from its network. Restart the container.`,
      ]);
  });

  it('many concurrent actions end in the state of the last one', async () => {
    const container = await make.container(tenant, idle({ env: { N: 'first' } }));
    const scale = (count: number) => () => root.post(`/root/containers/${container.id}/scale?numInstances=${count}`);
    const env = (N: string) => () =>
      root.patch(`/root/containers/${container.id}`, [{ op: 'replace', path: '/properties/env', value: { N } }]);
    // Each gets its response long before it is done; sent at once they could arrive in any order.
    for (const act of [scale(3), env('a'), scale(0), env('b'), scale(4), env('last'), scale(2)]) await act();
    // Until all is done the previous ones serve, and the number of instances can match by chance.
    const readInstanceVersions = async () => {
      const found = await Promise.all(
        (await engineOf(container)).map(({ Id }) =>
          docker
            .getContainer(Id)
            .inspect()
            .catch(() => undefined),
        ),
      );
      return found.map((instance) => instance?.Config.Env.find((line: string) => line.startsWith('N=')));
    };
    await expect
      .poll(async () => [await statusOf(container), await readInstanceVersions()], POLL)
      .toEqual(['RUNNING', ['N=last', 'N=last']]);
  });

  it(`${CRASHING_COUNT} containers that end at once do not disturb another one`, async () => {
    const neighbor = await make.container(tenant, idle());
    await expect.poll(() => statusOf(neighbor), POLL).toBe('RUNNING');
    const [{ id: instanceId }] = (await read(neighbor)).properties.instances;
    const crashing = await Promise.all(
      Array.from({ length: CRASHING_COUNT }, () => make.container(tenant, idle({ cmd: 'exit 3', memory: 6 }))),
    );
    for (const container of crashing) await expect.poll(() => reasonOf(container), POLL).toContain('exit code 3');
    expect((await read(neighbor)).properties).toMatchObject({ status: 'RUNNING', instances: [{ id: instanceId }] });
  });

  it(`${CONTAINER_COUNT} containers created at once all run, and are removed`, async () => {
    const all = await Promise.all(
      Array.from({ length: CONTAINER_COUNT }, () => make.container(tenant, idle({ memory: 6 }))),
    );
    const running = async () => {
      const { body } = await root.get('/acme/containers?expand=true');
      return body.filter((record: Body) => record.properties.status === 'RUNNING').length;
    };
    await expect.poll(running, POLL).toBe(CONTAINER_COUNT);
    for (const { id } of all) expect((await root.delete(`/root/containers/${id}`)).status).toBe(204);
    const countRemaining = async () =>
      (await docker.listContainers({ all: true, filters: { label: [`terrarium.world=${platform.emulator.worldId}`] } }))
        .length;
    await expect.poll(countRemaining, POLL).toBe(0);
  });

  it('a job runs once and reports how it ended (D-213)', async () => {
    const job = async (name: string, cmd: string): Promise<Body> =>
      root.create(`${tenant.environment}/jobs`, {
        name,
        properties: { container_type: 'DOCKER', provider: { id: tenant.docker }, ...idle({ cmd }) },
      });
    const [good, bad] = [await job('good', 'echo done'), await job('bad', 'exit 4')];
    const status = async ({ id }: Body) => (await root.get(`/root/jobs/${id}`)).body.properties.status;
    await expect.poll(() => status(good), POLL).toBe('SUCCEEDED');
    await expect.poll(() => status(bad), POLL).toBe('FAILED');
    for (const { id } of [good, bad]) expect((await root.delete(`/root/jobs/${id}`)).status).toBe(204);
  });
});

describe('an engine that disappears or is slow', () => {
  let proxy: EngineProxy;
  let proxiedPlatform: Platform;
  beforeAll(async () => {
    proxy = await makeEngineProxy();
    await proxy.open();
    proxiedPlatform = await startPlatform({ containers: { engine: proxy.url } });
  });
  afterAll(async () => {
    const worldId = proxiedPlatform?.emulator.worldId;
    await proxiedPlatform?.stop();
    await proxy?.remove();
    if (worldId) await expectNoLeftovers(worldId);
  });

  it('LOST meanwhile; changes made then are applied when it is back (D-050, D-183)', async () => {
    const client = proxiedPlatform.root;
    const elsewhere = await createTenant(client, 'acme');
    const factory = resourceFactoryFor(client);
    const servingContainer: Body = await factory.container(
      elsewhere,
      idle({ cmd: SERVE, env: { VERSION: 'back' }, port_mappings: [web] }),
    );
    const container: Body = await factory.container(elsewhere, idle());
    const api = await factory.api(elsewhere);
    const endpoint = await client.create(`/root/apis/${api.id}/apiendpoints`, {
      name: 'app',
      properties: {
        resource: '/app',
        implementation_type: 'container',
        implementation_id: servingContainer.id,
        container_port_name: 'web',
      },
    });
    const status = async ({ id }: Body) => (await client.get(`/root/containers/${id}`)).body.properties?.status;
    const page = async () => {
      const answer = await fetch(endpoint.properties.public_url);
      return `${answer.status} ${(await answer.text()).trim()}`;
    };
    for (const created of [servingContainer, container]) await expect.poll(() => status(created), POLL).toBe('RUNNING');
    expect(await page()).toBe('200 back');

    await proxy.close();
    await expect.poll(() => status(servingContainer), POLL).toBe('LOST');
    const lost = (await client.get(`/root/containers/${servingContainer.id}`)).body.properties;
    expect(lost).toMatchObject({
      tasks_running: 0,
      instances: [],
      status_detail: { reason: expect.stringContaining(proxy.url) },
    });
    // Running instances continue without the engine being asked.
    expect(await page()).toBe('200 back');
    const log = await client.send('GET', `/../log/container/${servingContainer.id}`);
    expect([log.status, log.headers.get('retry-after')]).toEqual([503, '5']);
    const late: Body = await factory.container(elsewhere, idle());
    expect(late.properties.status).toBe('LOST');
    expect((await client.delete(`/root/containers/${container.id}`)).status).toBe(204);

    await proxy.open();
    for (const container of [servingContainer, late]) await expect.poll(() => status(container), POLL).toBe('RUNNING');
    await expect.poll(page, POLL).toBe('200 back');
    const listRemaining = () =>
      docker.listContainers({ all: true, filters: { label: [`terrarium.record=${container.id}`] } });
    await expect.poll(listRemaining, POLL).toEqual([]);
    for (const { id } of [servingContainer, late]) await client.delete(`/root/containers/${id}`);
  });

  it('a process that was killed for its memory stays reported after an older list of the instances arrives', async () => {
    const client = proxiedPlatform.root;
    const elsewhere = await createTenant(client, 'initech');
    const container: Body = await resourceFactoryFor(client).container(elsewhere, idle());
    const properties = async () => (await client.get(`/root/containers/${container.id}`)).body.properties;
    await expect.poll(async () => (await properties()).status, POLL).toBe('RUNNING');
    const early = proxy.holdNext('/containers/json');
    const [{ Id = '' } = {}] = await engineOf(container);
    await docker.getContainer(Id).remove({ force: true });
    await early.requested;
    const cmd = `(tail /dev/zero); ${IDLE}`;
    const path = `/root/containers/${container.id}`;
    expect((await client.patch(path, [{ op: 'replace', path: '/properties/cmd', value: cmd }])).status).toBe(200);
    const reason = async () => (await properties()).status_detail?.reason ?? '';
    await expect.poll(reason, POLL).toMatch(/^a process of instance \w{12} was killed because/);
    // The platform reads the next list when it has taken the early one into account.
    const next = proxy.holdNext('/containers/json');
    early.release();
    await next.requested;
    next.release();
    await expect.poll(async () => (await properties()).tasks_running, POLL).toBe(1);
    expect(await reason()).toMatch(/^a process of instance \w{12} was killed because/);
    await client.delete(path);
  });
});
