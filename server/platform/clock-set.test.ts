import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { logIn, makeAccount } from '../testing/account.ts';
import { bearer, send } from '../testing/checked-client.ts';
import { type Platform, startPlatform } from '../testing/platform.ts';
import { resourceFactoryFor } from '../testing/resource-factory.ts';
import { createTenant } from '../testing/tenant.ts';

const DAY_MS = 24 * 3_600_000;

/** Fakes the wall clock of this process until the test ends. @returns sets it, by milliseconds from the real time */
function fakeClock(): (offsetMs: number) => void {
  const { now } = Date;
  let setByMs = 0;
  const clock = vi.spyOn(Date, 'now').mockImplementation(() => now() + setByMs);
  onTestFinished(() => clock.mockRestore());
  return (offsetMs) => {
    setByMs = offsetMs;
  };
}

it('sessions, tokens, results and windows of limits last as long as they should when the clock is set', async () => {
  const setClock = fakeClock();
  const platform = await startPlatform();
  onTestFinished(() => platform.stop());
  const { root, emulator } = platform;
  const tenant = await createTenant(root, 'acme');
  const make = resourceFactoryFor(root);
  const api = await make.api(tenant);
  const lambda = await make.lambda(tenant);
  await make.endpoint(api, lambda, {
    methods: ['GET'],
    plugins: { rateLimit: { enabled: true, perMinute: 1 } },
  });
  const ada = await makeAccount(platform, 'ada', '/acme');
  const code = new URL(emulator.windowUrl()).searchParams.get('code');
  const sessionResponse = await fetch(`${emulator.baseUrl}/inspect/session`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Origin: emulator.baseUrl },
    body: JSON.stringify({ code }),
  });
  const cookie = sessionResponse.headers.get('set-cookie')?.split(';', 1)[0] ?? '';
  const call = async () => (await fetch(`${emulator.gatewayUrl}/${api.name}/e`)).status;
  const { gatewayUrl } = emulator;
  const accepted = await send('POST', `${gatewayUrl}/api/async`, { body: { lambdaId: lambda.id } });
  const auth = bearer((await logIn(platform, 'root', 'root')).body.access_token);
  const result = async () => (await send('GET', `${gatewayUrl}/results/${accepted.body.lambdaId}`, { auth })).status;
  /**
   * Returns the statuses of the session, of a user without permissions whom the token identifies, of the limited
   * endpoint, and of an asynchronous result.
   */
  const statuses = async () => [
    (await fetch(`${emulator.baseUrl}/meta/sync`, { method: 'POST', headers: { cookie, origin: emulator.baseUrl } }))
      .status,
    (await fetch(`${emulator.baseUrl}/meta/acme`, { headers: { authorization: ada.bearer } })).status,
    await call(),
    await result(),
  ];
  expect(await call()).toBe(200);
  await expect.poll(result).toBe(200);
  for (const offsetMs of [0, DAY_MS, -DAY_MS]) {
    setClock(offsetMs);
    expect(await statuses(), `set by ${offsetMs} ms`).toEqual([200, 403, 429, 200]);
  }
});

it('a token that has expired stays expired if the clock is set back and the platform restarts', async () => {
  const setClock = fakeClock();
  const data = await mkdtemp(join(tmpdir(), 'terrarium-clock-'));
  onTestFinished(() => rm(data, { recursive: true }));
  const options = { data, limits: { tokenLifetimeS: 1 } };
  const platform = await startPlatform(options);
  await createTenant(platform.root, 'acme');
  const { body } = await logIn(platform, 'root', 'root');
  expect(body.access_token).toEqual(expect.any(String));
  const auth = bearer(body.access_token);
  const status = async ({ emulator }: Platform) => (await send('GET', `${emulator.metaUrl}/acme`, { auth })).status;
  await expect.poll(() => status(platform)).toBe(401);
  setClock(-DAY_MS);
  await platform.stop();
  const restarted = await startPlatform({ ...options, limits: { tokenLifetimeS: 3_600 } });
  onTestFinished(() => restarted.stop());
  expect(await status(restarted)).toBe(401);
});
