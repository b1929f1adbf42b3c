import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { rootPairOf } from '../../testing/account.ts';
import { type Reply, send } from '../../testing/checked-client.ts';
import { type Platform, startPlatform } from '../../testing/platform.ts';
import { createTenant, lambdaBody, type Tenant } from '../../testing/tenant.ts';

/** The local platform, and one that represents the real one. */
let local: Platform;
let remote: Platform;
let localTenant: Tenant;
let remoteTenant: Tenant;
/** Part of the names of the organizations and APIs of the current test. */
let number = 0;
/** Forwards requests to the remote platform, except those that `faultOf` answers. */
let proxy: Server;
let faultOf: ((method: string, path: string) => number | string | { message: string } | undefined) | undefined;

beforeAll(async () => {
  [local, remote] = await Promise.all([startPlatform(), startPlatform({ typePrefix: 'Acme' })]);
  proxy = createServer(async (req, res) => {
    const body: Buffer[] = [];
    for await (const chunk of req) body.push(chunk);
    const fault = faultOf?.(req.method ?? '', req.url ?? '');
    if (fault === 0) return void res.destroy();
    if (typeof fault === 'number') return void res.writeHead(fault, { 'content-type': 'application/json' }).end('{}');
    if (typeof fault === 'object') return void res.writeHead(500).end(JSON.stringify(fault));
    if (typeof fault === 'string') return void res.end(fault);
    const { authorization = '', 'content-type': type } = req.headers;
    const reply = await fetch(`${remote.emulator.baseUrl}${req.url}`, {
      method: req.method ?? 'GET',
      headers: { authorization, ...(type && { 'content-type': type }) },
      ...(body.length > 0 && { body: Buffer.concat(body) }),
    });
    res.writeHead(reply.status, { 'content-type': 'application/json' }).end(await reply.text());
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
});
beforeEach(async () => {
  number += 1;
  [localTenant, remoteTenant] = await Promise.all([
    createTenant(local.root, `shop${number}`),
    createTenant(remote.root, `live${number}`),
  ]);
});
afterAll(async () => {
  proxy?.close();
  await Promise.all([local?.stop(), remote?.stop()]);
});

const remoteKeyPair = () => {
  const { apiKey, apiSecret = '' } = remote.emulator.rootCredentials;
  return { user: apiKey, password: apiSecret };
};
const publishingRequest = (direction: 'pull' | 'push', more: object = {}) => ({
  direction,
  metaUrl: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}/meta`,
  path: `live${number}/ws/env`,
  credentials: remoteKeyPair(),
  ...more,
});
const publish = (operation: 'plan' | 'carry', body: object): Promise<Reply> =>
  send('POST', `${local.emulator.baseUrl}/inspect/publishing/${localTenant.environmentId}/${operation}`, {
    auth: rootPairOf(local),
    body,
  });
const plan = async (...args: Parameters<typeof publishingRequest>) => {
  const { status, body } = await publish('plan', publishingRequest(...args));
  if (status !== 200) throw new Error(JSON.stringify(body));
  return body;
};
const copyResources = async (direction: 'pull' | 'push', more: object = {}, overwrite: string[] = []) => {
  const { seen } = await plan(direction, more);
  return publish('carry', { ...publishingRequest(direction, more), seen, overwrite });
};
const actions = (body: Reply['body']) =>
  body.steps.map(({ id, action }: { id: string; action: string }) => `${action} ${id}`);
const lambdaNamed = async ({ root }: Platform, { environment }: Tenant, name: string) =>
  (await root.get(`${environment}/lambdas?expand=true`)).body.find(
    (candidate: { name: string }) => candidate.name === name,
  );

describe('A push', () => {
  beforeEach(async () => {
    const lambda = await local.root.create(
      `${localTenant.environment}/lambdas`,
      lambdaBody(localTenant, 'form', {
        env: { CRM_OID: 'o1' },
        code: 'exports.run = (e, c, cb) =>\n  cb(null, "first");\n',
      }),
    );
    const api = await local.root.create(`${localTenant.environment}/apis`, { name: `site${number}` });
    await local.root.create(`/root/apis/${api.id}/apiendpoints`, {
      name: 'send',
      properties: { resource: '/send', implementation_type: 'lambda', implementation_id: lambda.id, methods: ['POST'] },
    });
  });

  it('shows the plan as a patch and as text, and creates a lambda that runs there', async () => {
    const planned = await plan('push');
    expect(actions(planned)).toEqual([
      'create lambda form',
      `create api site${number}`,
      `create endpoint site${number}/send`,
    ]);
    expect(planned.steps[0].patch[0]).toMatchObject({
      op: 'add',
      path: '',
      value: { properties: { env: { CRM_OID: 'o1' } } },
    });
    expect(planned.steps[0].diff).toContain('+  code: |');
    expect(planned.steps[0].diff).toContain('+      cb(null, "first");');
    expect(await lambdaNamed(remote, remoteTenant, 'form')).toBeUndefined();

    expect((await copyResources('push')).body).toEqual({
      done: ['lambda form', `api site${number}`, `endpoint site${number}/send`],
      notDone: [],
    });
    const answer = await send('POST', `${remote.emulator.gatewayUrl}/site${number}/send`, { body: {} });
    expect([answer.status, answer.body]).toEqual([200, 'first']);
    expect((await lambdaNamed(remote, remoteTenant, 'form')).resource_type).toMatch(/^Acme::/);
    expect(new Set(actions(await plan('push')).map((action: string) => action.split(' ')[0]))).toEqual(
      new Set(['unchanged']),
    );
  });

  it('copies a change and keeps what it does not know', async () => {
    await copyResources('push');
    const lambda = await lambdaNamed(local, localTenant, 'form');
    await local.root.patch(`/root/lambdas/${lambda.id}`, [
      { op: 'replace', path: '/properties/env', value: { CRM_OID: 'o2' } },
    ]);
    const { steps } = await plan('push', { path: `live${number}/ws/env/lambdas/form` });
    expect(steps[0].patch).toEqual([{ op: 'replace', path: '/properties/env/CRM_OID', value: 'o2' }]);
    expect(steps[0].diff).toEqual(expect.arrayContaining(['-    CRM_OID: o1', '+    CRM_OID: o2']));
    const before = await lambdaNamed(remote, remoteTenant, 'form');
    expect((await copyResources('push')).body.done).toEqual(['lambda form']);
    const after = await lambdaNamed(remote, remoteTenant, 'form');
    expect(after.properties).toEqual({ ...before.properties, env: { CRM_OID: 'o2' } });
  });

  it('overwrites nothing that has changed at the destination, unless the request names it', async () => {
    await copyResources('push');
    const changed = await lambdaNamed(local, localTenant, 'form');
    await local.root.patch(`/root/lambdas/${changed.id}`, [
      { op: 'replace', path: '/properties/env', value: { CRM_OID: 'o2' } },
    ]);
    await copyResources('push');
    const lambda = await lambdaNamed(remote, remoteTenant, 'form');
    await remote.root.patch(`/root/lambdas/${lambda.id}`, [
      { op: 'replace', path: '/properties/env', value: { CRM_OID: 'theirs' } },
    ]);
    const planned = await plan('push');
    expect(planned.steps[0].conflict).toContain('changed only at the destination');
    const refused = await copyResources('push');
    expect([refused.status, refused.body.message]).toEqual([409, expect.stringContaining('lambda form')]);
    expect((await lambdaNamed(remote, remoteTenant, 'form')).properties.env).toEqual({ CRM_OID: 'theirs' });
    expect((await copyResources('push', {}, ['lambda form'])).body.done).toEqual(['lambda form']);
    expect((await lambdaNamed(remote, remoteTenant, 'form')).properties.env).toEqual({ CRM_OID: 'o2' });
  });

  it('is rejected when it has changed since it was shown', async () => {
    const { seen } = await plan('push');
    await local.root.create(`${localTenant.environment}/lambdas`, lambdaBody(localTenant, 'late'));
    const { status, body } = await publish('carry', { ...publishingRequest('push'), seen });
    expect([status, body.message]).toEqual([409, expect.stringContaining('Review the new plan')]);
    expect(await lambdaNamed(remote, remoteTenant, 'late')).toBeUndefined();
  });

  it('reports its progress when it is interrupted, and continues from there', async () => {
    await copyResources('push');
    await local.root.create(`${localTenant.environment}/lambdas`, lambdaBody(localTenant, 'late'));
    await local.root.create(`${localTenant.environment}/lambdas`, lambdaBody(localTenant, 'later'));
    faultOf = (method, path) => {
      if (method !== 'POST' || !path.endsWith('/lambdas')) return undefined;
      faultOf = (again) => (again === 'POST' ? 0 : undefined);
      return undefined;
    };
    const { status, body } = await copyResources('push').finally(() => {
      faultOf = undefined;
    });
    expect([status, body.done, body.failed.step, body.notDone]).toEqual([
      200,
      ['lambda late'],
      'lambda later',
      ['lambda later'],
    ]);
    expect(body.failed.sentence).toContain('incomplete');
    expect((await copyResources('push')).body).toEqual({ done: ['lambda later'], notDone: [] });
  });

  it('copies no secret value, and names the secret that is missing', async () => {
    const secretOf = (tenant: Tenant, value: string) => ({
      name: 'crm',
      properties: { provider: { id: tenant.docker }, items: [{ key: 'token', value }] },
    });
    const secret = await local.root.create(
      `${localTenant.environment}/secrets`,
      secretOf(localTenant, 'top-secret-here'),
    );
    const mount = { mount_type: 'env', path: 'CRM_TOKEN', secret_id: secret.id, secret_key: 'token' };
    await local.root.create(
      `${localTenant.environment}/lambdas`,
      lambdaBody(localTenant, 'sealed', { secrets: [mount] }),
    );
    const target = { path: `live${number}/ws/env/lambdas/sealed` };
    const planned = await plan('push', target);
    expect(planned.steps[0].missing).toContain("secret 'crm' with key 'token'");
    expect(JSON.stringify(planned)).not.toContain('top-secret-here');
    expect((await copyResources('push', target)).body.message).toContain("secret 'crm'");
    const remoteSecret = await remote.root.create(
      `${remoteTenant.environment}/secrets`,
      secretOf(remoteTenant, 'remote-secret'),
    );
    expect((await copyResources('push', target)).body.done).toEqual(['lambda sealed']);
    expect((await lambdaNamed(remote, remoteTenant, 'sealed')).properties.secrets).toEqual([
      { ...mount, secret_id: remoteSecret.id },
    ]);
  });

  it('checks the lambdas first', async () => {
    const code = 'exports.run = (e, c, cb) =>\n  cb(process.env.MISSING ? "bad" : "bad too");';
    const lambda = await local.root.create(
      `${localTenant.environment}/lambdas`,
      lambdaBody(localTenant, 'raw', { code, env: { HOOK: 'http://localhost:9/x' } }),
    );
    const target = { path: `live${number}/ws/env/lambdas/raw` };
    const { checks } = await plan('push', target);
    expect(checks.map(({ isGood }: { isGood: boolean }) => isGood)).toEqual([false, false, false]);
    expect(checks.map(({ sentence }: { sentence: string }) => sentence)).toEqual([
      'raw was not invoked since its last change',
      'raw reads MISSING, which are not set at the destination',
      'HOOK of raw contains an address of this machine',
    ]);
    const call = () =>
      send('POST', `${local.emulator.baseUrl}/inspect/lambdas/${lambda.id}/invoke`, {
        auth: rootPairOf(local),
        body: {},
      });
    await call();
    expect((await plan('push', target)).checks[0].sentence).toContain('1 of 1 invocations of raw failed');
    const good = 'exports.run = (e, c, cb) => cb(null, "good");';
    await local.root.patch(`/root/lambdas/${lambda.id}`, [
      { op: 'replace', path: '/properties/code', value: good },
      { op: 'remove', path: '/properties/env' },
    ]);
    await call();
    const now = (await plan('push', target)).checks;
    expect(now.every(({ isGood }: { isGood: boolean }) => isGood)).toBe(true);

    // Identical resources are checked as well.
    await copyResources('push', target);
    await local.root.patch(`/root/lambdas/${lambda.id}`, [{ op: 'replace', path: '/properties/code', value: code }]);
    await call();
    await copyResources('push', target);
    const same = await plan('push', target);
    expect(same.steps.map(({ action }: { action: string }) => action)).toEqual(['unchanged']);
    expect(same.checks[0]).toMatchObject({
      isGood: false,
      sentence: '1 of 1 invocations of raw failed since its last change',
    });
  });

  it('checks nothing if it contains no lambda', async () => {
    await local.root.create(`${localTenant.environment}/apis`, { name: 'empty' });
    expect((await plan('push', { path: `live${number}/ws/env/apis/empty` })).checks).toEqual([]);
  });
});

describe('A pull', () => {
  it('pulls existing resources with local ids, also by user name and password', async () => {
    const lambda = await remote.root.create(
      `${remoteTenant.environment}/lambdas`,
      lambdaBody(remoteTenant, 'live one'),
    );
    const api = await remote.root.create(`${remoteTenant.environment}/apis`, { name: `desk${number}` });
    await remote.root.create(`/root/apis/${api.id}/apiendpoints`, {
      name: 'ring',
      properties: { resource: '/ring', implementation_type: 'lambda', implementation_id: lambda.id },
    });
    const target = {
      path: `live${number}/ws/env/apis/desk${number}`,
      credentials: { user: 'root', password: remote.emulator.rootCredentials.password },
    };
    const { body, headers } = await copyResources('pull', target);
    expect(body.done).toEqual(['lambda live one', `api desk${number}`, `endpoint desk${number}/ring`]);
    const { newest } = (
      await send('GET', `${local.emulator.baseUrl}/inspect/history?limit=1`, { auth: rootPairOf(local) })
    ).body;
    expect(headers.get('x-terrarium-commit')).toBe([newest - 2, newest - 1, newest].join(', '));
    const pulledLambda = await lambdaNamed(local, localTenant, 'live one');
    expect(pulledLambda.properties.provider.id).toBe(localTenant.lambdas);
    expect((await send('POST', `${local.emulator.gatewayUrl}/desk${number}/ring`, { body: {} })).body).toBe('live one');
  });

  it.each<[string, typeof faultOf, number, RegExp]>([
    [
      'half a document',
      (_, path) => (path.includes('/lambdas') ? '[{"id": "a", "na' : undefined),
      502,
      /unexpected JSON/,
    ],
    [
      'records without a name',
      (_, path) => (path.includes('/lambdas') ? '[{"id": "a"}]' : undefined),
      502,
      /\/0\/name/,
    ],
    ['a page', () => '<html>', 502, /unexpected response/],
    ['a broken connection', (_, path) => (path.includes('/apis') ? 0 : undefined), 502, /incomplete/],
    ['a fault', (_, path) => (path.includes('/apis') ? 500 : undefined), 502, /failed with 500/],
    [
      'a fault with a long message',
      (_, path) => (path.includes('/apis') ? { message: 'x'.repeat(100_000) } : undefined),
      502,
      /failed with 500: x{500}$/,
    ],
    ['a no', () => 401, 400, /rejects these credentials/],
  ])('fails with a sentence and changes nothing if the response is %s', async (_, fault, expected, sentence) => {
    const { newest } = (
      await send('GET', `${local.emulator.baseUrl}/inspect/history?limit=1`, { auth: rootPairOf(local) })
    ).body;
    faultOf = fault;
    const { status, body } = await publish('plan', publishingRequest('pull')).finally(() => {
      faultOf = undefined;
    });
    expect([status, body.message]).toEqual([expected, expect.stringMatching(sentence)]);
    const after = await send('GET', `${local.emulator.baseUrl}/inspect/history?limit=1`, { auth: rootPairOf(local) });
    expect(after.body.newest).toBe(newest);
  });

  it('fails if the response is too large', async () => {
    const endless = createServer((_, res) => {
      const more = (): void => {
        while (!res.destroyed && res.write('x'.repeat(1_000_000)));
      };
      res.on('drain', more);
      more();
    });
    await new Promise<void>((resolve) => endless.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => {
      endless.close();
      endless.closeAllConnections();
    });
    const metaUrl = `http://127.0.0.1:${(endless.address() as AddressInfo).port}/meta`; // it listens on TCP
    const { status, body } = await publish('plan', publishingRequest('pull', { metaUrl }));
    expect([status, body.message]).toEqual([502, expect.stringContaining('the response has more than 64 MB')]);
  });

  it.each([
    ['wrong credentials', { credentials: { user: 'root', password: 'no' } }, 400, /rejects the user 'root'/],
    ['an environment that does not exist', { path: 'NEW/ws/other' }, 404, /no environment 'other'. Existing: env/],
    ['an invalid path', { path: 'live' }, 400, /is not a path of an environment/],
    ['a metadata address', { metaUrl: 'http://169.254.169.254/meta' }, 502, /setting linkLocalHosts/],
    ['an address that refuses connections', { metaUrl: 'http://127.0.0.1:2/meta' }, 502, /connection refused/],
  ])('fails with a sentence for %s', async (_, more, expected, sentence) => {
    const path = 'path' in more && { path: more.path.replace('NEW', `live${number}`) };
    const { status, body } = await publish('plan', publishingRequest('pull', { ...more, ...path }));
    expect([status, body.message]).toEqual([expected, expect.stringMatching(sentence)]);
  });

  it('requires the permission to create lambdas', async () => {
    const user = await local.root.create('/root/users', { name: 'guest', properties: { password: 'secret' } });
    const { body: pair } = await send('POST', `${local.emulator.securityUrl}/accounts/${user.id}/apiKeys`, {
      auth: rootPairOf(local),
      body: { orgId: (await local.root.get('/root')).body.id },
    });
    const auth = `Basic ${Buffer.from(`${pair.apiKey}:${pair.apiSecret}`).toString('base64')}`;
    const { status } = await send(
      'POST',
      `${local.emulator.baseUrl}/inspect/publishing/${localTenant.environmentId}/plan`,
      {
        auth,
        body: publishingRequest('pull'),
      },
    );
    expect(status).toBe(403);
  });
});
