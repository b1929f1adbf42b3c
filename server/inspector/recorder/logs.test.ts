import { beforeAll, describe, expect, it } from 'vitest';
import { basic, send } from '../../testing/checked-client.ts';
import { refusal, sharedPlatform } from '../../testing/platform.ts';
import {
  type Body,
  containerBody,
  createTenant,
  grant,
  lambdaBody,
  makeUser,
  type Tenant,
} from '../../testing/tenant.ts';

const UNKNOWN_ID = '00000000-0000-4000-8000-000000000000';

const platform = sharedPlatform();
let acme: Tenant;
let lambda: Body;
let container: Body;
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
  lambda = await root.create(`${acme.environment}/lambdas`, lambdaBody(acme, 'talker', { code }));
  container = await root.create(`${acme.environment}/containers`, containerBody(acme, 'web'));
  const api = await root.create(`${acme.environment}/apis`, { name: 'site' });
  const properties = { resource: '/talk', implementation_type: 'lambda', implementation_id: lambda.id };
  await root.create(`/acme/apis/${api.id}/apiendpoints`, { name: 'talk', properties });
});

const talk = async (lines: number) => {
  const reply = await send('POST', `${platform.emulator.gatewayUrl}/site/talk`, { body: { lines } });
  expect(reply).toMatchObject({ status: 200, body: 'done' });
};
const log = (path: string, auth: string | undefined = rootKey) =>
  send('GET', `${platform.emulator.baseUrl}/log${path}`, { auth });

describe('GET {base_url}/log/lambda/{id} (D-191)', () => {
  it('is empty before the first call', async () => {
    expect(await log(`/lambda/${lambda.id}`)).toMatchObject({ status: 200, body: [] });
  });

  it('is an array of the lambda’s output, newest last, with or without standard error', async () => {
    await talk(2);
    await expect.poll(async () => (await log(`/lambda/${lambda.id}`)).body).toHaveLength(3);
    const { body } = await log(`/lambda/${lambda.id.toUpperCase()}?stderr=true`);
    expect(body).toEqual(expect.arrayContaining(['out 1', 'out 2', 'err']));
    expect(body.indexOf('out 1')).toBeLessThan(body.indexOf('out 2'));
    expect((await log(`/lambda/${lambda.id}?stderr=false`)).body).toEqual(['out 1', 'out 2']);
  });

  it('is of the newest 1000 lines, or of all, or since a time', async () => {
    await talk(1200);
    const all = async () => (await log(`/lambda/${lambda.id}?time=all&stderr=false`)).body;
    await expect.poll(all).toHaveLength(1202);
    expect((await log(`/lambda/${lambda.id}?stderr=false`)).body).toHaveLength(1000);
    expect((await all()).at(-1)).toBe('out 1200');
    for (const [time, lines] of [
      ['1h', 1202],
      ['90m', 1202],
      ['2d', 1202],
      ['0s', 0],
      ['2020-01-01T00:00:00Z', 1202],
      ['2020-01-01', 1202],
      ['2999-01-01T00:00:00.000Z', 0],
      ['2999-01-01T00:00:00%2B01:00', 0],
    ] as const) {
      expect((await log(`/lambda/${lambda.id}?time=${time}&stderr=false`)).body, time).toHaveLength(lines);
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
      expect((await log(path)).body).toEqual({ code: 404, message: `no route: GET /log${path}` });
    }
    const posted = await send('POST', `${platform.emulator.baseUrl}/log/lambda/${lambda.id}`, { auth: rootKey });
    expect(posted).toMatchObject(refusal(404));
  });
});
