import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Outcome } from '../model/invocation.ts';
import type { JsonObject } from '../model/json.ts';
import { type GatewayResponse, json, TestGateway, text } from '../testing/gateway.ts';
import { MemoryLog } from '../testing/memory-log.ts';
import type { StoredResult } from './async-results.ts';

const READER = { headers: { Authorization: 'Bearer reader' } };

let gateway: TestGateway;
beforeEach(async () => {
  gateway = await new TestGateway().start();
  gateway.caller('Bearer reader');
});
afterEach(() => gateway.stop());

const call = (body: unknown, headers: Record<string, string> = {}) =>
  gateway.send('POST', '/api/async', { body: typeof body === 'string' ? body : JSON.stringify(body), headers });
const result = (id: string): Promise<GatewayResponse> => gateway.send('GET', `/results/${id}`, READER);

/** An outcome that a test gives when it is time. */
function later(): { outcome: Promise<Outcome>; settle(outcome: Outcome): void } {
  let settle: (outcome: Outcome) => void = () => {};
  const outcome = new Promise<Outcome>((resolve) => {
    settle = resolve;
  });
  return { outcome, settle };
}

/** Resolves when everything accepted has ended: what a gateway does when it stops. */
async function allEnded(): Promise<void> {
  await gateway.stop();
  await gateway.start();
}

describe('POST /api/async (D-165)', () => {
  it('responds immediately with the id of the invocation, whose result can be read when it is available', async () => {
    const { outcome, settle } = later();
    const lambda = gateway.lambda(() => outcome);
    const event = { lambdaId: lambda.id.toUpperCase(), payload: { firstName: 'Ada' } };
    const accepted = await call(event);
    expect(accepted).toMatchObject({ status: 200, json: { lambdaId: gateway.calls[0]?.executionId } });
    const id = accepted.json.lambdaId;
    expect(accepted.headers).toMatchObject({ location: `/results/${id}`, 'x-terrarium-execution-id': id });
    expect(gateway.calls[0]).toMatchObject({ trigger: 'async', context: { method: 'POST', path: '', user: null } });
    expect(JSON.parse(Buffer.from(gateway.calls[0]?.body ?? []).toString())).toEqual(event);

    const pending = await result(id);
    expect(pending).toMatchObject({ status: 404, json: { code: 404, message: 'result not available yet' } });
    expect(pending.headers['retry-after']).toBe('1');

    gateway.nowMs += 5_000;
    settle(text('SUCCESS'));
    await allEnded();
    expect((await result(id)).json).toEqual({
      contentType: 'text/plain; charset=utf-8',
      executionId: id,
      executionTime: gateway.nowMs,
      lambdaId: lambda.id,
      result: 'SUCCESS',
    });
  });

  it('sends no response before the acceptance is durable', async () => {
    const log = new MemoryLog<StoredResult>();
    const slow = await new TestGateway({ limits: { drainTimeoutMs: 1 } }, log).start();
    let persist: () => void = () => {};
    const whenRequested = new Promise<void>((resolve) => {
      log.durable = () =>
        new Promise((done) => {
          persist = done;
          resolve();
        });
    });
    const lambda = slow.lambda(() => later().outcome);
    let isAnswered = false;
    const accepted = slow.send('POST', '/api/async', { body: JSON.stringify({ lambdaId: lambda.id }) }).then((got) => {
      isAnswered = true;
      return got;
    });
    await whenRequested;
    await slow.send('GET', '/anything'); // a whole exchange later
    expect(isAnswered).toBe(false);
    expect([...log.entries()]).toMatchObject([[expect.any(String), { state: 'pending' }]]);
    expect(slow.calls).toEqual([]);
    persist();
    expect((await accepted).status).toBe(200);
    await slow.stop();
  });

  it.each([
    ['no body', '', 400],
    ['malformed JSON', '{"lambdaId":', 400],
    ['an array', [{ lambdaId: randomUUID() }], 400],
    ['no lambdaId', { payload: 1 }, 400],
    ['a lambdaId that is not a UUID', { lambdaId: 'webform' }, 400],
    ['an inherited lambdaId', '{"__proto__":{"lambdaId":"11111111-1111-4111-8111-111111111111"}}', 400],
    ['an unknown lambda', { lambdaId: randomUUID() }, 404],
  ])('with %s is refused', async (_what, body, status) => {
    expect(await call(body)).toMatchObject({ status, json: { code: status } });
    expect(gateway.log.size).toBe(0);
  });

  it('takes POST alone, and lets any page call it', async () => {
    const wrong = await gateway.send('GET', '/api/async');
    expect(wrong.status).toBe(405);
    expect(wrong.headers.allow).toBe('POST');
    const headers = {
      Origin: 'http://form.test',
      'Access-Control-Request-Method': 'POST',
      'Access-Control-Request-Headers': 'authorization',
    };
    const preflight = await gateway.send('OPTIONS', '/api/async', { headers });
    expect(preflight.status).toBe(204);
    expect(preflight.headers).toMatchObject({
      'access-control-allow-origin': '*',
      'access-control-allow-headers': 'authorization',
    });
  });

  it('asks for credentials and the right when the lambda is not public', async () => {
    const lambda = gateway.lambda(() => text('x'), { public: false });
    const event = { lambdaId: lambda.id };
    expect((await call(event)).status).toBe(401);
    expect((await call(event, READER.headers)).status).toBe(403);
    gateway.rights.add(`lambda.invoke ${lambda.id}`);
    expect((await call(event, READER.headers)).status).toBe(200);
  });

  it('returns the same refusals as a synchronous call immediately', async () => {
    const lambda = gateway.lambda(() => text('x'));
    gateway.refusals.set(lambda.id, { ok: false, failure: 'busy', message: 'queue full', value: { kind: 'nothing' } });
    const got = await call({ lambdaId: lambda.id });
    expect(got).toMatchObject({ status: 503, json: { code: 503, message: 'queue full' } });
    expect(got.headers['retry-after']).toBe('1');
    expect(gateway.log.size).toBe(0);
  });

  it('gives way to an endpoint /async of an API named api, which is asynchronous by default, and to no other', async () => {
    const api = gateway.api('api');
    const [ownLambda, root] = [gateway.lambda(() => text('own')), gateway.lambda(() => text('root'))];
    gateway.endpoint(api, root, { resource: '/' });
    expect((await call({})).status).toBe(400);
    gateway.endpoint(api, ownLambda, { resource: '/async', methods: ['POST'] });
    const accepted = await call('any body');
    expect(accepted.json).toEqual({ lambdaId: gateway.calls[0]?.executionId });
    expect((await gateway.send('GET', '/api/async')).status).toBe(405);
    expect((await gateway.send('GET', '/api/other')).body).toBe('root');
  });

  it('invokes the lambda that the body names even if an endpoint has this path, and names the target in a header', async () => {
    const [named, ownLambda] = [gateway.lambda(() => text('named')), gateway.lambda(() => text('own'))];
    const api = gateway.api('api');
    const endpoint = gateway.endpoint(api, ownLambda, { resource: '/async', synchronous: false });
    const toLambda = await call({ lambdaId: named.id, payload: 1 });
    expect(toLambda.headers['x-terrarium-target']).toBe(`lambda ${named.id}`);
    await allEnded();
    expect((await result(toLambda.json.lambdaId)).json).toMatchObject({ lambdaId: named.id, result: 'named' });
    expect(gateway.traffic.at(-2)).not.toHaveProperty('endpointId', endpoint.id);

    for (const body of ['no JSON', '', { payload: 1 }, { lambdaId: randomUUID() }]) {
      const toEndpoint = await call(body);
      expect(toEndpoint.headers['x-terrarium-target']).toBe(`endpoint ${endpoint.id}`);
      await allEnded();
      expect((await result(toEndpoint.json.lambdaId)).json).toMatchObject({ lambdaId: ownLambda.id, result: 'own' });
    }
    expect(JSON.parse(Buffer.from(gateway.calls[3]?.body ?? []).toString())).toEqual({ payload: 1 });
  });

  it('asks for credentials of the lambda that the body names, not for those of the endpoint with this path', async () => {
    const closed = gateway.lambda(() => text('x'), { public: false });
    gateway.endpoint(
      gateway.api('api'),
      gateway.lambda(() => text('own')),
      { resource: '/async' },
    );
    expect((await call({ lambdaId: closed.id })).status).toBe(401);
    expect((await call({ n: 1 })).status).toBe(200);
  });

  it('exists for a path whose endpoint takes other methods only', async () => {
    const lambda = gateway.lambda(() => text('x'));
    gateway.endpoint(gateway.api('api'), lambda, { resource: '/async', methods: ['GET'] });
    expect((await call({ lambdaId: lambda.id })).status).toBe(200);
    expect((await call({})).status).toBe(400);
  });
});

describe('an asynchronous endpoint (D-164)', () => {
  const publish = (properties: JsonObject, lambda = gateway.lambda(() => text('x'))) =>
    gateway.endpoint(gateway.api('web'), lambda, { resource: '/later', synchronous: false, ...properties });

  it('answers with the id of the invocation', async () => {
    const endpoint = publish({});
    const got = await gateway.send('POST', '/web/later/x', { body: 'event' });
    expect(got).toMatchObject({ status: 200, json: { lambdaId: gateway.calls[0]?.executionId } });
    expect(gateway.calls[0]).toMatchObject({ trigger: 'async', context: { path: '/x', apiEndpointId: endpoint.id } });
  });

  it('still asks, limits and refuses', async () => {
    publish({ plugins: { rateLimit: { enabled: true, perMinute: 1 }, platformSecurity: { enabled: true } } });
    gateway.caller('Bearer root', { isRoot: true });
    const send = async (headers = {}) => (await gateway.send('GET', '/web/later', { headers })).status;
    expect(await send()).toBe(401);
    expect(await send({ Authorization: 'Bearer root' })).toBe(200);
    expect(await send({ Authorization: 'Bearer root' })).toBe(429);
  });

  it('is accepted though its client hangs up', async () => {
    publish({});
    await gateway.send('POST', '/web/later');
    await allEnded();
    expect((await result(gateway.calls[0]?.executionId ?? '')).status).toBe(200);
  });
});

describe('GET /results/{id}', () => {
  const run = async (outcome: Outcome, accept?: string) => {
    const lambda = gateway.lambda(() => outcome, {}, accept);
    const { json } = await call({ lambdaId: lambda.id });
    await allEnded();
    return { lambda, id: json.lambdaId };
  };

  it('takes a Bearer token alone', async () => {
    const { id } = await run(text('x'));
    gateway.caller('Basic pair', { scheme: 'basic' });
    for (const headers of [{}, { Authorization: 'Basic pair' }, { Authorization: 'Bearer wrong' }]) {
      const got = await gateway.send('GET', `/results/${id}`, { headers });
      expect(got.status).toBe(401);
      expect(got.headers['www-authenticate']).toMatch(
        /^Bearer realm="[^"]+"(, error="invalid_token", error_description="[^"]+")?$/,
      );
    }
  });

  it.each<[string, Outcome, string | undefined, object]>([
    ['an object', json({ a: 1 }), undefined, { contentType: 'application/json', result: '{"a":1}' }],
    ['nothing', { ok: true, value: { kind: 'nothing' } }, undefined, { result: '' }],
    ['text with Accept', text('<a/>'), 'text/xml', { contentType: 'text/xml', result: '<a/>' }],
    [
      'text with an Accept that is too long for a response',
      text('<a/>'),
      `text/xml;q=${'1'.repeat(5_000)}`,
      { contentType: 'text/plain; charset=utf-8', result: '<a/>' },
    ],
    [
      'an error with a text',
      { ok: false, failure: 'error', message: 'oh', value: { kind: 'text', bytes: Buffer.from('ERROR') } },
      undefined,
      { result: 'ERROR', error: 'oh' },
    ],
    [
      'an error with another value',
      { ok: false, failure: 'error', message: 'oh', value: { kind: 'json', bytes: Buffer.from('{}') } },
      undefined,
      { result: 'oh', error: 'oh' },
    ],
    [
      'a timeout',
      { ok: false, failure: 'timeout', message: 'too late', value: { kind: 'nothing' } },
      undefined,
      { result: 'too late', error: 'too late' },
    ],
  ])('gives %s as a string', async (_what, outcome, accept, expected) => {
    const { id } = await run(outcome, accept);
    const got = await result(id);
    expect(got).toMatchObject({ status: 200, json: expected });
    const members = ['contentType', 'executionId', 'executionTime', 'lambdaId', 'result'];
    expect(Object.keys(got.json).filter((name) => name !== 'error')).toEqual(members);
  });

  it("gives a lambda's latest result by the lambda's id, with lambda.view", async () => {
    const lambda = gateway.lambda(({ body }) => text(JSON.parse(Buffer.from(body).toString()).say));
    gateway.rights.add(`lambda.view ${lambda.id}`);
    expect((await result(lambda.id)).status).toBe(404);
    for (const greeting of ['first', 'second']) {
      await call({ lambdaId: lambda.id, say: greeting });
      await allEnded();
    }
    expect((await result(lambda.id)).json).toMatchObject({
      result: 'second',
      lambdaId: lambda.id,
      executionId: gateway.calls[1]?.executionId,
    });
    gateway.rights.clear();
    expect((await result(lambda.id)).status).toBe(403);
  });

  it('does not know strange ids, other paths and other methods', async () => {
    const unknown = await result(randomUUID());
    expect(unknown.status).toBe(404);
    expect(unknown.headers['retry-after']).toBeUndefined();
    expect((await result('latest')).status).toBe(400);
    expect((await gateway.send('GET', '/results')).status).toBe(404);
    expect((await gateway.send('GET', '/results/a/b')).status).toBe(404);
    expect((await gateway.send('DELETE', `/results/${randomUUID()}`)).headers.allow).toBe('GET, HEAD');
  });

  it('survives a restart; a pending result has failed', async () => {
    const { id } = await run(text('kept'));
    const { outcome, settle } = later();
    const lambda = gateway.lambda(() => outcome);
    const { json } = await call({ lambdaId: lambda.id });
    const next = await new TestGateway({ results: gateway.log }).start();
    next.callers.set('Bearer reader', next.caller('x'));
    expect((await next.send('GET', `/results/${id}`, READER)).json).toMatchObject({ result: 'kept' });
    const failed = await next.send('GET', `/results/${json.lambdaId}`, READER);
    expect(failed).toMatchObject({
      status: 200,
      json: { error: expect.stringContaining('stopped'), lambdaId: lambda.id },
    });
    await next.stop();
    settle(text('too late'));
  });
});

it('a failing log turns an acceptance into a 500 without details, and the lambda has not run', async () => {
  const lambda = gateway.lambda(() => text('x'));
  gateway.log.durable = () => Promise.reject(new Error('disk full at /secret'));
  const got = await call({ lambdaId: lambda.id });
  expect(got).toMatchObject({ status: 500, json: { code: 500, message: 'internal error' } });
  expect(String(gateway.faults[0])).toContain('disk full');
  expect(gateway.calls).toEqual([]);
});
