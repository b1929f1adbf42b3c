import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MAX_CAPTURED_BYTES } from '../model/exchange-record.ts';
import type { JsonObject } from '../model/json.ts';
import { json, TestGateway, text } from '../testing/gateway.ts';

let gateway: TestGateway;
beforeEach(async () => {
  gateway = await new TestGateway().start();
});
afterEach(() => gateway.stop());

function publish(properties: JsonObject, lambda: JsonObject = {}) {
  const target = gateway.lambda(() => text('in'), lambda);
  return { lambda: target, endpoint: gateway.endpoint(gateway.api('web'), target, { resource: '/a', ...properties }) };
}

/** Status that a caller gets, or one without credentials. */
async function statusFor(authorization?: string): Promise<number> {
  const headers: Record<string, string> = authorization === undefined ? {} : { Authorization: authorization };
  return (await gateway.send('GET', '/web/a', { headers })).status;
}

describe('endpoint security (D-163)', () => {
  const secured = (lists: JsonObject = {}) => publish({ plugins: { platformSecurity: { enabled: true, ...lists } } });

  it('asks for credentials with both challenges', async () => {
    secured();
    const got = await gateway.send('GET', '/web/a');
    expect(got).toMatchObject({ status: 401, json: { code: 401, message: 'Authentication required' } });
    expect(got.headers['www-authenticate']).toBe(
      'Bearer realm="http://security.test/root/oauth/issue", Basic realm="http://gateway.test"',
    );
    const wrong = await gateway.send('GET', '/web/a', { headers: { Authorization: 'Bearer wrong' } });
    expect(wrong.status).toBe(401);
    expect(wrong.headers['www-authenticate']).toContain('error="invalid_token"');
    expect(gateway.calls).toEqual([]);
  });

  it('lets in listed users, members of listed groups, holders of the right, and root', async () => {
    const [user, group] = [randomUUID(), randomUUID()];
    const { endpoint } = secured({ users: [user.toUpperCase()], groups: [group] });
    gateway.caller('Basic user', { userId: user, scheme: 'basic' });
    gateway.caller('Bearer member', { groupIds: [randomUUID(), group] });
    gateway.caller('Bearer root', { isRoot: true });
    gateway.caller('Bearer other');
    expect(await Promise.all(['Basic user', 'Bearer member', 'Bearer root'].map(statusFor))).toEqual([200, 200, 200]);
    expect(await statusFor('Bearer other')).toBe(403);
    gateway.rights.add(`apiendpoint.invoke ${endpoint.id}`);
    expect(await statusFor('Bearer other')).toBe(200);
  });

  it('names the missing right', async () => {
    secured();
    gateway.caller('Bearer other');
    const got = await gateway.send('GET', '/web/a', { headers: { Authorization: 'Bearer other' } });
    const message = "You do not have permission to perform this action. Failed: 'apiendpoint.invoke'";
    expect(got.json).toMatchObject({ code: 403, message });
  });

  it("goes by any brand's key, and only when enabled", async () => {
    const { endpoint } = publish({ plugins: { acmeSecurity: { enabled: true } } });
    expect(await statusFor()).toBe(401);
    gateway.patch(endpoint, { plugins: { acmeSecurity: { enabled: false } } });
    expect(await statusFor()).toBe(200);
  });

  it('does not mind wrong credentials where none are asked for', async () => {
    publish({});
    expect(await statusFor('Bearer wrong')).toBe(200);
    expect(gateway.calls[0]?.context).toMatchObject({ creds: 'Bearer wrong', user: null });
  });
});

describe('a lambda that is not public (D-141)', () => {
  it('requires credentials and lambda.invoke, besides the checks of the endpoint', async () => {
    const { lambda, endpoint } = publish({}, { public: false });
    gateway.caller('Basic me', { scheme: 'basic' });
    expect(await statusFor()).toBe(401);
    expect(await statusFor('Basic me')).toBe(403);
    gateway.rights.add(`lambda.invoke ${lambda.id}`);
    expect(await statusFor('Basic me')).toBe(200);
    gateway.patch(endpoint, { plugins: { platformSecurity: { enabled: true } } });
    expect(await statusFor('Basic me')).toBe(403);
  });
});

describe('a whitelist', () => {
  it('keeps other addresses out, before anything else is asked', async () => {
    const plugins = { platformSecurity: { enabled: true } };
    const { endpoint } = publish({ whitelist: ['10.0.0.0/8'], plugins });
    const got = await gateway.send('GET', '/web/a');
    expect(got).toMatchObject({ status: 403, json: { message: expect.stringContaining('127.0.0.1') } });
    gateway.patch(endpoint, { whitelist: ['10.0.0.0/8', '127.0.0.0/8'] });
    expect(await statusFor()).toBe(401);
  });
});

describe('a rate limit (D-155, D-156)', () => {
  const limited = (perMinute: number) => ({ plugins: { rateLimit: { enabled: true, perMinute } } });
  const readLimit = async (method = 'GET', headers: Record<string, string> = {}) => {
    const got = await gateway.send(method, '/web/a', { headers });
    return [got.status, got.headers['x-ratelimit-limit-minute'], got.headers['x-ratelimit-remaining-minute']];
  };

  it('records the body of a rejected call up to a limit, so that the call can be found and sent again', async () => {
    publish({ ...limited(1), methods: ['POST'] });
    await gateway.send('POST', '/web/a', { body: 'first' });
    const [, small] = await Promise.all([gateway.send('POST', '/web/a', { body: 'rejected' }), gateway.nextExchange()]);
    expect(small).toMatchObject({ status: 429 });
    expect(Buffer.from(small.requestBody?.bytes ?? []).toString()).toBe('rejected');
    // Over a connection that stays open until the body has been read.
    const head = `POST /web/a HTTP/1.1\r\nHost: gateway.test\r\nContent-Length: ${MAX_CAPTURED_BYTES + 10}\r\n\r\n`;
    const last = 'GET /web/a HTTP/1.1\r\nHost: gateway.test\r\nConnection: close\r\n\r\n';
    const [, large] = await Promise.all([
      gateway.sendRaw(`${head}${'x'.repeat(MAX_CAPTURED_BYTES + 10)}${last}`),
      gateway.nextExchange(),
    ]);
    expect(large.requestBody).toMatchObject({ sizeBytes: MAX_CAPTURED_BYTES + 10 });
    expect(large.requestBody?.bytes).toHaveLength(MAX_CAPTURED_BYTES);
    expect(gateway.calls).toHaveLength(1);
  });

  it('rejects calls above it until its window ends, and returns the remaining number in every response', async () => {
    publish(limited(2));
    expect(await readLimit()).toEqual([200, '2', '1']);
    gateway.nowMs += 1_500;
    expect(await readLimit()).toEqual([200, '2', '0']);
    const got = await gateway.send('GET', '/web/a');
    expect(got).toMatchObject({ status: 429, json: { code: 429, message: 'API rate limit exceeded' } });
    expect(got.headers).toMatchObject({ 'retry-after': '59', 'x-ratelimit-remaining-minute': '0' });
    gateway.nowMs += 58_500;
    expect(await readLimit()).toEqual([200, '2', '1']);
  });

  it('does not count preflights, 401 and 403', async () => {
    publish({ plugins: { ...limited(1).plugins, platformSecurity: { enabled: true } }, methods: ['GET'] });
    gateway.caller('Bearer other');
    gateway.caller('Bearer root', { isRoot: true });
    expect(await readLimit()).toEqual([401, '1', '1']);
    expect(await readLimit('GET', { Authorization: 'Bearer other' })).toEqual([403, '1', '1']);
    expect(await readLimit('OPTIONS', { Origin: 'http://a.test', 'Access-Control-Request-Method': 'GET' })).toEqual([
      204,
      '1',
      '1',
    ]);
    expect(await readLimit('POST')).toEqual([405, '1', '1']);
    expect(await readLimit('GET', { Authorization: 'Bearer root' })).toEqual([200, '1', '0']);
  });

  it('starts again when it changes or is enabled again, and by no other change', async () => {
    const { endpoint } = publish(limited(2));
    await readLimit();
    const renamed = gateway.put({ ...endpoint, name: 'other' });
    expect(await readLimit()).toEqual([200, '2', '0']);
    const raised = gateway.patch(renamed, limited(3));
    expect(await readLimit()).toEqual([200, '3', '2']);
    const disabled = gateway.patch(raised, { plugins: { rateLimit: { enabled: false, perMinute: 3 } } });
    expect(await readLimit()).toEqual([200, undefined, undefined]);
    gateway.patch(disabled, limited(3));
    expect(await readLimit()).toEqual([200, '3', '2']);
  });
});

describe('CORS (D-158)', () => {
  const preflight = (method = 'POST', headers: Record<string, string> = {}) =>
    gateway.send('OPTIONS', '/web/a', {
      headers: { Origin: 'http://form.test', 'Access-Control-Request-Method': method, ...headers },
    });

  it("answers a web form's preflight, and lets pages read every answer", async () => {
    publish({ methods: ['POST'] });
    const preflightReply = await preflight('POST', { 'Access-Control-Request-Headers': 'content-type, authorization' });
    expect(preflightReply).toMatchObject({ status: 204, body: '' });
    expect(preflightReply.headers).toMatchObject({
      'access-control-allow-origin': '*',
      'access-control-allow-methods': 'POST',
      'access-control-allow-headers': 'content-type, authorization',
    });
    const exposed = (await gateway.send('POST', '/web/a')).headers;
    expect(exposed['access-control-allow-origin']).toBe('*');
    for (const name of ['x-ratelimit-limit-minute', 'x-terrarium-execution-id', 'server-timing']) {
      expect(exposed['access-control-expose-headers']?.toLowerCase()).toContain(name);
    }
    expect((await gateway.send('GET', '/web/a')).headers['access-control-allow-origin']).toBe('*');
  });

  it('is not asked by an OPTIONS without an origin, or without a method', async () => {
    publish({ methods: ['POST'] });
    expect(
      (await gateway.send('OPTIONS', '/web/a', { headers: { 'Access-Control-Request-Method': 'POST' } })).status,
    ).toBe(405);
    expect((await gateway.send('OPTIONS', '/web/a', { headers: { Origin: 'http://form.test' } })).status).toBe(405);
  });

  it('lets a page read the 404 of a path and the 405 of a method that are not published', async () => {
    publish({ methods: ['POST'] });
    const Origin = 'http://form.test';
    expect((await preflight('DELETE')).headers).toMatchObject({
      'access-control-allow-origin': '*',
      'access-control-allow-methods': 'POST, DELETE',
    });
    const wrongMethod = await gateway.send('DELETE', '/web/a', { headers: { Origin } });
    expect([wrongMethod.status, wrongMethod.headers['access-control-allow-origin']]).toEqual([405, '*']);
    const headers = { Origin, 'Access-Control-Request-Method': 'PUT', 'Access-Control-Request-Headers': 'x-own' };
    const preflightReply = await gateway.send('OPTIONS', '/web/none', { headers });
    expect(preflightReply.status).toBe(204);
    expect(preflightReply.headers).toMatchObject({
      'access-control-allow-origin': '*',
      'access-control-allow-methods': 'PUT',
      'access-control-allow-headers': 'x-own',
    });
    const wrongPath = await gateway.send('PUT', '/web/none', { headers: { Origin } });
    expect([wrongPath.status, wrongPath.headers['access-control-allow-origin']]).toEqual([404, '*']);
  });

  it('allows pages of the Internet to call this machine if they ask', async () => {
    publish({ methods: ['POST'] });
    const preflightReply = await preflight('POST', { 'Access-Control-Request-Private-Network': 'true' });
    expect(preflightReply.headers['access-control-allow-private-network']).toBe('true');
    expect((await preflight()).headers['access-control-allow-private-network']).toBeUndefined();
  });

  it('is answered for every method when the endpoint lists none, but a plain OPTIONS goes to the target', async () => {
    publish({});
    expect((await preflight()).status).toBe(204);
    expect(gateway.calls).toEqual([]);
    expect(await gateway.send('OPTIONS', '/web/a')).toMatchObject({ status: 200, body: 'in' });
  });

  it('leaves OPTIONS to an endpoint that lists it', async () => {
    publish({ methods: ['OPTIONS', 'POST'] });
    expect(await preflight()).toMatchObject({ status: 200, body: 'in' });
  });

  it('can be switched off', async () => {
    publish({ methods: ['POST'], plugins: { cors: { enabled: false } } });
    const got = await preflight();
    expect(got.status).toBe(405);
    expect(got.headers['access-control-allow-origin']).toBeUndefined();
    expect((await gateway.send('POST', '/web/a')).headers['access-control-allow-origin']).toBeUndefined();
  });

  it('can be limited to some origins', async () => {
    publish({ methods: ['POST'], plugins: { cors: { origins: ['http://form.test'] } } });
    expect((await preflight()).headers).toMatchObject({
      'access-control-allow-origin': 'http://form.test',
      vary: 'Origin',
    });
    const other = await preflight('POST', { Origin: 'http://other.test' });
    expect(other.headers['access-control-allow-origin']).toBeUndefined();
    expect(other.headers.vary).toBe('Origin');
  });

  it('allows credentials to origins that are named, when the endpoint does', async () => {
    publish({ methods: ['POST'], plugins: { cors: { origins: ['http://form.test'], credentials: true } } });
    expect((await preflight()).headers).toMatchObject({
      'access-control-allow-origin': 'http://form.test',
      'access-control-allow-credentials': 'true',
    });
    const other = await preflight('POST', { Origin: 'http://other.test' });
    expect(other.headers['access-control-allow-credentials']).toBeUndefined();
  });

  it('gives way to the headers of an http-aware lambda, one by one', async () => {
    const lambda = gateway.lambda(() =>
      json({ status: 200, headers: { 'access-control-allow-ORIGIN': 'http://own.test' } }),
    );
    gateway.endpoint(gateway.api('own'), lambda, { resource: '/a', is_http_aware: true });
    const { headers } = await gateway.send('GET', '/own/a');
    expect(headers['access-control-allow-origin']).toBe('http://own.test');
    expect(headers['access-control-expose-headers']).toContain('Server-Timing');
  });
});
