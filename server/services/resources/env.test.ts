import * as fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { send } from '../../testing/checked-client.ts';
import { sharedPlatform } from '../../testing/platform.ts';
import { containerBody, createTenant, lambdaBody, makeUser, type Tenant } from '../../testing/tenant.ts';

const platform = sharedPlatform();
const { root } = platform;
let tenant: Tenant;
let lambda: string;
let container: string;
let job: string;
beforeAll(async () => {
  tenant = await createTenant(root, 'envs');
  const make = async (collection: string, body: object) =>
    `${tenant.org}/${collection}/${(await root.create(`${tenant.environment}/${collection}`, body)).id}`;
  lambda = await make('lambdas', lambdaBody(tenant, 'lambda'));
  container = await make('containers', containerBody(tenant, 'container'));
  job = await make('jobs', containerBody(tenant, 'job'));
});

const setEnv = async (path: string, env: object) => {
  const { status } = await root.patch(path, [{ op: 'add', path: '/properties/env', value: env }]);
  expect(status).toBe(200);
};
const merged = async (path: string) => {
  const { status, body } = await root.get(`${path}/env`);
  expect(status).toBe(200);
  return body;
};

describe('env maps hold strings only (D-110)', () => {
  it.each([[1], [true], [null], [{}], [[]]])('%j as a value is 400 with its pointer', async (value) => {
    for (const path of [tenant.org, tenant.workspace, tenant.environment, lambda, container]) {
      const reply = await root.patch(path, [{ op: 'add', path: '/properties/env', value: { GOOD: 'x', BAD: value } }]);
      expect(reply).toMatchObject({ status: 400, body: { details: [{ pointer: '/properties/env/BAD' }] } });
    }
    const reply = await root.post(`${tenant.environment}/lambdas`, lambdaBody(tenant, 'bad', { env: { BAD: value } }));
    expect(reply).toMatchObject({ status: 400, body: { details: [{ pointer: '/properties/env/BAD' }] } });
  });
  it.each(['1A', 'A B', '', '-A', 'A=B', 'Ä', '.A'])('%j is no name', async (name) => {
    const reply = await root.patch(tenant.workspace, [{ op: 'add', path: '/properties/env', value: { [name]: 'x' } }]);
    expect(reply.status).toBe(400);
    expect(reply.body.details[0].pointer).toBe(`/properties/env/${name}`);
  });
  it.each(['A', '_', 'a.b-c', 'A1', 'constructor', 'toString'])('%j is a name', async (name) => {
    await setEnv(tenant.workspace, { [name]: '' });
    expect(await merged(tenant.workspace)).toEqual({ [name]: '' });
    await setEnv(tenant.workspace, {});
  });
});

describe('the nearest wins (D-111)', () => {
  it('along organizations from root down, workspace, environment, and the workload itself', async () => {
    const names = fc.constantFrom('A', 'B', 'C', 'D', 'toString');
    const map = fc.dictionary(names, fc.string({ maxLength: 3 }), { noNullPrototype: true });
    const paths = ['/root', tenant.org, tenant.workspace, tenant.environment];
    await fc.assert(
      fc.asyncProperty(fc.array(map, { minLength: 5, maxLength: 5 }), async (maps) => {
        for (const [index, path] of paths.entries()) await setEnv(path, maps[index] ?? {});
        for (const [index, path] of paths.entries()) {
          expect(await merged(path)).toEqual(Object.assign({}, ...maps.slice(0, index + 1)));
        }
        for (const path of [lambda, container, job]) {
          await setEnv(path, maps[4] ?? {});
          expect(await merged(path)).toEqual(Object.assign({}, ...maps));
        }
      }),
      { numRuns: 15 },
    );
    for (const path of [...paths, lambda, container, job]) await setEnv(path, {});
  });
  it('a sub-organization has what all above it have', async () => {
    const path = '/envs.deep';
    await root.create(tenant.org, { name: 'deep', properties: { env: { OWN: 'deep' } } });
    await setEnv('/root', { TOP: 'root', OWN: 'root' });
    await setEnv(tenant.org, { MIDDLE: 'org', OWN: 'org' });
    expect(await merged(path)).toEqual({ TOP: 'root', MIDDLE: 'org', OWN: 'deep' });
    await setEnv('/root', {});
    await setEnv(tenant.org, {});
  });
  it('inherited values are never stored in the child', async () => {
    await setEnv(tenant.environment, { INHERITED: 'x' });
    await setEnv(lambda, { OWN: 'y' });
    expect((await root.get(lambda)).body.properties.env).toEqual({ OWN: 'y' });
    expect((await root.get(container)).body.properties.env).toEqual({});
    expect(await merged(lambda)).toEqual({ INHERITED: 'x', OWN: 'y' });
    await setEnv(tenant.environment, {});
    expect(await merged(lambda)).toEqual({ OWN: 'y' });
  });
});

describe('where it can be read (D-112)', () => {
  it('a lambda’s also without an organization', async () => {
    await setEnv(lambda, { OWN: 'y' });
    const id = lambda.split('/').at(-1);
    expect((await root.get(`/lambdas/${id}/env`)).body).toEqual({ OWN: 'y' });
  });
  it('unknown ids and organizations are 404, another type’s id too', async () => {
    const anonymous = '00000000-0000-4000-8000-000000000000';
    const id = lambda.split('/').at(-1);
    for (const path of [
      `/nowhere/env`,
      `${tenant.org}/lambdas/${anonymous}/env`,
      `${tenant.org}/containers/${id}/env`,
    ]) {
      expect((await root.get(path)).status).toBe(404);
    }
    expect((await root.get(`/nowhere/lambdas/${id}/env`)).status).toBe(404);
    expect((await root.get(`${tenant.org}/lambdas/nonsense/env`)).status).toBe(400);
  });
  it('needs authentication, and the right to view', async () => {
    const outsider = await makeUser(platform, 'env-outsider');
    for (const path of [tenant.org, tenant.workspace, tenant.environment, lambda, container]) {
      expect((await outsider.client.get(`${path}/env`)).status).toBe(403);
      expect((await fetch(`${platform.emulator.metaUrl}${path}/env`)).status).toBe(401);
    }
  });
});

describe('the environment of a lambda’s process (D-113, D-114)', () => {
  it('is the merged map and the platform’s addresses, from the next invocation on', async () => {
    const code = 'exports.run = (event, context, callback) => callback(null, process.env);';
    const seer = await root.create(
      `${tenant.workspace}/lambdas`,
      lambdaBody(tenant, 'seer', { code, env: { OWN: 'l' } }),
    );
    const api = await root.create(`${tenant.environment}/apis`, { name: 'seers' });
    const endpoint = await root.create(`${tenant.org}/apis/${api.id}/apiendpoints`, {
      name: 'see',
      properties: { resource: '/see', implementation_type: 'lambda', implementation_id: seer.id },
    });
    const readEnv = async () => (await send('GET', endpoint.properties.public_url)).body;
    await setEnv(tenant.org, { FAR: 'org', OWN: 'org' });
    // The lambda is in the workspace: the environment is not above it.
    await setEnv(tenant.environment, { ELSEWHERE: 'x' });
    const { metaUrl, securityUrl, gatewayUrl } = platform.emulator;
    const first = await readEnv();
    expect(first).toMatchObject({ FAR: 'org', OWN: 'l', META_URL: metaUrl, SECURITY_URL: securityUrl });
    expect(first).not.toHaveProperty('ELSEWHERE');
    await setEnv(tenant.org, { FAR: 'changed', GATEWAY_URL: 'mine' });
    expect(await readEnv()).toMatchObject({ FAR: 'changed', GATEWAY_URL: 'mine' });
    await setEnv(tenant.org, {});
    await setEnv(tenant.environment, {});
    const last = await readEnv();
    expect(last).not.toHaveProperty('FAR');
    expect(last.GATEWAY_URL).toBe(gatewayUrl);
  });
});
