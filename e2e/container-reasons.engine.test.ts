import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import {
  expectNoLeftovers,
  IDLE,
  requireEngine,
  serveOn,
  testImage,
  testImageFor,
  testImageWith,
} from '../server/testing/engine.ts';
import { type ApiClient, type Platform, refusal, startPlatform } from '../server/testing/platform.ts';
import { type ResourceFactory, resourceFactoryFor } from '../server/testing/resource-factory.ts';
import { type Body, createTenant, type Tenant } from '../server/testing/tenant.ts';

const POLL = { interval: 50 };
/** Number of results of checks that Docker keeps. */
const KEPT_RESULTS = 5;
const serve = (page: string, address = '8080') => `echo "${page}" > /www/index.html; ${serveOn(address)}`;
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
  platform = await startPlatform({ containers: { engine: 'auto' }, allowedHostPaths: [tmpdir()] });
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

const app = (more: object = {}) => ({
  image,
  cmd: serve('good'),
  memory: 32,
  cpus: 0.5,
  port_mappings: [web],
  ...more,
});
const read = async ({ id }: Body): Promise<Body> => (await root.get(`/root/containers/${id}`)).body.properties;
const whenStatus = (container: Body, status: string) =>
  expect.poll(async () => (await read(container)).status, POLL).toBe(status);
const whenReason = (container: Body, reason: RegExp) =>
  expect.poll(async () => (await read(container)).status_detail?.reason, POLL).toMatch(reason);
const publish = async (container: Body): Promise<string> => {
  const api = await make.api(tenant);
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
const call = async (url: string) => {
  const response = await fetch(url, { redirect: 'manual' });
  return { status: response.status, text: (await response.text()).trim(), headers: response.headers };
};
const logOf = async ({ id }: Body): Promise<string[]> =>
  (await root.get(`/../inspect/logs/${id}`)).body.lines.map(({ text }: Body) => text);
const create = (properties: object) =>
  root.post(`${tenant.environment}/containers`, {
    name: make.fresh('refused'),
    properties: { container_type: 'DOCKER', provider: { id: tenant.docker }, ...properties },
  });

describe('an image with a HEALTHCHECK of its own', () => {
  const withCheck = (name: string, command: string) =>
    testImageWith(`terrarium-test/${name}:1`, [`HEALTHCHECK --interval=1s --timeout=60s --retries=1 CMD ${command}`]);

  it('is HEALTHY when the check passes, and UNHEALTHY with what the check printed when it fails', async () => {
    const well = await make.container(tenant, app({ image: await withCheck('well', 'true') }));
    await whenStatus(well, 'HEALTHY');
    const ill = await make.container(tenant, app({ image: await withCheck('ill', 'echo no disk; exit 3') }));
    await whenStatus(ill, 'UNHEALTHY');
    expect((await read(ill)).status_detail.reason).toMatch(
      /^instance \w{12} has failed its COMMAND check since 2\d{3}-.*Z: exit code 3, no disk$/,
    );
    const { status, text } = await call(`${await publish(ill)}/`);
    expect({ status, text }).toMatchObject({ status: 503, text: expect.stringContaining('exit code 3, no disk') });
  });

  it('names the first failure in a row also when the engine no longer keeps it', async () => {
    const container = await make.container(tenant, app({ image: await withCheck('ill', 'echo no disk; exit 3') }));
    await whenReason(container, /has failed/);
    const firstReason = (await read(container)).status_detail.reason;
    const [{ id }] = (await read(container)).instances;
    const failuresInRow = async () => (await docker.getContainer(id).inspect()).State.Health?.FailingStreak;
    await expect.poll(failuresInRow, { ...POLL, timeout: 60_000 }).toBeGreaterThan(KEPT_RESULTS + 1);
    await root.get(`/../inspect/containers/${container.id}/instances`);
    expect((await read(container)).status_detail.reason).toBe(firstReason);
  });

  it('does not replace a good instance when its check fails', async () => {
    const container = await make.container(tenant, app());
    await whenStatus(container, 'RUNNING');
    const url = await publish(container);
    const bad = await withCheck('ill', 'echo no disk; exit 3');
    await root.patch(`/root/containers/${container.id}`, [{ op: 'replace', path: '/properties/image', value: bad }]);
    await whenReason(container, /the old one stays in use: .*exit code 3, no disk/);
    expect(await call(`${url}/`)).toMatchObject({ status: 200, text: 'good' });
  });
});

describe('a check', () => {
  it.each([
    ['whose mapping does not exist', { protocol: 'HTTP', port_index: 5 }, 'port_index'],
    ['whose mapping is of udp', { protocol: 'TCP', port_index: 1 }, 'port_index'],
    ['without a command', { protocol: 'COMMAND' }, 'command'],
    ['with a blank command', { protocol: 'COMMAND', command: ' ' }, 'command'],
    ['with an interval longer than a day', { protocol: 'TCP', interval_seconds: 1e6 }, 'interval_seconds'],
  ])('%s is refused', async (_title, check, member) => {
    const port_mappings = [web, { protocol: 'udp', container_port: 53 }];
    expect(await create(app({ port_mappings, health_checks: [check] }))).toMatchObject(
      refusal(400, `/properties/health_checks/0/${member}`),
    );
  });

  it('without a port is refused when there is no port mapping', async () => {
    expect(await create(app({ port_mappings: [], health_checks: [{ protocol: 'HTTP' }] }))).toMatchObject(
      refusal(400, '/properties/health_checks/0/port'),
    );
  });

  it('that fails says in the status and to callers what it got, and since when', async () => {
    const check = { protocol: 'HTTP', path: '/health', interval_seconds: 1, grace_period_seconds: 1 };
    const container = await make.container(tenant, app({ health_checks: [check] }));
    await whenStatus(container, 'UNHEALTHY');
    const expectedReason =
      /instance \w{12} has failed its HTTP check of \/health on port 8080 since 2\d{3}-.*Z: status 404/;
    await whenReason(container, expectedReason);
    expect(await call(`${await publish(container)}/`)).toMatchObject({
      status: 503,
      text: expect.stringMatching(expectedReason),
    });
  });
});

it('a program that does not listen where its container says is named as that in the status and to callers', async () => {
  const cases: [string, RegExp][] = [
    ['127.0.0.1:8080', /listens on port 8080 of 127\.0\.0\.1 only/],
    ['3000', /does not listen on port 8080, but on 3000\. Change container_port/],
  ];
  const checkCase = async ([address, expectedReason]: (typeof cases)[number]) => {
    const container = await make.container(tenant, app({ cmd: serve('hidden', address) }));
    await whenReason(container, expectedReason);
    expect(await call(`${await publish(container)}/`)).toMatchObject({
      status: 502,
      text: expect.stringMatching(expectedReason),
    });
  };
  await Promise.all(cases.map(checkCase));
});

describe('the command of an image with an ENTRYPOINT', () => {
  let echo: string;
  beforeAll(async () => {
    echo = await testImageWith('terrarium-test/echo:1', ['ENTRYPOINT ["/bin/echo", "entry"]', 'CMD ["image"]']);
  });
  const lines = async (properties: object) => {
    const container = await make.container(tenant, { image: echo, memory: 16, cpus: 0.5, ...properties });
    await expect.poll(() => logOf(container), POLL).not.toEqual([]);
    return (await logOf(container))[0];
  };

  it('is replaced by cmd together with the ENTRYPOINT', async () => {
    expect(await lines({ cmd: `echo from cmd; ${IDLE}` })).toBe('from cmd');
  });

  it('gets args as arguments of the ENTRYPOINT', async () => {
    expect(await lines({ args: ['a b', '$HOME'], cmd: 'echo no' })).toBe('entry a b $HOME');
  });

  it.each([{ args: [] }, { cmd: '' }, { cmd: ' ' }])('stays as it is with %j', async (empty) => {
    expect(await lines(empty)).toBe('entry image');
  });

  it('is cmd when args are empty', async () => {
    expect(await lines({ args: [], cmd: `echo from cmd; ${IDLE}` })).toBe('from cmd');
  });
});

it('secrets are mounted as the bytes that were sent', async () => {
  const bytes = Buffer.from('00ff01fe0a', 'hex');
  const secret = await make.secret(tenant, {
    items: [
      { key: 'padded', value: bytes.toString('base64') },
      { key: 'declared', value: Buffer.from('00ff01', 'hex').toString('base64'), encoding: 'base64' },
      { key: 'text', value: 'aGVsbG8=', encoding: 'text' },
      { key: 'plain', value: 'hello' },
    ],
  });
  expect((await root.get(`/root/secrets/${secret.id}`)).body.properties.items).toEqual(
    ['padded', 'declared', 'text', 'plain'].map((key) => ({ key })),
  );
  const mount = { mount_type: 'directory', secret_id: secret.id, path: '/secrets' };
  const container = await make.container(tenant, { image, memory: 16, cpus: 0.5, cmd: IDLE, secrets: [mount] });
  await whenStatus(container, 'RUNNING');
  const bytesOf = async (key: string) => {
    const command = ['/bin/busybox', 'od', '-An', '-tx1', '-v', `/secrets/${key}`];
    const { body } = await root.post(`/../inspect/containers/${container.id}/exec`, { command });
    return Buffer.from(body.stdout.replace(/\s+/g, ''), 'hex');
  };
  expect(await bytesOf('padded')).toEqual(bytes);
  expect(await bytesOf('declared')).toEqual(Buffer.from('00ff01', 'hex'));
  expect(await bytesOf('text')).toEqual(Buffer.from('aGVsbG8='));
  expect(await bytesOf('plain')).toEqual(Buffer.from('hello'));
});

it('a secret whose encoding says base64 is refused when its value is not', async () => {
  const response = await root.post(`${tenant.environment}/secrets`, {
    name: 'bad',
    properties: { provider: { id: tenant.docker }, items: [{ key: 'k', value: 'no!', encoding: 'base64' }] },
  });
  expect(response).toMatchObject(refusal(400, '/properties/items/0/value'));
});

it('more CPUs than the machine has are capped, and the status says so; a hundredth is the least', async () => {
  const container = await make.container(tenant, app({ cpus: 512 }));
  await whenStatus(container, 'RUNNING');
  await whenReason(container, /^the container engine has \d+ CPUs, so an instance gets \d+ and not 512$/);
  expect(await create(app({ cpus: 0.001 }))).toMatchObject(refusal(400, '/properties/cpus'));
});

it('less memory than engines accept is raised, and the status says so', async () => {
  const container = await make.container(tenant, app({ memory: 4 }));
  await whenReason(container, /^an instance gets 6 MB of memory, the smallest that Docker accepts, and not 4$/);
});

it('a service_port that the platform does not use is named in the status, next to other differences', async () => {
  const container = await make.container(
    tenant,
    app({ memory: 4, port_mappings: [{ ...web, type: 'external', service_port: 1 }] }),
  );
  await whenReason(
    container,
    /^an instance gets 6 MB .*; port 'web' has service_port \d+ and not 1, because the platform chooses it$/,
  );
});

it('an external volume is a local one, and the status says so once', async () => {
  const { id: volume_id } = await make.volume(tenant, { type: 'external', external_id: 'nfs-1' });
  const container = await make.container(
    tenant,
    app({ volumes: ['/data', '/more'].map((mount_path) => ({ mount_path, volume_id })) }),
  );
  await whenReason(
    container,
    /^volume '[^']+' is a local one, because external volumes such as 'nfs-1' are not mounted$/,
  );
});

it('an image for another architecture is named as that when its program cannot run', async () => {
  const { Arch: architecture } = await docker.version();
  const foreign = architecture === 'amd64' ? 'arm64' : 'amd64';
  const container = await make.container(tenant, { image: await testImageFor(foreign), memory: 16 });
  const reason = `^instance \\w{12} ended with exit code \\d+, .*\\. Its image is for linux/${foreign}, and the engine runs on linux/\\w+\\. See its log\\.$`;
  await whenReason(container, new RegExp(reason));
});

it('the log still contains what replaced instances wrote, and a long line as it was written', async () => {
  const long = `awk 'BEGIN { for (i = 0; i < 30000; i++) printf "%s", "x"; print "." }'`;
  const container = await make.container(tenant, { image, memory: 32, cpus: 0.5, cmd: `echo old; ${long}; ${IDLE}` });
  const written = ['old', `${'x'.repeat(30_000)}.`];
  await expect.poll(() => logOf(container), POLL).toEqual(written);
  const change = [{ op: 'replace', path: '/properties/cmd', value: `echo new; ${IDLE}` }];
  await root.patch(`/root/containers/${container.id}`, change);
  await expect.poll(async () => (await logOf(container)).includes('new'), POLL).toBe(true);
  await whenStatus(container, 'RUNNING');
  await root.post(`/root/containers/${container.id}/scale?numInstances=0`);
  await expect.poll(async () => (await read(container)).tasks_running, POLL).toBe(0);
  await expect.poll(async () => (await logOf(container)).toSorted(), POLL).toEqual([...written, 'new'].toSorted());
});

it('a host folder that appears later is found', async () => {
  const parent = await mkdtemp(join(tmpdir(), 'terrarium-host-folder-'));
  onTestFinished(() => rm(parent, { recursive: true }));
  const folder = join(parent, 'later');
  const volume = await make.volume(tenant, { type: 'host_path', config: { host_path: folder } });
  const volumes = [{ mount_path: '/mnt/later', volume_id: volume.id }];
  const container = await make.container(tenant, { image, memory: 16, cpus: 0.5, cmd: IDLE, volumes });
  await whenStatus(container, 'FAILED');
  await mkdir(folder);
  await whenStatus(container, 'RUNNING');
});

it('an endpoint to a udp port is refused', async () => {
  const udp = { protocol: 'udp', name: 'dns', expose_endpoint: true, container_port: 53 };
  const container = await make.container(tenant, app({ port_mappings: [web, udp] }));
  const api = await make.api(tenant);
  const response = await root.post(`/root/apis/${api.id}/apiendpoints`, {
    name: 'dns',
    properties: {
      resource: '/dns',
      implementation_type: 'container',
      implementation_id: container.id,
      container_port_name: 'dns',
    },
  });
  expect(response).toMatchObject(refusal(400, '/properties/container_port_name', 'udp'));
});
