import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectNoLeftovers, requireEngine, testImage } from '../server/testing/engine.ts';
import { type Platform, startPlatform } from '../server/testing/platform.ts';
import { type ResourceFactory, resourceFactoryFor } from '../server/testing/resource-factory.ts';
import { type Body, createTenant, type Tenant } from '../server/testing/tenant.ts';

const LIMIT_MS = 120_000;
const POLL = { timeout: LIMIT_MS, interval: 50 };
const SERVE = 'mkdir -p /www && echo "$VERSION" > /www/index.html && exec httpd -f -p $PORT -h /www';

let platform: Platform;
let make: ResourceFactory;
let tenant: Tenant;
let image: string;

beforeAll(async () => {
  await requireEngine();
  image = await testImage();
  platform = await startPlatform({ containers: { engine: 'auto' } });
  make = resourceFactoryFor(platform.root);
  tenant = await createTenant(platform.root, 'acme');
}, LIMIT_MS);
afterAll(async () => {
  const worldId = platform?.emulator.worldId;
  await platform?.stop();
  if (worldId) await expectNoLeftovers(worldId);
}, LIMIT_MS);

/** A container that serves its version, and its URL. */
async function served(): Promise<{ id: string; url: string }> {
  const container = await make.container(tenant, {
    image,
    cmd: SERVE,
    memory: 32,
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
  it('ends after it has begun to listen', { timeout: LIMIT_MS }, async () => {
    const { id, url } = await served();
    const end = underLoad(url);
    // Ends at the first connection: when the platform has seen that the port is open.
    await change(id, 'cmd', 'echo no database >&2; nc -l -p 8080; exit 5');
    const reason = expect.stringMatching(/the old one stays in use: .* exit code 5.*Its log ends with: no database/);
    await expect.poll(() => detailOf(id), POLL).toMatchObject({ reason });
    expect(await end()).toEqual([]);
  });

  it('listens on another port', { timeout: LIMIT_MS }, async () => {
    const { id, url } = await served();
    const end = underLoad(url);
    await change(id, 'env', { VERSION: 'after', PORT: '8081' });
    const reason = expect.stringContaining('does not listen on port 8080, so the old one stays in use');
    await expect.poll(() => detailOf(id), POLL).toMatchObject({ reason });
    expect(await end()).toEqual([]);
  });
});
