import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { refusal, sharedPlatform } from '../../../testing/platform.ts';
import { KONG, namesOf, PROVIDER } from '../../../testing/sample-provider.ts';
import { createTenant, makeUser } from '../../../testing/tenant.ts';

const platform = sharedPlatform();
const { root } = platform;
beforeAll(async () => {
  await createTenant(root, 'acme');
});

describe('initialize (D-067, D-068)', () => {
  const initialize = () => root.post('/root/providers/initialize');
  const DEFAULTS: Record<string, [type: string, ...linked: string[]]> = {
    'default-docker': ['CaaS::Docker', 'default-logging'],
    'default-lambda': ['Lambda', 'default-logging', 'nodejs-executor'],
    'nodejs-executor': ['Lambda::Executor::NodeJS'],
    'default-gateway': ['Kong'],
    'default-gateway-manager': ['GatewayManager', 'default-gateway'],
    'default-logging': ['Logging'],
  };

  /** Restores the defaults that a test deleted, renamed or replaced, with the links among them. */
  afterEach(async () => {
    for (const { id } of (await root.get('/root/providers')).body) await root.delete(`/root/providers/${id}`);
    await initialize();
  });

  it('answers with links of all defaults, and creates nothing twice', async () => {
    const before = (await root.get('/root/providers?expand=true')).body;
    const { status, body } = await initialize();
    expect(status).toBe(200);
    expect(body.status).toBe('initialized');
    expect(namesOf(body.providers).sort()).toEqual(Object.keys(DEFAULTS).sort());
    for (const link of body.providers) {
      expect(link).toEqual({
        typeId: expect.any(String),
        id: expect.any(String),
        name: expect.any(String),
        href: `${platform.emulator.metaUrl}/root/providers/${link.id}`,
      });
    }
    expect((await root.get('/root/providers?expand=true')).body).toEqual(before);
  });

  it('makes each of its type, for all types of environments, linked as it has to be', async () => {
    for (const [name, [type, ...linked]] of Object.entries(DEFAULTS)) {
      const [found] = (await root.get(`/root/providers?expand=true&name=${name}`)).body;
      expect(found.resource_type, name).toBe(`${PROVIDER}::${type}`);
      expect(found.properties.environment_types, name).toEqual(['development', 'test', 'production']);
      expect(namesOf(found.properties.linked_providers).sort(), name).toEqual(linked.sort());
    }
    const configOf = async (name: string) =>
      (await root.get(`/root/providers?expand=true&name=${name}`)).body[0].properties.config;
    const { protocol, host } = new URL(platform.emulator.gatewayUrl);
    expect(await configOf('nodejs-executor')).toMatchObject({ env: { public: { RUNTIME: 'nodejs' } } });
    expect(await configOf('default-docker')).toEqual({ networks: [{ name: 'default' }] });
    expect(await configOf('default-gateway')).toMatchObject({
      external_protocol: protocol.slice(0, -1),
      env: { public: { PUBLIC_URL_VHOST_0: host } },
    });
  });

  it('leaves a default that was renamed or patched, and creates a deleted one again with the same id', async () => {
    const [logging] = (await root.get('/root/providers?name=default-logging')).body;
    const path = `/root/providers/${logging.id}`;
    await root.patch(path, [
      { op: 'replace', path: '/name', value: 'my-logs' },
      { op: 'add', path: '/properties/config', value: { a: 1 } },
    ]);
    const patched = (await root.get(path)).body;
    expect(namesOf((await initialize()).body.providers)).toContain('my-logs');
    expect((await root.get(path)).body).toEqual(patched);
    expect((await root.get('/root/providers?name=default-logging')).body).toEqual([]);

    expect((await root.delete(path)).status).toBe(204);
    await initialize();
    expect((await root.get(path)).body).toMatchObject({ id: logging.id, name: 'default-logging' });
  });

  it('takes another provider of the same name and type as present', async () => {
    const [executor] = (await root.get('/root/providers?name=nodejs-executor')).body;
    await root.delete(`/root/providers/${executor.id}`);
    const body = { name: 'nodejs-executor', resource_type: `${PROVIDER}::Lambda::Executor::NodeJS` };
    const existing = await root.create('/root/providers', body);
    const { status, body: answer } = await initialize();
    expect(status).toBe(200);
    expect(answer.providers.map(({ id }: { id: string }) => id)).toContain(existing.id);
    expect((await root.get('/root/providers?name=nodejs-executor')).body).toHaveLength(1);
  });

  it('is a conflict, and creates nothing, when a name is taken by another type', async () => {
    const [logging] = (await root.get('/root/providers?name=default-logging')).body;
    const [executor] = (await root.get('/root/providers?name=nodejs-executor')).body;
    for (const { id } of [logging, executor]) await root.delete(`/root/providers/${id}`);
    const existing = await root.create('/root/providers', { name: 'nodejs-executor', resource_type: KONG });
    expect(await initialize()).toMatchObject(refusal(409));
    expect((await root.get('/root/providers?name=default-logging')).body).toEqual([]);
    await root.delete(`/root/providers/${existing.id}`);
    expect((await initialize()).status).toBe(200);
  });

  it('is root’s alone, and only at root', async () => {
    const { client } = await makeUser(platform, 'outsider');
    expect(await client.post('/root/providers/initialize')).toMatchObject(refusal(403));
    expect(await root.post('/acme/providers/initialize')).toMatchObject(refusal(400));
  });
});
