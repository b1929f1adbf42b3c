import { createTransport } from 'nodemailer';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { FaultRule, Terrarium } from './api.ts';
import { startEmulator } from './library.ts';

let platform: Terrarium;
beforeAll(async () => {
  platform = await startEmulator({
    seed: 'demo',
    containers: { engine: 'none' },
    lambdas: { modules: '.', periodic: true },
    rootPassword: 'secret',
    limits: { tokenRequestsPerMinute: 2 },
  });
});
afterAll(() => platform.stop());
beforeEach(() => platform.reset());

const statusOf = async (url: string, init?: RequestInit) => (await fetch(url, init)).status;
const withToken = (token: string) => ({ headers: { Authorization: `Bearer ${token}` } });
const tokenRequest = (password: string) => ({
  method: 'POST',
  body: new URLSearchParams({ grant_type: 'password', username: 'root', password }),
});

/** Sends a request again as long as the service is unavailable, as clients do. */
async function withRetry(send: () => Promise<Response>): Promise<{ statuses: number[] }> {
  const statuses: number[] = [];
  while (statuses.length < 3) {
    const { status } = await send();
    statuses.push(status);
    if (status !== 503) break;
  }
  return { statuses };
}

describe('a fault rule (D-221)', () => {
  it('fails the first requests of a client, so that its retry succeeds', async () => {
    const token = await platform.token();
    await platform.faults.add({ service: 'resources', status: 503, times: 2 });
    const { statuses } = await withRetry(() => fetch(`${platform.metaUrl}/orgs`, withToken(token)));
    expect(statuses).toEqual([503, 503, 200]);
    expect(await platform.faults.list()).toMatchObject([{ matched: 3, applied: 2 }]);
  });

  it('answers in the form of each service, with the ID of the rule, and stores nothing', async () => {
    const { url } = await platform.deploy('/shop/test/echo', { code: 'exports.run = () => 1', endpoint: '/echo' });
    const before = (await platform.request('GET', '/inspect/history?limit=1')).body;
    const rule = async (request: FaultRule) => (await platform.faults.add(request)).id;
    const answer = async (address: string, init?: RequestInit) => {
      const response = await fetch(address, init);
      const body = await response.text();
      return { status: response.status, fault: response.headers.get('x-terrarium-fault'), body };
    };
    const resources = await rule({ service: 'resources', status: 500 });
    const created = await answer(`${platform.metaUrl}/root`, { method: 'POST', body: '{"name": "new"}' });
    expect(created).toMatchObject({ status: 500, fault: resources });
    expect(JSON.parse(created.body)).toMatchObject({ code: 500, reason: 'internal_error' });

    const security = await rule({ service: 'security', status: 429 });
    const issued = await answer(`${platform.securityUrl}/root/oauth/issue`, { method: 'POST' });
    expect(issued).toMatchObject({ status: 429, fault: security });
    expect(JSON.parse(issued.body)).toMatchObject({ error: 'invalid_grant', code: 429 });

    const gateway = await rule({ service: 'gateway', status: 418 });
    const called = await answer(url);
    expect(called).toMatchObject({ status: 418, fault: gateway });
    expect(JSON.parse(called.body)).toMatchObject({ code: 418, message: expect.stringContaining(gateway) });

    const scm = await rule({ service: 'scm', status: 502 });
    expect(await answer(`${platform.scmUrl}/api/v4/projects`)).toEqual({
      status: 502,
      fault: scm,
      body: '{"message":"502 Bad Gateway"}',
    });
    expect(JSON.parse((await answer(`${platform.scmUrl}/v2/`)).body)).toMatchObject({ errors: [{}] });
    expect((await platform.request('GET', '/inspect/history?limit=1')).body).toEqual(before);
    const { body } = await platform.request('GET', '/inspect/traffic?limit=10');
    expect(JSON.stringify(body)).toContain('418');
    await expect(platform.invocations.find({ lambda: 'echo' })).resolves.toBeUndefined();
  });

  it('makes the mock CRM and the mock mail server fail', async () => {
    const payload = { email: 'ada@example.com' };
    await platform.faults.add({ service: 'crm', status: 503, times: 1 });
    await platform.faults.add({ service: 'crm', cut: true, times: 1 });
    const failed = await platform.invoke('contact-form', { payload });
    expect(failed.outbound).toMatchObject([{ status: 503, caughtBy: 'crm' }]);
    expect((await platform.invoke('contact-form', { payload })).outbound).toMatchObject([
      { error: expect.any(String) },
    ]);
    expect((await platform.request('GET', '/inspect/leads?refused=true')).body).toEqual([]);
    await platform.invoke('contact-form', { payload });
    expect(await platform.leads.list()).toHaveLength(1);

    const { hostname: host, port } = new URL(platform.smtpUrl);
    const transport = createTransport({ host, port: Number(port), ignoreTLS: true });
    const send = () => transport.sendMail({ from: 'shop@example.com', to: 'ada@example.com', text: 'Hello' });
    const { id } = await platform.faults.add({ service: 'smtp', status: 451, times: 1 });
    await platform.faults.add({ service: 'smtp', cut: true, times: 1 });
    await expect(send()).rejects.toMatchObject({ responseCode: 451, response: expect.stringContaining(id) });
    await expect(send()).rejects.toThrow();
    await send();
    expect(await platform.mails.list()).toHaveLength(1);
  });

  it('cuts connections of all services, and the cut is in the record', async () => {
    const { url } = await platform.deploy('/shop/test/echo', { code: 'exports.run = () => 1', endpoint: '/echo' });
    const addresses = {
      resources: platform.metaUrl,
      security: platform.securityUrl,
      gateway: url,
      scm: platform.scmUrl,
    };
    for (const [service, address] of Object.entries(addresses)) {
      // Each is a service.
      await platform.faults.add({ service: service as FaultRule['service'], cut: true });
      await expect(fetch(address), service).rejects.toThrow();
    }
    await expect
      .poll(async () => {
        const { body } = await platform.request('GET', '/inspect/traffic?limit=3');
        return JSON.stringify(body).match(/"seq"/g)?.length;
      })
      .toBe(3);
  });

  it('applies to the requests that its method, path, times and after name, and delays until it is deleted', async () => {
    const get = (path: string) => platform.request('GET', path).then(({ status }) => status);
    await platform.faults.add({
      service: 'resources',
      path: '/meta/or*',
      method: 'GET',
      status: 403,
      after: 1,
      times: 1,
    });
    expect(await get('/meta/health')).toBe(200);
    expect([await get('/meta/orgs'), await get('/meta/orgs?expand=true'), await get('/meta/orgs')]).toEqual([
      200, 403, 200,
    ]);
    const { id } = await platform.faults.add({ service: 'resources', path: '/meta/demo', delayMs: 60_000 });
    const delayed = platform.request('GET', '/meta/demo');
    await expect.poll(async () => (await platform.faults.list())[1]).toMatchObject({ applied: 1 });
    await platform.faults.remove(id);
    expect(await delayed).toMatchObject({ status: 200, headers: { 'x-terrarium-fault': id } });
    expect(await platform.faults.clear()).toBe(1);
  });

  it('applies to a share of the requests, to the same ones with the same seed, as often as times says', async () => {
    const statuses = async (rule: Partial<FaultRule>) => {
      const { id, seed } = await platform.faults.add({ service: 'resources', status: 503, percent: 30, ...rule });
      const found: number[] = [];
      for (let number = 0; number < 60; number += 1) found.push(await statusOf(`${platform.metaUrl}/about`));
      await platform.faults.remove(id);
      return { found, seed, failures: found.filter((status) => status === 503).length };
    };
    const first = await statuses({ seed: 7 });
    expect(first.failures).toBeGreaterThan(5);
    expect(first.failures).toBeLessThan(30);
    expect(await statuses({ seed: 7 })).toEqual(first);
    const other = await statuses({});
    expect(other.found).not.toEqual(first.found);
    expect(await statuses({ seed: other.seed })).toEqual(other);
    expect((await statuses({ seed: 7, times: 2 })).failures).toBe(2);
    expect((await statuses({ percent: 100 })).failures).toBe(60);
  });

  it('leaves the requests of the window alone', async () => {
    await platform.faults.add({ service: 'resources', status: 503 });
    const { headers } = withToken(await platform.token());
    expect(await statusOf(`${platform.metaUrl}/orgs`, { headers: { ...headers, 'X-Terrarium-Client': 'ui' } })).toBe(
      200,
    );
  });

  it.each([
    [{ service: 'resources' }, 'must have'],
    [{ service: 'resources', status: 200 }, '/status'],
    [{ service: 'resources', status: 503, cut: true }, 'not both'],
    [{ service: 'smtp', status: 451, path: '/a' }, 'smtp'],
    [{ service: 'world', status: 503 }, '/service'],
    [{ service: 'crm', delayMs: 1e9 }, '/delayMs'],
    [{ service: 'crm', status: 503, percent: 0 }, '/percent'],
    [{ service: 'crm', status: 503, seed: 7 }, 'percent'],
    [{ service: 'crm', status: 503, path: 'leads' }, '/path'],
  ])('%j is rejected', async (request, reason) => {
    const { status, body } = await platform.request('POST', '/inspect/faults', request);
    expect(status).toBe(400);
    expect(JSON.stringify(body)).toContain(reason);
    expect(await platform.faults.list()).toEqual([]);
  });

  it('does not exist: 404', async () => {
    await expect(platform.faults.remove('none')).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });
});

describe('the clock (D-222)', () => {
  it('expires tokens and sessions when it is advanced, and a reset ends that', async () => {
    const token = await platform.token();
    const orgs = () => statusOf(`${platform.metaUrl}/orgs`, withToken(token));
    expect(await orgs()).toBe(200);
    const now = await platform.clock.advance('24h');
    expect(now.getTime() - Date.now()).toBeGreaterThan(23 * 3_600_000);
    expect(await orgs()).toBe(401);
    expect((await platform.request('POST', '/meta/root', { name: 'later' })).body).toMatchObject({
      created: expect.objectContaining({}),
    });
    await platform.reset();
    expect(await orgs()).toBe(200);
    expect((await platform.request('GET', '/inspect/clock')).body).toMatchObject({ aheadMs: 0 });
  });

  it('frees rate limits, and they count again after it is reset', async () => {
    const plugins = { rateLimit: { enabled: true, perMinute: 1 } };
    const { url } = await platform.deploy('/shop/test/echo', {
      code: 'exports.run = () => 1',
      endpoint: { resource: '/echo', plugins },
    });
    const twice = async () => [await statusOf(url), await statusOf(url)];
    expect(await twice()).toEqual([200, 429]);
    await platform.clock.advance('1m');
    expect(await twice()).toEqual([200, 429]);
    await platform.clock.advance('24h');
    expect(await twice()).toEqual([200, 429]);
    await platform.clock.reset();
    expect(await twice()).toEqual([200, 429]);
  });

  it('frees the limit of attempts to sign in', async () => {
    const signIn = (password: string) => statusOf(`${platform.securityUrl}/root/oauth/issue`, tokenRequest(password));
    const statuses = async () => [await signIn('wrong'), await signIn('wrong'), await signIn('secret')];
    expect(await statuses()).toEqual([400, 400, 429]);
    await platform.clock.advance('2h');
    expect(await statuses()).toEqual([400, 400, 429]);
    await platform.clock.reset();
    expect(await signIn('secret')).toBe(200);
  });

  it('runs what has become due', async () => {
    await platform.deploy('/shop/test/hourly', {
      code: 'exports.run = () => 1',
      properties: { periodic_info: { interval_seconds: 3_600 } },
    });
    expect(await platform.invocations.find({ trigger: 'periodic' })).toBeUndefined();
    await platform.clock.advance('1h');
    const run = await platform.invocations.waitFor({ lambda: 'hourly', trigger: 'periodic' });
    expect(Date.parse(run.acceptedAt) - Date.now()).toBeGreaterThan(59 * 60_000);
  });

  it('ends the lifetime of asynchronous results', async () => {
    const { id } = await platform.deploy('/shop/test/echo', { code: 'exports.run = () => 1' });
    const authorization = withToken(await platform.token()).headers.Authorization;
    const body = JSON.stringify({ lambdaId: id });
    const headers = { Authorization: authorization, 'Content-Type': 'application/json' };
    const accepted = await fetch(`${platform.gatewayUrl}/api/async`, { method: 'POST', headers, body });
    const { lambdaId: executionId } = JSON.parse(await accepted.text());
    const url = `${platform.gatewayUrl}/results/${executionId}`;
    const result = async () => statusOf(url, withToken(await platform.token()));
    await expect.poll(result).toBe(200);
    await platform.clock.advance('60d');
    expect(await result()).toBe(404);
    await platform.clock.reset();
    expect(await result()).toBe(200);
  });

  it.each([
    ['2035-01-31', '2035-01-31T00:00'],
    ['2035-01-31T09:30', '2035-01-31T09:30'],
    ['2035-01-31T09:30:00+02:00', '2035-01-31T07:30'],
    [new Date('2035-01-31T09:30:00Z'), '2035-01-31T09:30'],
  ])('can be advanced to %s', async (to, minute) => {
    expect((await platform.clock.advance(to)).toISOString()).toContain(minute);
    await expect(platform.clock.advance(to)).rejects.toThrow("later than the clock's");
  });

  it.each([
    '-1h',
    '0s',
    '24',
    '9999-12-31T23:59:59Z',
    '2035-02-31',
    '2035-13-01',
    '1970-01-01',
    '2030-01-01 09:00',
    'tomorrow',
    '999999d',
    '1e9h',
    '',
  ])('rejects %j', async (advance) => {
    await expect(platform.clock.advance(advance)).rejects.toMatchObject({ code: 'REFUSED', status: 400 });
    expect((await platform.request('GET', '/inspect/clock')).body).toMatchObject({ aheadMs: 0 });
  });
});

it('a user other than root can read faults and the clock, but not change them', async () => {
  const { body: user } = await platform.request('POST', '/meta/root/users', {
    name: 'vera',
    properties: { password: 'x' },
  });
  expect(user).toMatchObject({ name: 'vera' });
  const { headers } = withToken(await platform.token('vera'));
  const statuses = async (path: string, ...requests: [method: string, body?: object][]) => {
    const url = `${platform.baseUrl}/inspect/${path}`;
    const responses = requests.map(([method, body]) =>
      statusOf(url, {
        method,
        headers: { ...headers, 'Content-Type': 'application/json' },
        body: body ? JSON.stringify(body) : null,
      }),
    );
    return Promise.all(responses);
  };
  const rule = { service: 'crm', status: 503 };
  expect(await statuses('faults', ['GET'], ['POST', rule], ['DELETE'])).toEqual([200, 403, 403]);
  expect(await statuses('faults/any', ['DELETE'])).toEqual([403]);
  expect(await statuses('clock', ['GET'], ['POST', { advance: '1h' }], ['DELETE'])).toEqual([200, 403, 403]);
});

it.each(['library', 'REST API'])('a reset by the %s ends fault rules and returns the clock', async (way) => {
  await platform.faults.add({ service: 'crm', status: 503 });
  await platform.clock.advance('1h');
  const dry = await platform.request('POST', '/inspect/reset', { seed: 'demo', dryRun: true });
  expect(dry.status).toBe(200);
  expect(await platform.faults.list()).toHaveLength(1);
  if (way === 'library') await platform.reset();
  else expect((await platform.request('POST', '/inspect/reset', { seed: 'demo' })).status).toBe(200);
  expect(await platform.faults.list()).toEqual([]);
  expect((await platform.request('GET', '/inspect/clock')).body).toMatchObject({ aheadMs: 0 });
});
