import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectNoLeftovers, requireEngine, serveOn, testImage } from '../server/testing/engine.ts';
import { type Platform, startPlatform } from '../server/testing/platform.ts';
import { type ResourceFactory, resourceFactoryFor } from '../server/testing/resource-factory.ts';
import { type Body, createTenant, type Tenant } from '../server/testing/tenant.ts';

const POLL = { interval: 50 };
/** Ends at once when it is stopped, whatever requests it has. Responses of `/cgi-bin/held` end when there is a file `/tmp/end`. */
const SERVE_HELD = `mkdir -p /www/cgi-bin
cat > /www/cgi-bin/held <<'END'
#!/bin/sh
printf 'Content-Type: text/plain\\r\\n\\r\\nbegun\\n'
until test -e /tmp/end; do sleep 0.05; done
echo ended
END
/bin/busybox chmod +x /www/cgi-bin/held
/bin/busybox hostname > /www/index.html
${serveOn('$PORT')}`;
const SERVE = `echo "$VERSION" > /www/index.html; ${serveOn('$PORT')}`;

let platform: Platform;
let make: ResourceFactory;
let tenant: Tenant;
let image: string;

let docker: Awaited<ReturnType<typeof requireEngine>>;

beforeAll(async () => {
  docker = await requireEngine();
  image = await testImage();
  platform = await startPlatform({ containers: { engine: 'auto' } });
  make = resourceFactoryFor(platform.root);
  tenant = await createTenant(platform.root, 'acme');
});
afterAll(async () => {
  const worldId = platform?.emulator.worldId;
  await platform?.stop();
  if (worldId) await expectNoLeftovers(worldId);
});

/** A container that serves its version, and its URL. */
async function served(changes: object = {}): Promise<{ id: string; url: string }> {
  const container = await make.container(tenant, {
    image,
    cmd: SERVE,
    memory: 32,
    ...changes,
    env: { VERSION: 'before', PORT: '8080' },
    port_mappings: [{ protocol: 'tcp', name: 'web', expose_endpoint: true, container_port: 8080 }],
  });
  const api = await make.api(tenant);
  const { properties } = await platform.root.create(`/root/apis/${api.id}/apiendpoints`, {
    name: container.name,
    properties: {
      resource: `/${container.name}`,
      implementation_type: 'container',
      implementation_id: container.id,
      container_port_name: 'web',
    },
  });
  const url = properties.public_url;
  await expect.poll(async () => (await fetch(url).catch(() => undefined))?.status, POLL).toBe(200);
  return { id: container.id, url };
}
const change = (id: string, path: string, value: unknown) =>
  platform.root.patch(`/root/containers/${id}`, [{ op: 'replace', path: `/properties/${path}`, value }]);
const detailOf = async (id: string): Promise<Body> =>
  (await platform.root.get(`/root/containers/${id}`)).body.properties.status_detail;

/** Sends requests until the returned function is called, which resolves to the responses that were not of the old version. */
function underLoad(url: string): () => Promise<string[]> {
  const unexpectedAnswers: string[] = [];
  let isOver = false;
  const send = async () => {
    while (!isOver) {
      const text = await fetch(url).then(
        async (answer) => `${answer.status} ${(await answer.text()).trim()}`,
        (failure) => failure.message,
      );
      if (text !== '200 before') unexpectedAnswers.push(text);
    }
  };
  const done = Promise.all([send(), send(), send(), send()]);
  return async () => {
    isOver = true;
    await done;
    return unexpectedAnswers;
  };
}

describe('a definition that cannot replace the one in use gets no request (D-052)', () => {
  it('ends after it has begun to listen', async () => {
    const { id, url } = await served();
    const end = underLoad(url);
    // Ends at the first connection: when the platform has seen that the port is open.
    await change(id, 'cmd', 'echo no database >&2; nc -l -p 8080; exit 5');
    const reason = expect.stringMatching(/the old one stays in use: .* exit code 5.*Its log ends with: no database/);
    await expect.poll(() => detailOf(id), POLL).toMatchObject({ reason });
    expect(await end()).toEqual([]);
  });

  it('listens on another port', async () => {
    const { id, url } = await served();
    const end = underLoad(url);
    await change(id, 'env', { VERSION: 'after', PORT: '8081' });
    const reason = expect.stringContaining('does not listen on port 8080, so the old one stays in use');
    await expect.poll(() => detailOf(id), POLL).toMatchObject({ reason });
    expect(await end()).toEqual([]);
  });
});

it('a health check is added, and a port changed, under load without a failed request', async () => {
  const { id, url } = await served();
  const end = underLoad(url);
  const times = { interval_seconds: 1, timeout_seconds: 5, grace_period_seconds: 0, max_consecutive_failures: 3 };
  await change(id, 'health_checks', [{ protocol: 'HTTP', path: '/', port_index: 0, ...times }]);
  const properties = async (): Promise<Body> => (await platform.root.get(`/root/containers/${id}`)).body.properties;
  await expect.poll(async () => (await properties()).status, POLL).toBe('HEALTHY');
  const port = { protocol: 'tcp', name: 'web', expose_endpoint: true, container_port: 8081 };
  await platform.root.patch(`/root/containers/${id}`, [
    { op: 'replace', path: '/properties/env', value: { VERSION: 'before', PORT: '8081' } },
    { op: 'replace', path: '/properties/port_mappings', value: [port] },
  ]);
  await expect.poll(async () => (await properties()).status, POLL).toBe('HEALTHY');
  expect(await end()).toEqual([]);
});

it('an update is SCALING until the new definition serves, and names no end of the instances that it replaces', async () => {
  // Ignores the stop signal, so the engine kills it.
  const { id } = await served({ cmd: `echo "$VERSION" > /www/index.html; exec httpd -f -p $PORT -h /www` });
  const before = (await docker.listContainers({ filters: { label: [`terrarium.record=${id}`] } })).map(({ Id }) => Id);
  const statuses = new Set<string>();
  const look = async (): Promise<Body> => {
    const { properties } = (await platform.root.get(`/root/containers/${id}`)).body;
    statuses.add(`${properties.status} ${properties.status_detail?.reason ?? ''}`.trim());
    return properties;
  };
  await expect.poll(async () => (await look()).status, POLL).toBe('RUNNING');
  statuses.clear();
  await change(id, 'env', { VERSION: 'after', PORT: '8080' });
  await expect.poll(async () => (await look()).status, { interval: 10 }).toBe('RUNNING');
  expect([...statuses]).toEqual(['SCALING', 'RUNNING']);
  const { instances } = await look();
  expect(before).not.toContain(instances[0].id);
});

it('a scale to fewer instances ends the ones that leave after their open requests, and sends them no new ones', async () => {
  const { id, url } = await served({ cmd: SERVE_HELD, num_instances: 3 });
  const hosts = async () => {
    const pages = await Promise.all([...Array(6)].map(() => fetch(url).then((response) => response.text())));
    return new Set(pages.map((page) => page.trim()));
  };
  await expect.poll(async () => (await hosts()).size, POLL).toBe(3);
  const heldResponses = await Promise.all([...Array(6)].map(() => fetch(`${url}/cgi-bin/held`)));
  expect(heldResponses.map(({ status }) => status)).toEqual(Array(6).fill(200));
  await platform.root.post(`/root/containers/${id}/scale?numInstances=1`);
  await expect.poll(async () => (await hosts()).size, POLL).toBe(1);
  const running = () => docker.listContainers({ filters: { label: [`terrarium.record=${id}`] } });
  const instances = await running();
  expect(instances).toHaveLength(3);
  for (const { Id } of instances) {
    const command = await docker.getContainer(Id).exec({ Cmd: ['touch', '/tmp/end'] });
    await command.start({});
  }
  const bodies = await Promise.all(heldResponses.map((response) => response.text()));
  expect(bodies).toEqual(Array(6).fill('begun\nended\n'));
  await expect.poll(async () => (await running()).length, POLL).toBe(1);
});
