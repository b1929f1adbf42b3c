import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { ByteLog } from '../../storage/records/byte-log.ts';
import { basic, send } from '../../testing/checked-client.ts';
import { refusal, sharedPlatform } from '../../testing/platform.ts';
import { startRequestRecorder } from '../../testing/request-recorder.ts';
import { resourceFactoryFor } from '../../testing/resource-factory.ts';
import { type Body, createTenant, grant, lambdaBody, makeUser, type Tenant } from '../../testing/tenant.ts';

const code = `exports.run = (event, context, callback) => {
  const { fail, say } = JSON.parse(event);
  if (say) console.log(say);
  setTimeout(() => fail ? callback(new Error(fail)) : callback(null, { got: JSON.parse(event), who: JSON.parse(context).user?.name, api_key: 'k' }));
};`;

const platform = sharedPlatform();
let acme: Tenant;
let echo: Body;
let endpoint: Body;
let root: string;
let elsewhere: Tenant;

beforeAll(async () => {
  const { apiKey, apiSecret = '' } = platform.emulator.rootCredentials;
  root = basic(apiKey, apiSecret);
  acme = await createTenant(platform.root, 'acme');
  elsewhere = await createTenant(platform.root, 'other');
  echo = await platform.root.create(`${acme.environment}/lambdas`, lambdaBody(acme, 'echo', { code }));
  const api = await platform.root.create(`${acme.environment}/apis`, { name: 'web', properties: {} });
  endpoint = await platform.root.create(`/root/apis/${api.id}/apiendpoints`, {
    name: 'echo',
    properties: { resource: '/echo', implementation_type: 'lambda', implementation_id: echo.id },
  });
});

const inspect = (path: string, auth: string | undefined = root) =>
  send('GET', `${platform.emulator.baseUrl}/inspect${path}`, { auth });
const call = (event: object, headers: Record<string, string> = {}) =>
  send('POST', `${platform.emulator.gatewayUrl}/web/echo?page=2&token=t`, { body: event, headers });
const replay = (id: string, body?: object, auth = root) =>
  send('POST', `${platform.emulator.baseUrl}/inspect/invocations/${id}/replay`, { auth, ...(body && { body }) });
const newest = async () => (await inspect('/invocations?limit=1')).body.newest;
const idOf = ({ headers }: { headers: Headers }) => headers.get('x-terrarium-execution-id') ?? '';

describe('GET /inspect/invocations', () => {
  it('lists in pages, filters by query, lambda and scope, and reports newer records', async () => {
    const before = await newest();
    await call({ n: 1 });
    const failed = await call({ n: 2, fail: 'no such lead', say: 'looking' });
    await call({ n: 3 });
    const find = async (query: string) =>
      (await inspect(`/invocations?after=${before}&${query}`)).body.invocations.map(
        ({ executionId }: { executionId: string }) => executionId,
      );
    const all = await find('');
    expect(all).toHaveLength(3);
    for (const status of ['error', 'failed']) expect(await find(`q=status:${status}`)).toEqual([idOf(failed)]);
    expect(await find('q=http:500')).toEqual([idOf(failed)]);
    expect(await find('q=log:looking')).toEqual([idOf(failed)]);
    expect(await find('q=lead')).toEqual([idOf(failed)]);
    expect(await find('q=looking')).toEqual([idOf(failed)]);
    expect(await find(`q=${encodeURIComponent('"\\"n\\":3"')}`)).toEqual(all.slice(0, 1));
    expect(await find('q=path:/web/echo')).toEqual(all);
    expect(await find('q=time:>10m status:ok')).toEqual([all[0], all[2]]);
    expect(await find('q=time:<10m')).toEqual([]);
    expect(await find(`q=${encodeURIComponent('event:"\\"n\\":3"')}`)).toEqual(all.slice(0, 1));
    expect(await find(`q=-status:error lambda:echo&lambda=${echo.id}`)).toEqual([all[0], all[2]]);
    expect(await find(`lambda=${randomUUID()}`)).toEqual([]);
    expect(await find(`scope=${acme.organizationId}`)).toEqual(all);
    expect(await find(`scope=${elsewhere.organizationId}`)).toEqual([]);
    const page = await inspect('/invocations?limit=2');
    expect(page.body.invocations).toHaveLength(2);
    expect(await find(`limit=2&before=${page.body.next}`)).toEqual(all.slice(2));
    expect(await find(`after=${before + 2}`.replace('after', 'limit=9&before'))).toEqual(all.slice(2));
  });

  it('shows what runs while it runs', async () => {
    const [recorder, make] = [await startRequestRecorder(), resourceFactoryFor(platform.root)];
    const lambda = await make.lambda(acme, { code: recorder.code });
    const { properties } = await make.endpoint(await make.api(acme), lambda);
    const release = recorder.suspend();
    const running = send('POST', properties.public_url, { body: {} });
    await recorder.take(1);
    expect((await inspect('/invocations')).body.running).toMatchObject([
      { lambdaId: lambda.id, lambdaName: lambda.name, trigger: 'gateway', acceptedAt: expect.any(String) },
    ]);
    release();
    await running;
    expect((await inspect('/invocations')).body.running).toEqual([]);
    await recorder.stop();
  });

  it.each([
    ['q=status', 200],
    ['q=colour:red', 400],
    ['q=dur:>x', 400],
    ['limit=0', 400],
    ['after=-1', 400],
    ['before=x', 400],
    ['scope=x', 400],
    ['limit=1&limit=2', 400],
  ])('answers ?%s with %i', async (query, status) => {
    expect((await inspect(`/invocations?${query}`)).status).toBe(status);
  });

  it('is for those who may see the root organization', async () => {
    expect(await inspect('/invocations', 'Bearer none')).toMatchObject(refusal(401));
  });
});

it('a chain of calls reads as one trace: requests, invocations and outbound calls', async () => {
  const chain = `exports.run = () => fetch('${platform.emulator.gatewayUrl}/web/echo', { method: 'POST', body: '{}' }).then((r) => r.status)`;
  const outer = await platform.root.create(`${acme.environment}/lambdas`, lambdaBody(acme, 'outer', { code: chain }));
  const invoke = `${platform.emulator.baseUrl}/inspect/lambdas/${outer.id}/invoke`;
  const { executionId } = (await send('POST', invoke, { auth: root })).body;
  const { body: first } = await inspect(`/invocations/${executionId}`);
  const { traceId } = first;
  expect(traceId).toBe(executionId.replaceAll('-', ''));
  expect(first.outbound).toMatchObject([{ traceId }]);
  expect([first.startedAt, first.outbound[0].startedAt]).toEqual([0, 1].map(() => expect.stringMatching(/\.\d{4}Z$/)));
  const q = `q=trace:${traceId}`;
  const { invocations } = (await inspect(`/invocations?${q}`)).body;
  expect(invocations.map(({ lambdaName }: Body) => lambdaName).sort()).toEqual(['echo', 'outer']);
  const { requests } = (await inspect(`/traffic?${q}`)).body;
  expect(requests).toMatchObject([{ target: '/web/echo' }]);
  expect((await inspect(`/traffic/${requests[0].seq}`)).body).toMatchObject({ traceId });
});

it('calls and lines of all lambdas are lists of their own, which can be asked like that of invocations', async () => {
  const code = `exports.run = async () => { console.log('asking'); console.error('twice'); const to = '${platform.emulator.gatewayUrl}/nowhere?token=hunter2';
    await fetch(to); return (await fetch(to, { method: 'POST', body: 'some words' })).status }`;
  const asker = await platform.root.create(`${acme.environment}/lambdas`, lambdaBody(acme, 'asker', { code }));
  const invoke = `${platform.emulator.baseUrl}/inspect/lambdas/${asker.id}/invoke`;
  const { executionId } = (await send('POST', invoke, { auth: root })).body;
  const traceId = executionId.replaceAll('-', '');
  const calls = async (query: string) => (await inspect(`/outbound-calls?lambda=${asker.id}&${query}`)).body;
  const { calls: all } = await calls('');
  expect(all).toMatchObject([
    { method: 'POST', status: 404, executionId, lambdaName: 'asker', traceId },
    { method: 'GET', url: expect.stringContaining('/nowhere?token=%3Chidden%3E') },
  ]);
  const [post, get] = all;
  const found = async (query: string) => (await calls(query)).calls.map(({ seq }: { seq: number }) => seq);
  expect(await found('q=is:failed')).toEqual([post.seq]); // a GET with the response 404 has not failed
  expect(await found(`q=trace:${traceId} method:get time:>10m`)).toEqual([get.seq]);
  expect(await found('q=some words')).toEqual([post.seq]);
  expect(await found('q=hunter2')).toEqual([]);
  const page = await calls('limit=1');
  expect(page.calls).toEqual([post]);
  expect(await found(`before=${page.next}`)).toEqual([get.seq]);
  expect(await found(`after=${get.seq}`)).toEqual([post.seq]);
  expect(await found(`after=${page.newest}`)).toEqual([]);
  const read = vi.spyOn(ByteLog.prototype, 'read');
  expect(await found('q=is:warned')).toEqual([]);
  expect(read).not.toHaveBeenCalled(); // the index tells which calls have a warning
  read.mockRestore();
  const lines = async (query: string) =>
    (await inspect(`/log-lines?lambda=${asker.id}&${query}`)).body.lines.map(({ text }: { text: string }) => text);
  expect(await lines(`q=id:${executionId}`)).toEqual(['twice', 'asking']);
  expect(await lines(`q=trace:${traceId} stream:stderr time:>10m`)).toEqual(['twice']);
  expect(await lines('q=asking -stream:stderr')).toEqual(['asking']);
  for (const path of ['/outbound-calls', '/log-lines'])
    expect((await inspect(`${path}?q=colour:red`)).status).toBe(400);
});

describe('GET /inspect/invocations/{id}', () => {
  it('shows the event, the log, the result, and the request with the steps of its way; no credentials', async () => {
    const id = idOf(await call({ n: 7, say: 'hello', password: 'hunter2' }, { Authorization: root, 'X-Page': 'p' }));
    const { body } = await inspect(`/invocations/${id}`);
    expect(body).toMatchObject({
      executionId: id,
      event: {
        method: 'POST',
        path: '',
        params: { page: ['2'], token: ['<hidden>'] },
        headers: { authorization: 'Basic <hidden>', 'x-page': 'p' },
        user: { name: 'root' },
        body: { text: '{"n":7,"say":"hello","password":"<hidden>"}' },
      },
      outcome: { ok: true, result: { got: { n: 7, password: '<hidden>' }, who: 'root', api_key: '<hidden>' } },
      logs: [{ text: 'hello' }],
      request: {
        plane: 'gateway',
        method: 'POST',
        target: '/web/echo?page=2&token=%3Chidden%3E',
        status: 200,
        endpointId: endpoint.id,
        request: { body: { text: expect.stringContaining('"n":7') } },
        response: { body: { text: expect.stringContaining('"who":"root"') } },
      },
    });
    expect(body.request.steps.map(({ name }: { name: string }) => name)).toEqual(
      expect.arrayContaining(['route', 'auth', 'body', 'upstream']),
    );
    const after = body.request.steps.map(({ afterMs }: { afterMs: number }) => afterMs);
    expect(after).toEqual(after.toSorted((a: number, b: number) => a - b));
    expect(JSON.stringify(body)).not.toMatch(/hunter2|"t"/);
    expect(JSON.stringify(body)).not.toContain(root.slice('Basic '.length));
  });

  it('knows none that is not kept', async () => {
    expect(await inspect(`/invocations/${randomUUID()}`)).toMatchObject(refusal(404));
  });
});

describe('POST /inspect/invocations/{id}/replay', () => {
  it('runs it again with the same event, in the name of the one who asks', async () => {
    const id = idOf(await call({ n: 8, password: 'hunter2' }));
    const { status, body } = await replay(id);
    expect([status, body.replayOf, body.trigger]).toEqual([200, id, 'manual']);
    // What was hidden was not lost.
    expect(body.outcome.result).toMatchObject({ got: { n: 8, password: 'hunter2' }, who: 'root' });
    expect((await inspect(`/invocations/${body.executionId}`)).body).toMatchObject({
      replayOf: id,
      event: { method: 'POST', params: { page: ['2'] } },
    });
  });

  it('runs it with another event', async () => {
    const id = idOf(await call({ n: 9, fail: 'no' }));
    const { body } = await replay(id, { event: { n: 10 } });
    expect(body.outcome).toMatchObject({ ok: true, result: { got: { n: 10 } } });
  });

  it('takes the right lambda.invoke, and an invocation that is kept', async () => {
    const id = idOf(await call({ n: 11 }));
    const { id: adaId } = await makeUser(platform, 'ada');
    const { lambdaId } = (await inspect(`/invocations/${id}`)).body;
    const form = new URLSearchParams({ grant_type: 'password', username: 'ada', password: 'ada-secret' });
    const issued = await send('POST', `${platform.emulator.securityUrl}/root/oauth/issue`, { body: form });
    const ada = `Bearer ${issued.body.access_token}`;
    expect(await inspect(`/invocations/${id}`, ada)).toMatchObject(refusal(404));
    await grant(platform.root, `/acme/lambdas/${lambdaId}`, 'lambda.view', adaId);
    expect((await inspect(`/invocations/${id}`, ada)).status).toBe(200);
    expect(await replay(id, undefined, ada)).toMatchObject(refusal(403));
    expect(await replay(randomUUID())).toMatchObject(refusal(404));
    expect(await replay(id, { evnt: 1 })).toMatchObject(refusal(400));
  });
});

describe('GET /inspect/traffic', () => {
  it('has requests of both planes, but not those of the window', async () => {
    const { newest: before } = (await inspect('/traffic')).body;
    await call({ n: 12 });
    await platform.root.get('/acme');
    await platform.root.send('GET', '/acme', { headers: { 'X-Terrarium-Client': 'ui' } });
    await send('GET', `${platform.emulator.baseUrl}/ui/`);
    const { requests } = (await inspect(`/traffic?after=${before}`)).body;
    expect(requests).toMatchObject([
      { plane: 'control', method: 'GET', target: '/meta/acme', status: 200, userId: expect.any(String) },
      { plane: 'gateway', method: 'POST', status: 200, endpointId: endpoint.id },
    ]);
    expect((await inspect(`/traffic?after=${before}&plane=gateway`)).body.requests).toHaveLength(1);
    expect((await inspect(`/traffic?after=${before}&q=path:acme`)).body.requests).toHaveLength(1);
    expect((await inspect(`/traffic?after=${before}&endpoint=${endpoint.id}`)).body.requests).toHaveLength(1);
    expect((await inspect(`/traffic?after=${before}&scope=${acme.organizationId}`)).body.requests).toHaveLength(1);
    expect(await inspect('/traffic?plane=air')).toMatchObject(refusal(400));
  });

  it('says who made a request, also one that ended its own credentials, and one that no service was asked', async () => {
    const { id } = await makeUser(platform, 'kim');
    const form = new URLSearchParams({ grant_type: 'password', username: 'kim', password: 'kim-secret' });
    const { access_token: token } = (
      await send('POST', `${platform.emulator.securityUrl}/root/oauth/issue`, { body: form })
    ).body;
    const { newest: before } = (await inspect('/traffic')).body;
    const kim = { auth: `Bearer ${token}` };
    const ofKim = async () => (await inspect(`/traffic?after=${before}`)).body.requests;
    expect(await send('GET', `${platform.emulator.baseUrl}/nowhere`, kim)).toMatchObject(refusal(404));
    expect((await send('DELETE', `${platform.emulator.securityUrl}/accessTokens/${token}`, kim)).status).toBe(200);
    expect((await send('GET', `${platform.emulator.metaUrl}/root`, kim)).status).toBe(401);
    expect((await ofKim()).map(({ status, userId }: { status: number; userId?: string }) => [status, userId])).toEqual([
      [401, undefined],
      [200, id],
      [404, id],
    ]);
  });

  it('shows one with headers and bodies, and no secrets', async () => {
    const { newest: before } = (await inspect('/traffic')).body;
    await platform.root.post('/root/users', { name: 'eve', properties: { password: 'hunter2' } });
    const form = new URLSearchParams({ grant_type: 'password', username: 'eve', password: 'hunter2' });
    await send('POST', `${platform.emulator.securityUrl}/root/oauth/issue`, { body: form });
    const [issued, createRequest] = (await inspect(`/traffic?after=${before}`)).body.requests;
    const { body: create } = await inspect(`/traffic/${createRequest.seq}`);
    expect(create.request.body.text).toContain('"password":"<hidden>"');
    expect(create.request.headers).toContainEqual(['Authorization', 'Basic <hidden>']);
    const { body: token } = await inspect(`/traffic/${issued.seq}`);
    expect(token.request.body.text).toContain('username=eve&password=%3Chidden%3E');
    expect(token.response.body.text).toMatch(/"access_token":"<hidden>"/);
    expect(JSON.stringify([create, token])).not.toContain('hunter2');
    expect(await inspect('/traffic/999999')).toMatchObject(refusal(404));
    expect(await inspect('/traffic/x')).toMatchObject(refusal(404));
  });
});

describe('POST /inspect/requests', () => {
  const sending = (body: object) => send('POST', `${platform.emulator.baseUrl}/inspect/requests`, { auth: root, body });

  it('goes through the gateway like any other request, in the name of the one who asks if he wants that', async () => {
    const echoRequest = { method: 'POST', path: '/web/echo?page=7', headers: [['Content-Type', 'application/json']] };
    const answer = await sending({ ...echoRequest, body: '{"n":1}', asMe: true });
    expect(answer).toMatchObject({ status: 200, body: { status: 200, body: expect.stringContaining('"n":1') } });
    expect(JSON.parse(answer.body.body).who).toBe('root');
    const { requests } = (await inspect('/traffic?plane=gateway&limit=1')).body;
    expect(requests).toMatchObject([{ target: '/web/echo?page=7', executionId: answer.body.executionId }]);
    const unsigned = await sending({ ...echoRequest, body: '{}' });
    expect(JSON.parse(unsigned.body.body).who).toBeUndefined();
    expect((await sending({ method: 'GET', path: '/nowhere' })).body).toMatchObject({ status: 404 });
  });

  it('goes nowhere else', async () => {
    for (const path of ['http://127.0.0.1/', '//127.0.0.1/', '']) {
      expect(await sending({ method: 'GET', path })).toMatchObject(refusal(400));
    }
  });
});
