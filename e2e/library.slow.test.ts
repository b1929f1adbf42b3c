import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Emulator, startEmulator } from '../server/platform/emulator.ts';
import { basic, bearer, send } from '../server/testing/checked-client.ts';
import { startPlatform } from '../server/testing/platform.ts';
import { startRequestRecorder } from '../server/testing/request-recorder.ts';
import { resourceFactoryFor } from '../server/testing/resource-factory.ts';
import { createTenant } from '../server/testing/tenant.ts';

/** Behavior that test suites which use the emulator as a library rely on. */
const started: Emulator[] = [];
const start = async (...args: Parameters<typeof startEmulator>) => {
  const platform = await startEmulator(...args);
  started.push(platform);
  return platform;
};
afterEach(async () => {
  await Promise.all(started.splice(0).map((platform) => platform.stop()));
});

const rootOf = ({ rootCredentials: { apiKey, apiSecret = '' } }: Emulator) => basic(apiKey, apiSecret);

async function tokenOf(platform: Emulator, password = platform.rootCredentials.password ?? ''): Promise<string> {
  const form = new URLSearchParams({ grant_type: 'password', username: 'root', password });
  return (await send('POST', `${platform.securityUrl}/root/oauth/issue`, { body: form })).body.access_token;
}

describe('startEmulator', () => {
  it('runs several platforms in one process, each with its own ports, world and credentials', async () => {
    const [firstEmulator, secondEmulator] = await Promise.all([start({ seed: 'empty' }), start({ seed: 'empty' })]);
    expect(
      new Set([
        firstEmulator.baseUrl,
        firstEmulator.gatewayUrl,
        firstEmulator.crmUrl,
        secondEmulator.baseUrl,
        secondEmulator.gatewayUrl,
        secondEmulator.crmUrl,
      ]).size,
    ).toBe(6);
    await send('POST', `${firstEmulator.metaUrl}/orgs`, { auth: rootOf(firstEmulator), body: { name: 'only-here' } });
    expect((await send('GET', `${firstEmulator.metaUrl}/only-here`, { auth: rootOf(firstEmulator) })).status).toBe(200);
    expect((await send('GET', `${secondEmulator.metaUrl}/only-here`, { auth: rootOf(secondEmulator) })).status).toBe(
      404,
    );
    expect((await send('GET', `${secondEmulator.metaUrl}/root`, { auth: rootOf(firstEmulator) })).status).toBe(401);
  });

  it('stops without leaving a listener, and stopping twice is one stop', async () => {
    const platform = await start({ seed: 'empty' });
    await Promise.all([platform.stop(), platform.stop()]);
    await expect(fetch(`${platform.metaUrl}/health`)).rejects.toThrow();
    await expect(fetch(platform.gatewayUrl)).rejects.toThrow();
  });

  it('lets a lambda finish and respond before it stops, and serves it until then', async () => {
    const { emulator, root } = await startPlatform();
    started.push(emulator);
    const recorder = await startRequestRecorder();
    const acme = await createTenant(root, 'acme');
    const make = resourceFactoryFor(root);
    const code = `${recorder.code}
      exports.slow = (event, context, callback) => exports.run('1', context, async () =>
        callback(null, (await fetch(process.env.META_URL + '/health')).status));`;
    const endpoint = await make.endpoint(await make.api(acme), await make.lambda(acme, { code, handler: 'slow' }));
    const release = recorder.suspend();
    const reply = send('POST', endpoint.properties.public_url);
    await recorder.take(1);
    const stopped = emulator.stop();
    release();
    expect(await reply).toMatchObject({ status: 200, body: 200 });
    await Promise.all([stopped, recorder.stop()]);
  });

  it('says in one sentence which port is taken, and leaves nothing open', async () => {
    const platform = await start({ seed: 'empty' });
    const basePort = Number(new URL(platform.baseUrl).port);
    await expect(startEmulator({ seed: 'empty', basePort })).rejects.toMatchObject({
      code: 'EADDRINUSE',
      port: basePort,
    });
  });

  it('refuses to listen beyond loopback without a password of root', async () => {
    await expect(startEmulator({ host: '0.0.0.0' })).rejects.toThrow(/root/);
  });

  it('seeds a demo world whose accounts sign in and hold the rights the seed gives them', async () => {
    const platform = await start({ seed: 'demo' });
    const passwordsReply = await send('GET', `${platform.baseUrl}/inspect/access/passwords`, {
      auth: rootOf(platform),
    });
    const { password } = passwordsReply.body.find(
      (entry: { user: { name: string } }) => entry.user.name === 'milo.tanaka',
    );
    const form = new URLSearchParams({ grant_type: 'password', username: 'milo.tanaka', password });
    const { body } = await send('POST', `${platform.securityUrl}/demo/oauth/issue`, { body: form });
    const auth = bearer(body.access_token);
    const lambdas = await send('GET', `${platform.metaUrl}/demo/lambdas`, { auth });
    expect(lambdas.body.map((lambda: { name: string }) => lambda.name).sort()).toEqual([
      'contact-form',
      'deploy',
      'order-status',
      'slow-summary',
    ]);
    expect((await send('POST', `${platform.metaUrl}/root/providers/initialize`, { auth })).status).toBe(403);
    const order = await send('GET', `${platform.gatewayUrl}/website/orders/1001`);
    expect(order.status).toBe(200);
  });
});

describe('a data folder', () => {
  let data: string;
  beforeEach(async () => {
    data = await mkdtemp(path.join(tmpdir(), 'terrarium-data-'));
    return () => rm(data, { recursive: true, force: true });
  });

  it('keeps the world, credentials, leads and asynchronous results over a restart', async () => {
    const before = await start({ seed: 'demo', data });
    const token = await tokenOf(before);
    const lead = { payload: { firstName: 'Kept', email: 'kept@example.com' } };
    expect((await send('POST', `${before.gatewayUrl}/website/lead`, { body: lead })).body).toBe('SUCCESS');
    const { body: accepted } = await send('POST', `${before.gatewayUrl}/api/async`, {
      body: { payload: { orders: [] } },
    });
    const result = `/results/${accepted.lambdaId}`;
    await expect
      .poll(async () => (await send('GET', before.gatewayUrl + result, { auth: bearer(token) })).status)
      .toBe(200);
    await send('POST', `${before.metaUrl}/orgs`, { auth: bearer(token), body: { name: 'made-before' } });
    await before.stop();

    const after = await start({ seed: 'demo', data });
    const auth = bearer(token);
    expect((await send('GET', `${after.metaUrl}/made-before`, { auth })).status).toBe(200);
    expect((await send('GET', after.gatewayUrl + result, { auth })).body.executionId).toBe(accepted.lambdaId);
    expect((await send('GET', `${after.baseUrl}/inspect/leads`, { auth })).body).toHaveLength(1);
    expect(after.rootCredentials).toEqual(before.rootCredentials);
    const [endpoint] = (await send('GET', `${after.metaUrl}/demo/apiendpoints?name=lead&expand=true`, { auth })).body;
    expect(endpoint.properties.public_url).toBe(`${after.gatewayUrl}/website/lead`);
  });

  it("keeps the address of a lambda's debugger over a restart", async () => {
    const lambdas = { debugPort: 0 };
    const addressIn = async (platform: Emulator) => {
      const auth = rootOf(platform);
      const [{ id }] = (await send('GET', `${platform.metaUrl}/demo/lambdas?name=order-status`, { auth })).body;
      const lambda = `${platform.baseUrl}/inspect/lambdas/${id}`;
      await send('POST', `${lambda}/debug`, { auth });
      const address = async () => (await send('GET', `${lambda}/workbench`, { auth })).body.debug?.url;
      await expect.poll(address).toMatch(/^ws:/);
      return new URL(await address());
    };
    const before = await start({ data, seed: 'demo', lambdas });
    const first = await addressIn(before);
    await before.stop();
    const second = await addressIn(await start({ data, lambdas: { debugPort: Number(first.port) } }));
    expect(second.href).toBe(first.href);
  });

  it('shows the present addresses in a restored world of another run', async () => {
    const before = await start({ seed: 'demo', data });
    await send('POST', `${before.baseUrl}/inspect/snapshots`, { auth: rootOf(before), body: { name: 'then' } });
    await before.stop();
    const after = await start({ data });
    const auth = rootOf(after);
    expect((await send('POST', `${after.baseUrl}/inspect/snapshots/then/restore`, { auth })).status).toBe(200);
    const lead = async () =>
      (await send('GET', `${after.metaUrl}/demo/apiendpoints?name=lead&expand=true`, { auth })).body[0];
    await expect.poll(async () => (await lead()).properties.public_url).toBe(`${after.gatewayUrl}/website/lead`);
  });

  it('is left as it was when a seed cannot be applied', async () => {
    await expect(startEmulator({ data, seed: path.join(data, 'no-such-seed.yaml') })).rejects.toThrow(/no-such-seed/);
    expect((await readdir(data)).filter((name) => name.startsWith('world'))).toEqual([]);
    await start({ data, seed: 'empty' });
  });

  it('is used by one platform at a time', async () => {
    await start({ data, seed: 'empty' });
    await expect(startEmulator({ data, seed: 'empty' })).rejects.toThrow(/in use|another/i);
  });

  it('takes a password configured later, and no longer the old one', async () => {
    const first = await start({ data, seed: 'empty' });
    await first.stop();
    const old = first.rootCredentials.password;
    expect(old).toEqual(expect.any(String));
    const second = await start({ data, seed: 'empty', rootPassword: 'a better one' });
    expect(second.rootCredentials).not.toHaveProperty('password');
    expect(await tokenOf(second, 'a better one')).toEqual(expect.any(String));
    expect(await tokenOf(second, old)).toBeUndefined();
  });
});
