import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeAccount, rootPairOf } from '../../e2e/account.ts';
import { send } from '../../e2e/client.ts';
import { type Maker, makerFor } from '../../e2e/maker.ts';
import { type Body, grant, makePlace, type Place } from '../../e2e/place.ts';
import { type Platform, refusal, startPlatform } from '../../e2e/platform.ts';

const CODE = `exports.run = (event, context, callback) => callback(null, { api_key: 'k-1234', ok: true });`;

let platform: Platform;
let acme: Place;
let make: Maker;
let root: string;
let viewer: { id: string; bearer: string };
let lambda: Body;

beforeAll(async () => {
  platform = await startPlatform();
  root = rootPairOf(platform);
  make = makerFor(platform.root);
  acme = await makePlace(platform.root, 'acme');
  viewer = await makeAccount(platform, 'viewer');
  await grant(platform.root, '/root', 'org.view', viewer.id);
  lambda = await make.lambda(acme, { code: CODE, env: { CRM_OID: 'the-oid' } });
});
afterAll(() => platform?.stop());

const inspect = (path: string, auth = viewer.bearer) =>
  send('GET', `${platform.emulator.baseUrl}/inspect${path}`, { auth });
const newest = async (): Promise<number> => (await inspect('/history?limit=1', root)).body.newest;

describe('Who may look at the whole platform, but not at a lambda', () => {
  it('is shown neither its code nor its variables, as by the resource service', async () => {
    const { metaUrl } = platform.emulator;
    expect(await send('GET', `${metaUrl}/acme/lambdas/${lambda.id}`, { auth: viewer.bearer })).toMatchObject(
      refusal(403),
    );
    const seq = await newest();
    for (const path of ['/world', '/history', `/history/${seq}`, `/diff?from=${seq - 1}`]) {
      const answer = await inspect(path);
      expect(answer.status).toBe(200);
      expect(JSON.stringify(answer.body), path).not.toMatch(/the-oid|exports\.run/);
      expect(JSON.stringify((await inspect(path, root)).body), path).toContain('the-oid');
    }
    expect((await inspect('/world')).body.resources).not.toHaveProperty(lambda.id);
    expect(await inspect(`/world?resource=${lambda.id}`)).toMatchObject(refusal(403));
    expect((await inspect(`/history/${seq}`)).body.ops).toMatchObject([{ op: 'add', value: '<hidden>' }]);
  });

  it('is shown it once he may', async () => {
    await grant(platform.root, `/acme/lambdas/${lambda.id}`, 'lambda.view', viewer.id);
    expect((await inspect('/world')).body.resources).toHaveProperty(lambda.id);
    expect((await inspect(`/world?resource=${lambda.id}`)).body.properties.env).toEqual({ CRM_OID: 'the-oid' });
  });
});

describe('A search in what was recorded', () => {
  it('finds what is shown, and nothing that is hidden', async () => {
    const endpoint = await make.endpoint(await make.api(acme), lambda);
    const url = `${endpoint.properties.public_url}?token=t-5678`;
    await send('POST', url, { body: { password: 'hunter2', colour: 'green' } });
    const found = async (path: string) => {
      const { body } = await inspect(path);
      return (body.invocations ?? body.requests).length;
    };
    expect(await found('/invocations?q=event:green')).toBe(1);
    expect(await found('/traffic?q=body:green')).toBe(1);
    for (const secret of ['hunter2', 'k-1234', 't-5678']) {
      expect(await found(`/invocations?q=${secret}`), secret).toBe(0);
      expect(await found(`/invocations?q=event:${secret}`), secret).toBe(0);
      expect(await found(`/traffic?q=${secret}&plane=gateway`), secret).toBe(0);
      expect(await found(`/traffic?q=body:${secret}`), secret).toBe(0);
    }
    const { body } = await inspect('/invocations?limit=1');
    expect(body.invocations[0].excerpt).toContain('"api_key":"<hidden>"');
  });
});
