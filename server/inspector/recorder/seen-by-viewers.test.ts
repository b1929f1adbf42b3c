import { beforeAll, describe, expect, it } from 'vitest';
import { makeAccount, rootPairOf } from '../../testing/account.ts';
import { send } from '../../testing/checked-client.ts';
import { refusal, sharedPlatform } from '../../testing/platform.ts';
import { type ResourceFactory, resourceFactoryFor } from '../../testing/resource-factory.ts';
import { type Body, createTenant, grant, type Tenant } from '../../testing/tenant.ts';

/** Writes to the log, and calls a host that does not exist. */
const CODE = `exports.run = async () => {
  console.log('ran');
  await fetch('http://127.0.0.1:4').catch(() => {});
  return { api_key: 'k-1234', ok: true };
};`;

const platform = sharedPlatform();
let acme: Tenant;
let make: ResourceFactory;
let root: string;
let viewer: { id: string; bearer: string };
let lambda: Body;

beforeAll(async () => {
  root = rootPairOf(platform);
  make = resourceFactoryFor(platform.root);
  acme = await createTenant(platform.root, 'acme');
  viewer = await makeAccount(platform, 'viewer');
  await grant(platform.root, '/root', 'org.view', viewer.id);
  lambda = await make.lambda(acme, { code: CODE, env: { CRM_OID: 'the-oid' } });
});

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

describe('A search in the records', () => {
  it('finds shown values, and no hidden ones', async () => {
    const endpoint = await make.endpoint(await make.api(acme), lambda);
    await grant(platform.root, `/acme/apiendpoints/${endpoint.id}`, 'apiendpoint.view', viewer.id);
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

describe('Who may look at one lambda and nothing else', () => {
  let viewer: { id: string; bearer: string };
  let visibleLambda: Body;
  const inspectAsViewer = (path: string) => inspect(path, viewer.bearer);

  beforeAll(async () => {
    viewer = await makeAccount(platform, 'guest');
    visibleLambda = await make.lambda(acme, { code: CODE });
    await grant(platform.root, `/acme/lambdas/${visibleLambda.id}`, 'lambda.view', viewer.id);
    for (const { id } of [lambda, visibleLambda]) {
      await send('POST', `${platform.emulator.baseUrl}/inspect/lambdas/${id}/invoke`, { auth: root, body: {} });
    }
    await send('GET', `${platform.emulator.metaUrl}/users/self`, { auth: viewer.bearer });
  });

  it('shows on every screen only records within the scope', async () => {
    const { invocations, total } = (await inspectAsViewer('/invocations')).body;
    expect(invocations).toMatchObject([{ lambdaId: visibleLambda.id }]);
    expect(total).toBe(1);
    expect((await inspectAsViewer('/outbound-calls')).body.calls.map(({ lambdaId }: Body) => lambdaId)).toEqual([
      visibleLambda.id,
    ]);
    expect((await inspectAsViewer('/log-lines')).body.lines.map(({ lambdaId }: Body) => lambdaId)).toEqual([
      visibleLambda.id,
    ]);
    expect((await inspectAsViewer('/lambda-use')).body.lambdas).toMatchObject([
      { lambdaId: visibleLambda.id, calls: 1 },
    ]);
    const { requests, total: visibleCount } = (await inspectAsViewer('/traffic')).body;
    expect((await inspectAsViewer('/traffic?limit=1')).body.total).toBeGreaterThanOrEqual(visibleCount);
    expect(visibleCount).toBe(requests.length);
    expect(requests.map(({ target, userId }: Body) => [target, userId])).toContainEqual([
      '/meta/users/self',
      viewer.id,
    ]);
    expect(requests.every(({ userId }: Body) => userId === viewer.id)).toBe(true);
    const { commits } = (await inspectAsViewer('/history?limit=500')).body;
    const touched = commits.flatMap(({ resources }: Body) => resources.map(({ id }: Body) => id));
    expect(new Set(touched)).toEqual(new Set([visibleLambda.id, viewer.id]));
    expect((await inspectAsViewer('/tree?word=lambdas')).body.rows).toMatchObject([{ id: visibleLambda.id }]);
    expect((await inspectAsViewer('/tree/counts')).body.types).toMatchObject({ lambdas: 1 });
    for (const path of [
      '/failures',
      '/marks',
      '/leads',
      '/pipelines',
      '/endpoints',
      '/containers/pulls',
      '/outbound',
    ]) {
      const { status, body } = await inspectAsViewer(path);
      expect([path, status]).toEqual([path, 200]);
      expect(JSON.stringify(body), path).not.toContain(lambda.id);
    }
  });

  it('gets no details of a resource by an id from other data', async () => {
    const [other] = (await inspect(`/invocations?lambda=${lambda.id}`, root)).body.invocations;
    expect(await inspectAsViewer(`/invocations/${other.executionId}`)).toMatchObject(refusal(404));
    expect(await inspectAsViewer(`/failures/${other.executionId}`)).toMatchObject(refusal(404));
    const [request] = (await inspect('/traffic?plane=gateway&limit=1', root)).body.requests;
    expect(await inspectAsViewer(`/traffic/${request.seq}`)).toMatchObject(refusal(404));
    expect(await inspectAsViewer(`/history/1`)).toMatchObject(refusal(404));
  });

  it('sees the status of the platform, but not its folders', async () => {
    const [{ body: rootStatus }, { body }] = [await inspect('/status', root), await inspectAsViewer('/status')];
    expect(rootStatus.dataDir).toBe(':memory:');
    expect(body).not.toHaveProperty('dataDir');
    expect(body.store).toEqual({ isHealthy: true, seq: rootStatus.store.seq });
  });

  it('hears that something has changed, and not what', async () => {
    const { baseUrl } = platform.emulator;
    const ends = new AbortController();
    const headers = { authorization: viewer.bearer };
    const { body } = await fetch(`${baseUrl}/inspect/events`, { headers, signal: ends.signal });
    const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
    await make.lambda(acme, { code: CODE });
    let received = '';
    while (!received.includes('event: world')) received += (await reader?.read())?.value ?? '';
    ends.abort();
    expect(received).toMatch(/event: world\ndata: \[\]\n/);
    expect(received).not.toMatch(/"seq"/);
  });

  it('sees nothing more once the right is gone', async () => {
    const { id, properties } = (
      await platform.root.get(`/acme/lambdas/${visibleLambda.id}/entitlements?action=lambda.view&expand=true`)
    ).body[0];
    const identities = properties.identities.filter((identity: Body) => identity.id !== viewer.id);
    await platform.root.put(`/root/entitlements/${id}`, { properties: { action: 'lambda.view', identities } });
    expect((await inspectAsViewer('/invocations')).body).toMatchObject({ invocations: [], total: 0 });
    expect((await inspectAsViewer('/lambda-use')).body.lambdas).toEqual([]);
  });
});
