import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { basic, type Reply, send } from '../../testing/checked-client.ts';
import { refusal, sharedPlatform } from '../../testing/platform.ts';
import { type Body, containerBody, createTenant, lambdaBody, makeUser, type Tenant } from '../../testing/tenant.ts';

const platform = sharedPlatform();
let acme: Tenant;
let rootKey: string;

beforeAll(async () => {
  const { apiKey, apiSecret = '' } = platform.emulator.rootCredentials;
  rootKey = basic(apiKey, apiSecret);
  acme = await createTenant(platform.root, 'acme');
});

const inspect = (method: string, path: string, body?: unknown): Promise<Reply> =>
  send(method, `${platform.emulator.baseUrl}/inspect${path}`, { auth: rootKey, body });
const newest = async (): Promise<Body> => (await inspect('GET', '/history?limit=1')).body.commits[0];
const world = async (at: string | number): Promise<Body> => (await inspect('GET', `/world?at=${at}`)).body.resources;
const change = (id: string, path: string, value: unknown) =>
  platform.root.patch(`/root/resources/${id}`, [{ op: 'add', path, value }]);
const makeEnvironment = (name: string, properties: object = {}) =>
  platform.root.create(`${acme.workspace}/environments`, {
    name,
    properties: { environment_type: 'test', ...properties },
  });

describe('GET /inspect/history', () => {
  it('returns the time, author, cause, operations and resources of a commit', async () => {
    const { id } = await platform.root.create(`${acme.environment}/lambdas`, lambdaBody(acme, 'hello'));
    const commit = await newest();
    expect(commit).toEqual({
      sentence: 'root created hello',
      seq: expect.any(Number),
      at: expect.stringMatching(/^\d{4}-.*Z$/),
      cause: {
        actor: { id: expect.any(String), name: 'root' },
        via: 'api',
        requestId: expect.any(String),
        action: 'lambda.create',
      },
      ops: [{ op: 'add', path: `/resources/${id}`, value: expect.objectContaining({ name: 'hello' }) }],
      inverse: [{ op: 'remove', path: `/resources/${id}` }],
      resources: [{ id, type: 'Resource::Node::Lambda', name: 'hello', path: '/acme/ws/env/hello' }],
    });
    expect((await inspect('GET', `/history/${commit.seq}`)).body).toEqual(commit);
  });

  it('lists commits page by page, newest first, without a gap', async () => {
    const { seq } = await newest();
    const seqs: number[] = [];
    for (let before = ''; ; ) {
      const { commits, next } = (await inspect('GET', `/history?limit=3${before}`)).body;
      seqs.push(...commits.map((commit: Body) => commit.seq));
      if (next === undefined) break;
      before = `&before=${next}`;
    }
    expect(seqs).toEqual(Array.from({ length: seq }, (_, at) => seq - at));
  });

  it('filters by resource, type, actor, action, source, time and words', async () => {
    await platform.root.create(`${acme.environment}/lambdas`, lambdaBody(acme, 'filtered'));
    const environment = await makeEnvironment('filtered');
    await change(environment.id, '/description', 'changed');
    await platform.root.delete(`${acme.org}/environments/${environment.id}`);
    const actions = async (query: string) =>
      (await inspect('GET', `/history?${query}`)).body.commits.map((commit: Body) => commit.cause.action);
    expect(await actions(`resource=${environment.id}`)).toEqual([
      'environment.delete',
      'environment.update',
      'environment.create',
    ]);
    expect(await actions(`resource=${environment.id}&action=environment.update`)).toEqual(['environment.update']);
    expect(await actions('type=lambdas&action=lambda.create&limit=1')).toEqual(['lambda.create']);
    expect(await actions('type=lambdas&action=environment.update')).toEqual([]);
    const scopedEnvironment = await makeEnvironment('in-scope');
    expect(await actions(`scope=${scopedEnvironment.id}`)).toEqual(['environment.create']);
    expect((await actions(`scope=${acme.organizationId}`)).length).toBeGreaterThan(3);
    expect(await actions(`scope=${randomUUID()}`)).toEqual([]);
    expect(await actions('q=in-scope+CREATE+root')).toEqual(['environment.create']);
    expect(await actions(`q=${scopedEnvironment.id}`)).toEqual(['environment.create']);
    expect(await actions('q=in-scope+elsewhere')).toEqual([]);
    await change(scopedEnvironment.id, '/properties/env', { CRM_OID: '1' });
    expect(await actions('q=in-scope+CRM_OID')).toEqual(['environment.update']);
    expect(await actions('q=by:root+resource:in-scope+via:api+since:1h')).toHaveLength(2);
    expect(await actions('q=in-scope+by:unknown')).toEqual([]);
    expect(await actions('q=in-scope+until:1h')).toEqual([]);
    const { at } = await newest();
    const day = new Date(at).toLocaleDateString('sv');
    expect(await actions(`q=in-scope+${day}`)).toHaveLength(2);
    expect(await actions('q=in-scope+1999-12-31')).toEqual([]);
    expect(await actions('q=a:colon')).toEqual([]);
    expect(await actions('actor=unknown')).toEqual([]);
    expect(await actions('via=ui')).toEqual([]);
    expect(await actions('from=2100-01-01')).toEqual([]);
    expect(await actions('to=2000-01-01T00:00:00Z')).toEqual([]);
    expect((await actions('actor=root')).length).toBeGreaterThan(3);
  });

  it('rejects invalid queries, and users who may not see everything', async () => {
    for (const query of [
      'resorce=x',
      'resource=x',
      'scope=x',
      'type=moons',
      'from=yesterday',
      'limit=0',
      'before=-1',
      'limit=1&limit=2',
    ]) {
      expect(await inspect('GET', `/history?${query}`), query).toMatchObject(refusal(400));
    }
    expect(await inspect('GET', '/history/x')).toMatchObject(refusal(400));
    expect(await inspect('GET', '/history/999999')).toMatchObject(refusal(404));
    const { emulator } = platform;
    expect(await send('GET', `${emulator.baseUrl}/inspect/history`)).toMatchObject(refusal(401));
    await makeUser(platform, 'outsider');
    const form = new URLSearchParams({ grant_type: 'password', username: 'outsider', password: 'outsider-secret' });
    const token = (await send('POST', `${emulator.securityUrl}/root/oauth/issue`, { body: form })).body.access_token;
    const auth = `Bearer ${token}`;
    // Of their own account, and of nothing else.
    const { commits } = (await send('GET', `${emulator.baseUrl}/inspect/history`, { auth })).body;
    expect(commits).toMatchObject([{ resources: [{ type: 'Resource::User', name: 'outsider' }] }]);
    expect(await send('GET', `${emulator.baseUrl}/inspect/world`, { auth })).toMatchObject(refusal(403));
    const restore = await send('POST', `${emulator.baseUrl}/inspect/restore`, { auth, body: { at: 0 } });
    expect(restore).toMatchObject(refusal(403));
  });

  it('never returns passwords, secret values or credentials (D-029, D-066)', async () => {
    const { seq: from } = await newest();
    await platform.root.create('/root/users', { name: 'keeper', properties: { password: 'sesame-1' } });
    const provider = { id: acme.docker };
    const secret = await platform.root.create(`${acme.environment}/secrets`, {
      name: 'keys',
      properties: { provider, items: [{ key: 'k', value: 'sesame-2' }] },
    });
    await change(secret.id, '/properties/items/0/value', 'sesame-3');
    const auth = { scheme: 'basic', credentials: { username: 'u', password: 'sesame-4' } };
    const createdProvider = await platform.root.create('/root/providers', {
      name: 'registry',
      resource_type: 'Platform::Configuration::Provider::CaaS::Docker',
      properties: { config: { auth } },
    });
    await change(createdProvider.id, '/properties/config/auth/credentials/password', 'sesame-5');
    const { seq: to } = await newest();
    for (const path of [
      '/history',
      `/history/${to}`,
      '/world',
      `/diff?from=${from}`,
      `/diff?from=${to}&to=${to - 1}`,
    ]) {
      const text = JSON.stringify((await inspect('GET', path)).body);
      expect(text).toContain('<hidden>');
      expect(text).not.toMatch(/sesame|scrypt/);
    }
    expect((await newest()).ops).toContainEqual({
      op: 'replace',
      path: `/resources/${createdProvider.id}/properties/config/auth/credentials/password`,
      value: '<hidden>',
    });
  });
});

describe('a past world', () => {
  it('is found by commit number and by time', async () => {
    const before = await newest();
    const environment = await makeEnvironment('timely');
    const created = await newest();
    await change(environment.id, '/description', 'later');
    expect((await world(before.seq))[environment.id]).toBeUndefined();
    expect((await world(created.seq))[environment.id].description).toBeUndefined();
    expect((await world(encodeURIComponent('2100-01-01')))[environment.id].description).toBe('later');
    expect(Object.keys(await world(0))).toHaveLength(Object.keys(await world('2000-01-01')).length);
    const pastRecord = await inspect('GET', `/world?at=${created.seq}&resource=${environment.id}`);
    expect(pastRecord.body).toMatchObject({ id: environment.id, name: 'timely' });
    expect(await inspect('GET', `/world?at=${before.seq}&resource=${environment.id}`)).toMatchObject(refusal(404));
    expect(await inspect('GET', '/world?at=999999')).toMatchObject(refusal(404));
    expect(await inspect('GET', '/world?at=soon')).toMatchObject(refusal(400));
  });

  it('differs from a later one by the operations that lead to it', async () => {
    const { seq: from } = await newest();
    const environment = await makeEnvironment('different');
    const { seq: to } = await newest();
    const forth = (await inspect('GET', `/diff?from=${from}&to=${to}`)).body;
    expect(forth).toMatchObject({
      from,
      to,
      ops: [{ op: 'add', path: `/resources/${environment.id}` }],
      resources: [{ id: environment.id, name: 'different', path: '/acme/ws/different', action: 'create' }],
    });
    const back = (await inspect('GET', `/diff?from=${to}&to=${from}`)).body;
    expect(back.ops).toEqual([{ op: 'remove', path: `/resources/${environment.id}` }]);
    expect(back.resources[0].action).toBe('delete');
    expect((await inspect('GET', `/diff?from=${to}&to=${to}`)).body).toMatchObject({ ops: [], resources: [] });
    expect(await inspect('GET', '/diff')).toMatchObject(refusal(400));
  });
});

describe('POST /inspect/history/{seq}/revert', () => {
  const revert = (seq: number) => inspect('POST', `/history/${seq}/revert`);

  it('undoes the newest commit, and can be undone', async () => {
    const { seq } = await newest();
    const container = await platform.root.create(`${acme.environment}/containers`, containerBody(acme, 'undone'));
    const { commit } = (await revert(seq + 1)).body;
    expect(commit).toMatchObject({
      seq: seq + 2,
      cause: { action: 'history.revert', note: `revert of commit ${seq + 1}`, actor: { name: 'root' } },
    });
    expect(await platform.root.get(`/root/resources/${container.id}`)).toMatchObject(refusal(404));
    expect(await world(seq + 2)).toEqual(await world(seq));
    expect(await revert(seq + 2)).toMatchObject({ status: 200 });
    expect((await platform.root.get(`/root/resources/${container.id}`)).body).toEqual(container);
  });

  it('keeps later changes', async () => {
    const environment = await makeEnvironment('twice', { env: { A: '1', B: '1' } });
    await change(environment.id, '/properties/env/A', '2');
    const { seq } = await newest();
    await change(environment.id, '/properties/env/B', '2');
    expect(await revert(seq)).toMatchObject({ status: 200 });
    const { body } = await platform.root.get(`/root/resources/${environment.id}`);
    expect(body.properties.env).toEqual({ A: '1', B: '2' });
    expect(await revert(seq)).toMatchObject(refusal(409));
  });

  it('restores a deleted environment with a lambda and a public endpoint that work', async () => {
    const environment = await makeEnvironment('revived');
    const inside = `/acme/environments/${environment.id}`;
    const lambda = await platform.root.create(`${inside}/lambdas`, lambdaBody(acme, 'hello again'));
    const api = await platform.root.create(`${inside}/apis`, { name: 'revived' });
    const properties = { resource: '/hi', implementation_type: 'lambda', implementation_id: lambda.id };
    await platform.root.create(`/acme/apis/${api.id}/apiendpoints`, { name: 'hi', properties });
    const call = () => send('GET', `${platform.emulator.gatewayUrl}/revived/hi`);
    expect(await call()).toMatchObject({ status: 200, body: 'hello again' });
    await platform.root.delete(`${inside}?force=true`);
    expect((await call()).status).toBe(404);
    expect((await revert((await newest()).seq)).status).toBe(200);
    expect(await call()).toMatchObject({ status: 200, body: 'hello again' });
  });

  it('rejects with the pointers that have changed since', async () => {
    const environment = await makeEnvironment('changed', { env: { A: '1' } });
    await change(environment.id, '/properties/env/A', '2');
    const { seq } = await newest();
    await change(environment.id, '/properties/env/A', '3');
    const pointer = `/resources/${environment.id}/properties/env/A`;
    const refused = await revert(seq);
    expect(refused).toMatchObject(refusal(409, pointer));
    expect(refused.body.message).toContain(': environment /acme/ws/changed: /properties/env/A: was changed since;');
    expect((await newest()).seq).toBe(seq + 1);
  });

  it('does not delete what others depend on, and restores nothing without a parent or with a name in use', async () => {
    const environment = await makeEnvironment('ground');
    const { seq: created } = await newest();
    const api = await platform.root.create(`/acme/environments/${environment.id}/apis`, { name: 'upon' });
    const { seq: stood } = await newest();
    expect((await revert(created)).body.message).toContain("environment /acme/ws/ground: api 'upon' is below it");

    await platform.root.delete(`/acme/apis/${api.id}`);
    const { seq: fell } = await newest();
    await platform.root.create(`/acme/environments/${environment.id}/apis`, { name: 'upon' });
    expect((await revert(fell)).body.message).toContain("api /acme/ws/ground/upon: /name: the name 'upon' is taken");
    await platform.root.delete(`/acme/environments/${environment.id}?force=true`);
    expect((await revert(fell)).body.message).toContain('its parent environment /acme/ws/ground does not exist');
    expect(await revert(stood)).toMatchObject(refusal(409));
  });

  it('does not restore what names a deleted resource', async () => {
    const provider = { id: acme.docker };
    const item = [{ key: 'k', value: 'v' }];
    const secret = await platform.root.create(`${acme.environment}/secrets`, {
      name: 'gone',
      properties: { provider, items: item },
    });
    const secrets = [{ mount_type: 'env', secret_id: secret.id, path: 'K', secret_key: 'k' }];
    const container = await platform.root.create(
      `${acme.environment}/containers`,
      containerBody(acme, 'holder', { secrets }),
    );
    await platform.root.delete(`/acme/containers/${container.id}`);
    const { seq } = await newest();
    await platform.root.delete(`/acme/secrets/${secret.id}`);
    expect((await revert(seq)).body.message).toMatch(
      /container \S+\/holder: it names secret \S+\/gone, which does not exist/,
    );
  });
});

describe('POST /inspect/restore', () => {
  it('restores the world of a moment in one commit, which can be undone', async () => {
    const { seq: then } = await newest();
    const environment = await makeEnvironment('passing');
    await change(environment.id, '/description', 'seen');
    await platform.root.delete(`${acme.environment}/apis`);
    const { seq: now } = await newest();
    const { commit } = (await inspect('POST', '/restore', { at: then })).body;
    expect(commit).toMatchObject({ seq: now + 1, cause: { action: 'history.restore' } });
    expect(await world(now + 1)).toEqual(await world(then));
    expect(await platform.root.get(`/root/resources/${environment.id}`)).toMatchObject(refusal(404));
    expect((await inspect('POST', '/restore', { at: now })).body.commit.seq).toBe(now + 2);
    expect(await world(now + 2)).toEqual(await world(now));
    expect((await inspect('POST', '/restore', { at: now })).body).toEqual({});
  });

  it('rejects an invalid time', async () => {
    for (const body of [{}, { at: -1 }, { at: 'soon' }, { at: 1, more: 2 }]) {
      expect(await inspect('POST', '/restore', body)).toMatchObject(refusal(400));
    }
    const { body } = await inspect('POST', '/restore', { at: 1.5 });
    expect(body.message).toContain('must be a commit number or an ISO time');
    expect(await inspect('POST', '/restore', { at: 999_999 })).toMatchObject(refusal(404));
  });
});
