import { beforeAll, describe, expect, it } from 'vitest';
import { basic, send } from '../../testing/checked-client.ts';
import { refusal, sharedPlatform } from '../../testing/platform.ts';
import { type ResourceFactory, resourceFactoryFor } from '../../testing/resource-factory.ts';
import { type Body, createTenant, grant, makeUser, type Tenant } from '../../testing/tenant.ts';

const UNKNOWN_ID = '00000000-0000-4000-8000-000000000000';

const platform = sharedPlatform();
let acme: Tenant;
/** A lambda that is not called by any test. */
let lambda: Body;
let container: Body;
let make: ResourceFactory;
let rootKey: string;

const code = `exports.run = (event, context, callback) => {
  const { lines } = JSON.parse(event);
  for (let line = 1; line <= lines; line++) console.log('out ' + line);
  console.error('err');
  callback(null, 'done');
};`;

beforeAll(async () => {
  const { root, emulator } = platform;
  rootKey = basic(emulator.rootCredentials.apiKey, emulator.rootCredentials.apiSecret ?? '');
  acme = await createTenant(root, 'acme');
  make = resourceFactoryFor(root);
  lambda = await make.lambda(acme, { code });
  container = await make.container(acme);
});

/** Creates a lambda and calls it once. */
const makeTalker = async (lines: number): Promise<Body> => {
  const talker = await make.lambda(acme, { code });
  const endpoint = await make.endpoint(await make.api(acme), talker);
  const reply = await send('POST', endpoint.properties.public_url, { body: { lines } });
  expect(reply).toMatchObject({ status: 200, body: 'done' });
  return talker;
};
const log = (path: string, auth: string | undefined = rootKey) =>
  send('GET', `${platform.emulator.baseUrl}/log${path}`, { auth });

describe('GET {base_url}/log/lambda/{id} (D-191)', () => {
  it('is empty before the first call', async () => {
    expect(await log(`/lambda/${lambda.id}`)).toMatchObject({ status: 200, body: [] });
  });

  it('is 404 for another resource, and the message says what the id is of', async () => {
    const message = `lambda ${container.id} not found: ${container.id} is the id of a container`;
    expect((await log(`/lambda/${container.id}`)).body).toMatchObject({ reason: 'not_found', message });
  });

  it('is an array of the lambda’s output, newest last, with or without standard error', async () => {
    const { id } = await makeTalker(2);
    await expect.poll(async () => (await log(`/lambda/${id}`)).body).toHaveLength(3);
    const { body } = await log(`/lambda/${id.toUpperCase()}?stderr=true`);
    expect(body).toEqual(expect.arrayContaining(['out 1', 'out 2', 'err']));
    expect(body.indexOf('out 1')).toBeLessThan(body.indexOf('out 2'));
    expect((await log(`/lambda/${id}?stderr=false`)).body).toEqual(['out 1', 'out 2']);
  });

  it('is of the newest 1000 lines, or of all, or since a time', async () => {
    const { id } = await makeTalker(1200);
    const all = async () => (await log(`/lambda/${id}?time=all&stderr=false`)).body;
    await expect.poll(all).toHaveLength(1200);
    expect((await log(`/lambda/${id}?stderr=false`)).body).toHaveLength(1000);
    expect((await all()).at(-1)).toBe('out 1200');
    for (const [time, lines] of [
      ['1h', 1200],
      ['90m', 1200],
      ['2d', 1200],
      ['0s', 0],
      ['2020-01-01T00:00:00Z', 1200],
      ['2020-01-01', 1200],
      ['2999-01-01T00:00:00.000Z', 0],
      ['2999-01-01T00:00:00%2B01:00', 0],
    ] as const) {
      expect((await log(`/lambda/${id}?time=${time}&stderr=false`)).body, time).toHaveLength(lines);
    }
  });

  it.each([
    'time=yesterday',
    'time=',
    'time=5',
    'time=1y',
    'time=-1h',
    'time=2020-13-45',
    'stderr=no',
    'stderr=',
    'time=1h&time=2h',
  ])('?%s is 400', async (query) => {
    expect(await log(`/lambda/${lambda.id}?${query}`)).toMatchObject(refusal(400));
  });
});

describe('GET {base_url}/log/container/{id} (D-191, D-050)', () => {
  it('is 503 with Retry-After as long as there is no engine', async () => {
    const reply = await log(`/container/${container.id}`);
    expect(reply).toMatchObject({ status: 503, body: { code: 503, message: expect.stringContaining('engine') } });
    expect(reply.headers.get('retry-after')).toBe('5');
    expect(await log(`/container/${container.id}?stderr=no`)).toMatchObject(refusal(400));
    expect(await log(`/container/${container.id}?time=yesterday`)).toMatchObject(refusal(400));
  });
});

describe('who may read logs (D-118, D-181)', () => {
  it('no unknown users, and no users without the permission to view', async () => {
    const path = `/lambda/${lambda.id}`;
    const unknown = await send('GET', `${platform.emulator.baseUrl}/log${path}`);
    expect(unknown).toMatchObject(refusal(401));
    expect(unknown.headers.get('www-authenticate')).toMatch(/^Bearer realm=".*\/security\/root\/oauth\/issue"/);
    const { id } = await makeUser(platform, 'ada');
    const issued = await send('POST', `${platform.emulator.securityUrl}/root/oauth/issue`, {
      body: new URLSearchParams({ grant_type: 'password', username: 'ada', password: 'ada-secret' }),
    });
    const token = `Bearer ${issued.body.access_token}`;
    expect(await log(path, token)).toMatchObject({
      status: 403,
      body: { message: expect.stringContaining('lambda.view') },
    });
    // Users see leads only of lambdas that they may view.
    expect(await send('GET', `${platform.emulator.baseUrl}/inspect/leads`, { auth: token })).toMatchObject({
      status: 200,
      body: [],
    });
    await grant(platform.root, '/acme', 'lambda.view', id);
    expect(await log(path, token)).toMatchObject({ status: 200 });
  });

  it('an unknown id is 404, an invalid id 400, an unknown route 404', async () => {
    expect(await log(`/lambda/${UNKNOWN_ID}`)).toMatchObject(refusal(404));
    expect(await log(`/container/${lambda.id}`)).toMatchObject(refusal(404));
    expect(await log('/lambda/42')).toMatchObject(refusal(400));
    for (const path of ['', '/lambda', `/pod/${lambda.id}`, `/Lambda/${lambda.id}`, `/lambda/${lambda.id}/x`]) {
      expect((await log(path)).body).toEqual({ code: 404, reason: 'no_route', message: `no route: GET /log${path}` });
    }
    const posted = await send('POST', `${platform.emulator.baseUrl}/log/lambda/${lambda.id}`, { auth: rootKey });
    expect(posted).toMatchObject(refusal(404));
  });
});
