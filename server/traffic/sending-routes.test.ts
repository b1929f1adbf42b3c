import { afterAll, beforeAll, expect, it } from 'vitest';
import { makeAccount } from '../../e2e/account.ts';
import { basic, send } from '../../e2e/checked-client.ts';
import { type Body, grant, lambdaBody, makePlace, type Place } from '../../e2e/place.ts';
import { type Platform, refusal, startPlatform } from '../../e2e/platform.ts';

/** Says who calls, and gives back what it should keep to itself. */
const CODE = `exports.run = (event, context, callback) => {
  const { user, creds } = JSON.parse(context);
  callback(null, { who: user && user.name, said: creds, scheme: creds.split(' ')[0] });
};`;

let platform: Platform;
let acme: Place;
let root: string;
let ada: { id: string; bearer: string };

beforeAll(async () => {
  platform = await startPlatform();
  const { apiKey, apiSecret = '' } = platform.emulator.rootCredentials;
  root = basic(apiKey, apiSecret);
  acme = await makePlace(platform.root, 'acme');
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
afterAll(() => platform?.stop());

const ask = (asked: object, auth = root): Promise<Body> =>
  send('POST', `${platform.emulator.baseUrl}/inspect/requests`, {
    auth,
    body: { method: 'POST', path: '/web/echo', ...asked },
  });
const tokens = async () =>
  (await send('GET', `${platform.emulator.baseUrl}/inspect/access`, { auth: root })).body.tokens;

it('root sends a request as somebody else, with a token of that request alone, which nobody is shown', async () => {
  const before = await tokens();
  expect((await ask({})).body).toMatchObject({ status: 401 });
  const { status, body } = await ask({ as: ada.id });
  expect(status).toBe(200);
  expect(body.status).toBe(200);
  expect(JSON.parse(body.body)).toMatchObject({ who: 'ada', scheme: 'Bearer', said: 'Bearer [masked]' });
  expect(await tokens()).toEqual(before);
});

it('nobody else does, and nobody as what is no user', async () => {
  await grant(platform.root, '/root', 'org.view', ada.id);
  expect((await ask({}, ada.bearer)).status).toBe(200);
  expect(await ask({ as: ada.id }, ada.bearer)).toMatchObject(refusal(403));
  expect(await ask({ as: acme.organizationId })).toMatchObject(refusal(404));
});
