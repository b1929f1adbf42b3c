import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { expectNoLeftovers, IDLE, requireEngine, testImage } from '../server/testing/engine.ts';
import { type EngineProxy, makeEngineProxy } from '../server/testing/engine-proxy.ts';
import { type Platform, startPlatform } from '../server/testing/platform.ts';
import { removeTestWorld } from '../server/testing/remove-test-world.ts';
import { type ResourceFactory, resourceFactoryFor } from '../server/testing/resource-factory.ts';
import { type Body, createTenant, type Tenant } from '../server/testing/tenant.ts';

const POLL = { interval: 50 };

let proxy: EngineProxy;
let image: string;
let platform: Platform;
let tenant: Tenant;
let make: ResourceFactory;

beforeAll(async () => {
  await requireEngine();
  image = await testImage();
});
afterAll(async () => {
  await proxy?.remove();
});

async function start(): Promise<void> {
  proxy = await makeEngineProxy();
  await proxy.open();
  platform = await startPlatform({ containers: { engine: proxy.url } });
  tenant = await createTenant(platform.root, 'acme');
  make = resourceFactoryFor(platform.root);
}
const idle = async (): Promise<Body> => make.container(tenant, { image, cmd: IDLE, memory: 16 });
const statusOf = async ({ id }: Body) => (await platform.root.get(`/root/containers/${id}`)).body.properties.status;
const request = async (method: string, path: string, body?: object) => {
  const { status, headers } = await platform.root.send(method, path, body && { body });
  return [status, headers.get('retry-after')];
};
const requestsFor = ({ id }: Body) => [
  request('GET', `/../log/container/${id}`),
  request('GET', `/../inspect/containers/${id}/stats`),
  request('POST', `/../inspect/containers/${id}/exec`, { command: ['true'] }),
];

describe('an engine that accepts connections and says nothing', () => {
  afterEach(() => removeTestWorld(platform.emulator.worldId));

  it('is noticed: LOST and 503 with Retry-After, and normal operation when it continues (D-050, D-183)', async () => {
    await start();
    const container = await idle();
    await expect.poll(() => statusOf(container), POLL).toBe('RUNNING');
    proxy.hang();
    const pendingReplies = requestsFor(container);
    await expect.poll(() => statusOf(container), POLL).toBe('LOST');
    for (const reply of await Promise.all(pendingReplies)) expect(reply).toEqual([503, '5']);
    for (const reply of await Promise.all(requestsFor(container))) expect(reply).toEqual([503, '5']);
    const late = await idle();
    expect(late.properties.status).toBe('LOST');
    expect((await platform.root.get('/health')).status).not.toBe(500);

    await proxy.open();
    for (const recoveredContainer of [container, late])
      await expect.poll(() => statusOf(recoveredContainer), POLL).toBe('RUNNING');
    const worldId = platform.emulator.worldId;
    await platform.stop();
    await expectNoLeftovers(worldId);
  });

  it.each([
    ['that is known', true],
    ['its state is unknown', false],
  ])('does not keep a stop waiting when %s, which names what stays behind', async (_when, isNoticed) => {
    await start();
    const container = await idle();
    await expect.poll(() => statusOf(container), POLL).toBe('RUNNING');
    const [{ id = '' }] = (await platform.root.get(`/root/containers/${container.id}`)).body.properties.instances;
    proxy.hang();
    if (isNoticed) await expect.poll(() => statusOf(container), POLL).toBe('LOST');
    const failure = await platform.stop().then(
      () => undefined,
      (reason: Error) => reason,
    );
    expect(failure).toMatchObject({ name: 'EngineLeftovers' });
    for (const part of [proxy.url, '1 container', id.slice(0, 12), 'npx terrarium-emulator clean'])
      expect(failure?.message).toContain(part);
  });
});
