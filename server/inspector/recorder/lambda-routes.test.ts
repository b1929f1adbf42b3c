import { beforeAll, describe, expect, it } from 'vitest';
import { basic, bearer, send } from '../../testing/checked-client.ts';
import { refusal, sharedPlatform, startPlatform } from '../../testing/platform.ts';
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

const platform = sharedPlatform({ limits: { logLines: 3 } });
let acme: Tenant;
let echo: Body;
let container: Body;
let root: string;
let ada: string;

const code = `exports.run = (event, context, callback) => {
  console.log(event);
  callback(null, { event, user: JSON.parse(context).user.name });
};`;

beforeAll(async () => {
  const { apiKey, apiSecret = '' } = platform.emulator.rootCredentials;
  root = basic(apiKey, apiSecret);
  acme = await createTenant(platform.root, 'acme');
  echo = await platform.root.create(`${acme.environment}/lambdas`, lambdaBody(acme, 'echo', { code }));
  container = await platform.root.create(`${acme.environment}/containers`, containerBody(acme, 'web'));
  const { id } = await makeUser(platform, 'ada');
  await grant(platform.root, '/acme', 'lambda.view', id);
  const form = new URLSearchParams({ grant_type: 'password', username: 'ada', password: 'ada-secret' });
  const issued = await send('POST', `${platform.emulator.securityUrl}/root/oauth/issue`, { body: form });
  ada = bearer(issued.body.access_token);
});

const inspect = (method: string, path: string, options: Parameters<typeof send>[2] = {}) =>
  send(method, `${platform.emulator.baseUrl}/inspect${path}`, { auth: root, ...options });
const invoke = (options: Parameters<typeof send>[2] = {}) => inspect('POST', `/lambdas/${echo.id}/invoke`, options);
const logs = (query: string) => inspect('GET', `/logs/${echo.id}?${query}`);
/** Since the beginning of its second: times tell tenths, `Date` does not read them. */
const millisecondsOf = (time: string) => Date.parse(time.replace(/\.\d+/, '')) + Number(/\.(\d+)/.exec(time)?.[1]) / 10;
const texts = ({ body }: { body: { lines: { text: string }[] } }) => body.lines.map(({ text }) => text);

describe('POST /inspect/lambdas/{id}/invoke', () => {
  it('hands the body to the lambda as it is, and answers the record of the invocation', async () => {
    const { status, body } = await invoke({ body: '{"big": 12345678901234567890}', headers: JSON_HEADERS });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      lambdaId: echo.id,
      lambdaName: 'echo',
      trigger: 'manual',
      outcome: { ok: true, result: { event: '{"big": 12345678901234567890}', user: 'root' } },
      logs: [{ stream: 'stdout', text: '{"big": 12345678901234567890}', executionId: body.executionId }],
      outbound: [],
    });
    expect(body.durationMs).toBeCloseTo(millisecondsOf(body.finishedAt) - millisecondsOf(body.startedAt), 1);
    expect((await invoke()).body.outcome.result.event).toBe('{}');
  });

  it('takes the right lambda.invoke', async () => {
    expect(await invoke({ auth: undefined })).toMatchObject(refusal(401));
    const refused = await invoke({ auth: ada });
    expect(refused).toMatchObject({ ...refusal(403), body: { message: expect.stringContaining('lambda.invoke') } });
  });

  it('rejects invalid JSON, and resources other than lambdas', async () => {
    expect(await invoke({ body: '{', headers: JSON_HEADERS })).toMatchObject(refusal(400));
    expect(await invoke({ body: 'hello', headers: { 'Content-Type': 'text/plain' } })).toMatchObject(refusal(415));
    for (const [id, code] of [
      [UNKNOWN_ID, 404],
      [container.id, 404],
      ['42', 400],
    ] as const) {
      expect(await inspect('POST', `/lambdas/${id}/invoke`)).toMatchObject(refusal(code));
    }
  });
});

const JSON_HEADERS = { 'Content-Type': 'application/json' };

describe('GET /inspect/logs/{id}', () => {
  it('continues from a cursor, waits for the next line, and reports a gap', async () => {
    await invoke({ body: { n: 1 } });
    await expect.poll(async () => texts(await logs('')).at(-1)).toBe('{"n":1}');
    const { cursor } = (await logs('')).body;
    expect((await logs(`after=${cursor}`)).body).toEqual({ lines: [], cursor, hasGap: false });

    const waiting = logs(`after=${cursor}&waitS=20`);
    await invoke({ body: { n: 2 } });
    expect(texts(await waiting)).toEqual(['{"n":2}']);
    for (const n of [3, 4, 5]) await invoke({ body: { n } });
    await expect.poll(async () => texts(await logs('')).at(-1)).toBe('{"n":5}');
    const page = await logs(`after=${cursor}`);
    expect([texts(page), page.body.hasGap]).toEqual([['{"n":3}', '{"n":4}', '{"n":5}'], true]);
  });

  it.each(['after=yesterday', 'after=', 'waitS=-1', 'waitS=61', 'waitS=1.5', 'waitS=1&waitS=2', 'time=5'])(
    '?%s is 400',
    async (query) => {
      expect(await logs(query)).toMatchObject(refusal(400));
    },
  );

  it('has nothing of containers as long as there is no engine', async () => {
    expect(await inspect('GET', `/logs/${container.id}`)).toMatchObject(refusal(503));
    expect(await inspect('GET', `/logs/${UNKNOWN_ID}`)).toMatchObject(refusal(404));
  });
});

describe('GET /inspect/leads', () => {
  it('answers when the wait is over, and rejects invalid parameters', async () => {
    expect(await inspect('GET', '/leads?waitS=1&email=unknown@example.com')).toMatchObject({ status: 200, body: [] });
    for (const query of ['waitS=soon', 'since=yesterday', 'execution=x', 'refused=yes', 'email=a&email=b', 'mail=a'])
      expect(await inspect('GET', `/leads?${query}`)).toMatchObject(refusal(400));
  });
});

it('waiting requests get a response when the platform stops', async () => {
  const other = await startPlatform();
  const { baseUrl, rootCredentials } = other.emulator;
  const auth = basic(rootCredentials.apiKey, rootCredentials.apiSecret ?? '');
  const waiting = send('GET', `${baseUrl}/inspect/leads?waitS=60`, { auth });
  // Answered on the same machine after it, so the first one has come in.
  await send('GET', `${baseUrl}/inspect/leads`, { auth });
  await other.stop();
  expect(await waiting).toMatchObject(refusal(503));
});
