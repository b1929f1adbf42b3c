import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { logIn, rootPairOf } from '../server/testing/account.ts';
import { bearer, send } from '../server/testing/checked-client.ts';
import { type ApiClient, type Platform, refusal, startPlatform } from '../server/testing/platform.ts';
import { type RequestRecorder, startRequestRecorder } from '../server/testing/request-recorder.ts';
import { type ResourceFactory, resourceFactoryFor } from '../server/testing/resource-factory.ts';
import { type Body, createTenant, grant, type Tenant } from '../server/testing/tenant.ts';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const UNKNOWN_ID = '00000000-0000-4000-8000-000000000000';
const TEXT = 'text/plain; charset=utf-8';

let platform: Platform;
let root: ApiClient;
let acme: Tenant;
let make: ResourceFactory;
let recorder: RequestRecorder;
let rootToken: string;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'terrarium-async-'));
  recorder = await startRequestRecorder();
  platform = await startPlatform({
    data: path.join(folder, 'data'),
    fsync: 'always',
    limits: { lambdaProcesses: 1, lambdaQueue: 1 },
  });
  root = platform.root;
  make = resourceFactoryFor(root);
  acme = await createTenant(root, 'acme');
  rootToken = await tokenOf('root');
});
afterAll(async () => {
  await platform?.stop();
  await recorder?.stop();
  await rm(folder, { recursive: true, force: true });
});

const tokenOf = async (username: string, password?: string) =>
  bearer((await logIn(platform, 'root', username, password)).body.access_token);
const call = (path: string, options?: Parameters<typeof send>[2], method = 'POST') =>
  send(method, platform.emulator.gatewayUrl + path, options);
const result = (id: string, auth: string | undefined = rootToken, at = platform) =>
  send('GET', `${at.emulator.gatewayUrl}/results/${id}`, { auth });

/** Creates a lambda with an asynchronous endpoint `/e` of a new API. */
async function publish(code: string, properties: object = {}, endpointProperties: object = {}) {
  const lambda = await make.lambda(acme, { code, ...properties });
  const api = await make.api(acme);
  const endpoint = await make.endpoint(api, lambda, { synchronous: false, ...endpointProperties });
  return { lambda, endpoint, path: `/${api.name}/e` };
}

async function finished(id: string): Promise<Body> {
  await expect.poll(async () => (await result(id)).status).toBe(200);
  return (await result(id)).body;
}

describe('an asynchronous endpoint (D-164, D-166, D-168)', () => {
  it('responds immediately with the id of the result, which is available when the lambda has ended', async () => {
    const { lambda, path } = await publish(recorder.code);
    const release = recorder.suspend();
    const accepted = await call(path, { body: { n: 1 } });
    const { lambdaId: id } = accepted.body;
    expect(accepted).toMatchObject({ status: 200, body: { lambdaId: expect.stringMatching(UUID) } });
    expect(id).not.toBe(lambda.id);
    expect(accepted.headers.get('location')).toBe(`/results/${id}`);
    expect(accepted.headers.get('x-terrarium-execution-id')).toBe(id);
    expect(await recorder.take(1)).toEqual([{ n: 1 }]);
    const pending = await result(id);
    expect(pending.body).toEqual({ code: 404, reason: 'result_pending', message: 'result not available yet' });
    expect(pending.headers.get('retry-after')).toBe('1');
    const releasedAtMs = Date.now();
    release();
    const body = await finished(id);
    expect(body).toEqual({
      contentType: TEXT,
      executionId: id,
      executionTime: expect.any(Number),
      lambdaId: lambda.id,
      result: 'reported',
    });
    expect(body.executionTime).toBeGreaterThanOrEqual(releasedAtMs);
  });

  it.each([
    ['() => ({ a: 1 })', {}, { contentType: 'application/json', result: '{"a":1}' }],
    ['() => undefined', {}, { contentType: TEXT, result: '' }],
    [
      '() => Buffer.from([0, 255])',
      {},
      { contentType: 'application/octet-stream', result: 'AP8=', isBase64Encoded: true },
    ],
    ["() => 'a,b'", { headers: { Accept: 'text/csv' } }, { contentType: 'text/csv', result: 'a,b' }],
    ["(event, context, callback) => callback('wrong', 'ERROR')", {}, { result: 'ERROR', error: 'wrong' }],
    ["() => { throw new Error('wrong'); }", {}, { result: 'wrong', error: 'wrong' }],
    [
      '(event, context, callback) => { setInterval(() => {}, 20); }',
      { timeout: 1 },
      { error: expect.stringContaining('1 s') },
    ],
    ['() => process.exit(1)', {}, { error: expect.stringContaining('exit') }],
    ['() =>', {}, { error: expect.stringContaining('syntax error') }],
  ])('keeps the result of %s (D-167)', async (handler, properties, expected) => {
    const { path } = await publish(`exports.run = ${handler}`, properties);
    const body = await finished((await call(path)).body.lambdaId);
    expect(body).toMatchObject(expected);
    expect(Object.keys(body)).toHaveLength('error' in expected || 'isBase64Encoded' in expected ? 6 : 5);
    if (body.error && body.result !== 'ERROR') expect(body.result).toBe(body.error);
  });

  it('refuses like a synchronous one: an unsupported runtime, a deleted lambda, a full queue', async () => {
    expect((await call((await publish('pass', { runtime: 'python' })).path)).status).toBe(501);
    const { lambda, path } = await publish(recorder.code);
    const release = recorder.suspend();
    const [running, waiting] = [await call(path, { body: 1 }), await call(path, { body: 2 })];
    const full = await call(path, { body: 3 });
    expect(full).toMatchObject(refusal(503));
    expect(full.headers.get('retry-after')).toBe('1');
    const synchronous = await make.endpoint(await make.api(acme), lambda);
    const syncWhenFull = await send('GET', synchronous.properties.public_url);
    expect(syncWhenFull).toMatchObject(refusal(503));
    expect(syncWhenFull.headers.get('retry-after')).toBe('1');
    release();
    for (const { body } of [running, waiting]) expect(await finished(body.lambdaId)).not.toHaveProperty('error');
    await recorder.take(2);

    const releaseNext = recorder.suspend();
    const interrupted = await call(path, { body: 4 });
    await recorder.take(1);
    await root.delete(`/acme/lambdas/${lambda.id}`);
    expect(await finished(interrupted.body.lambdaId)).toMatchObject({ lambdaId: lambda.id, error: expect.any(String) });
    releaseNext();
    expect(await call(path)).toMatchObject(refusal(503));
    expect((await finished(running.body.lambdaId)).result).toBe('reported');
    expect((await result(lambda.id)).status).toBe(404);
  });
});

describe('GET /results/{id} (D-166, D-168, D-169)', () => {
  it('accepts any valid Bearer token and nothing else', async () => {
    const { path } = await publish('exports.run = () => 1;');
    const { lambdaId: id } = (await call(path)).body;
    await finished(id);
    await root.create('/root/users', { name: 'reader', properties: { password: 'secret' } });
    expect((await result(id, await tokenOf('reader'))).status).toBe(200);
    for (const auth of ['', rootPairOf(platform), 'Bearer unknown']) {
      const refused = await result(id, auth);
      expect(refused).toMatchObject(refusal(401));
      expect(refused.headers.get('www-authenticate')).toMatch(/^Bearer realm=/);
      expect(refused.headers.get('access-control-allow-origin')).toBe('*');
    }
    const unknown = await result(UNKNOWN_ID);
    expect(unknown).toMatchObject(refusal(404));
    expect(unknown.headers.get('retry-after')).toBeNull();
    expect(await result('no-id')).toMatchObject(refusal(400));
  });

  it('returns the latest result of a lambda by its id, to users who can view it', async () => {
    const { lambda, path } = await publish('exports.run = (event) => event;');
    expect(await result(lambda.id)).toMatchObject(refusal(404));
    for (const text of ['one', 'two']) await finished((await call(path, { body: text })).body.lambdaId);
    expect((await result(lambda.id)).body).toMatchObject({ lambdaId: lambda.id, result: 'two' });
    const { id } = await root.create('/root/users', { name: 'viewer', properties: { password: 'secret' } });
    const token = await tokenOf('viewer');
    expect(await result(lambda.id, token)).toMatchObject(refusal(403));
    await grant(root, `/acme/lambdas/${lambda.id}`, 'lambda.view', id);
    expect((await result(lambda.id, token)).status).toBe(200);
  });
});

describe('POST /api/async (D-165)', () => {
  it('invokes the lambda that the body names, with the whole body', async () => {
    const lambda = await make.lambda(acme, { code: 'exports.run = (event) => event;' });
    const text = `{ "lambdaId": "${lambda.id.toUpperCase()}", "payload": 1 }`;
    const { body } = await call('/api/async', { body: text });
    expect((await finished(body.lambdaId)).result).toBe(text);
  });

  it.each([
    [400, 'no JSON'],
    [400, '[]'],
    [400, '{"lambdaId":7}'],
    [404, `{"lambdaId":"${UNKNOWN_ID}"}`],
  ])('is %i for %s', async (status, body) => {
    expect(await call('/api/async', { body })).toMatchObject(refusal(status));
  });

  it('belongs to the endpoint /async of an API api if one exists, and to no other', async () => {
    expect(await call('/api/async', {}, 'GET')).toMatchObject(refusal(405));
    const api = await root.create(`${acme.environment}/apis`, { name: 'api' });
    const lambda = await make.lambda(acme, { code: 'exports.run = (event) => event;' });
    await make.endpoint(api, lambda, { resource: '/' });
    expect(await call('/api/async', { body: { n: 1 } })).toMatchObject(refusal(400));
    expect((await call('/api/other', { body: { n: 1 } })).body).toBe('{"n":1}');

    const properties = { resource: '/async', implementation_type: 'lambda', implementation_id: lambda.id };
    const endpoint = await root.create(`/acme/apis/${api.id}/apiendpoints`, { name: 'async', properties });
    const accepted = await call('/api/async', { body: { n: 1 } });
    expect(accepted.body).toEqual({ lambdaId: expect.stringMatching(UUID) });
    expect(await finished(accepted.body.lambdaId)).toMatchObject({ lambdaId: lambda.id, result: '{"n":1}' });
    await root.patch(`/acme/apiendpoints/${endpoint.id}`, [
      { op: 'add', path: '/properties/synchronous', value: true },
    ]);
    expect((await call('/api/async', { body: { n: 2 } }, 'PUT')).body).toBe('{"n":2}');
    await root.delete(`/acme/apiendpoints/${endpoint.id}`);
    expect(await call('/api/async', { body: { n: 1 } })).toMatchObject(refusal(400));
  });
});

describe('after the platform was killed during an invocation (D-168)', () => {
  it('a finished result is available, and an unfinished one is a failed result', async () => {
    const ended = await publish('exports.run = () => 1;');
    const { lambdaId: endedId } = (await call(ended.path)).body;
    await finished(endedId);
    const { lambda, path: cut } = await publish(recorder.code);
    const release = recorder.suspend();
    const { lambdaId: cutId } = (await call(cut, { body: 1 })).body;
    await recorder.take(1);
    // As after a power failure.
    await cp(path.join(folder, 'data'), path.join(folder, 'copy'), { recursive: true });
    const after = await startPlatform({ data: path.join(folder, 'copy') });
    try {
      expect((await result(endedId, rootToken, after)).body).toEqual((await result(endedId)).body);
      const { status, body } = await result(cutId, rootToken, after);
      expect({ status, body }).toMatchObject({ status: 200, body: { executionId: cutId, lambdaId: lambda.id } });
      expect(body.error).toBe(body.result);
      expect((await result(lambda.id, rootToken, after)).body).toEqual(body);
    } finally {
      await after.stop();
      release();
    }
    expect(await finished(cutId)).toMatchObject({ result: 'reported' });
  });
});
