import { beforeAll, describe, expect, it } from 'vitest';
import { makeAccount } from '../../testing/account.ts';
import { basic, send } from '../../testing/checked-client.ts';
import { refusal, sharedPlatform } from '../../testing/platform.ts';
import { type Body, createTenant, grant, lambdaBody, type Tenant } from '../../testing/tenant.ts';

/** Returns who called, and headers that the platform must remove. */
const CODE = `exports.run = (event, context, callback) => {
  const { user, creds } = JSON.parse(context);
  callback(null, { who: user && user.name, said: creds, scheme: creds.split(' ')[0] });
};`;

const platform = sharedPlatform();
let acme: Tenant;
let root: string;
let ada: { id: string; bearer: string };

beforeAll(async () => {
  const { apiKey, apiSecret = '' } = platform.emulator.rootCredentials;
  root = basic(apiKey, apiSecret);
  acme = await createTenant(platform.root, 'acme');
  ada = await makeAccount(platform, 'ada');
  const echo = await platform.root.create(`${acme.environment}/lambdas`, lambdaBody(acme, 'echo', { code: CODE }));
  const api = await platform.root.create(`${acme.environment}/apis`, { name: 'web', properties: {} });
  await platform.root.create(`/root/apis/${api.id}/apiendpoints`, {
    name: 'echo',
    properties: {
      resource: '/echo',
      implementation_type: 'lambda',
      implementation_id: echo.id,
      plugins: { platformSecurity: { enabled: true, users: [ada.id] } },
    },
  });
});

const ask = (request: object, auth = root): Promise<Body> =>
  send('POST', `${platform.emulator.baseUrl}/inspect/requests`, {
    auth,
    body: { method: 'POST', path: '/web/echo', ...request },
  });
const tokens = async () =>
  (await send('GET', `${platform.emulator.baseUrl}/inspect/access`, { auth: root })).body.tokens;

it('root sends a request as another user, with a token that is only valid for that request and is never shown', async () => {
  const before = await tokens();
  expect((await ask({})).body).toMatchObject({ status: 401 });
  const { status, body } = await ask({ as: ada.id });
  expect(status).toBe(200);
  expect(body.status).toBe(200);
  expect(JSON.parse(body.body)).toMatchObject({ who: 'ada', scheme: 'Bearer', said: 'Bearer [masked]' });
  expect(await tokens()).toEqual(before);
});

it('other users cannot, and only existing users can be impersonated', async () => {
  await grant(platform.root, '/root', 'org.view', ada.id);
  expect((await ask({}, ada.bearer)).status).toBe(200);
  expect(await ask({ as: ada.id }, ada.bearer)).toMatchObject(refusal(403));
  expect(await ask({ as: acme.organizationId })).toMatchObject(refusal(404));
});

describe('Saved requests', () => {
  const at = () => `${platform.emulator.baseUrl}/inspect/saved-requests`;
  const save = (request: object, auth = root) =>
    send('POST', at(), { auth, body: { method: 'POST', path: '/web/echo', ...request } });
  const names = async () =>
    (await send('GET', at(), { auth: root })).body.requests.map(({ name }: { name: string }) => name);

  it('are there for all users who can send requests, and are not replaced unless that is wanted', async () => {
    expect((await save({ name: 'A form / Zoë', body: '{"n":1}' })).status).toBe(200);
    expect(await save({ name: 'A form / Zoë', body: '{"n":2}' })).toMatchObject(refusal(409));
    expect((await send('GET', at(), { auth: root })).body.requests).toMatchObject([{ body: '{"n":1}' }]);
    expect((await save({ name: 'A form / Zoë', body: '{"n":2}', replaces: true })).status).toBe(200);
    expect((await send('GET', at(), { auth: root })).body.requests).toMatchObject([{ body: '{"n":2}' }]);
    const tester = await makeAccount(platform, 'tester');
    expect(await save({ name: 'theirs' }, tester.bearer)).toMatchObject(refusal(403));
    await grant(platform.root, '/root', 'org.view', tester.id);
    expect((await save({ name: 'theirs' }, tester.bearer)).status).toBe(200);
    expect(await names()).toEqual(['A form / Zoë', 'theirs']);
    expect(
      (await send('DELETE', `${at()}/${encodeURIComponent('A form / Zoë')}`, { auth: tester.bearer })).status,
    ).toBe(204);
    expect(await names()).toEqual(['theirs']);
    expect(await send('DELETE', `${at()}/nothing`, { auth: root })).toMatchObject(refusal(404));
  });
});
