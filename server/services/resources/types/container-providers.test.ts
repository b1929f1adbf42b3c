import { beforeAll, describe, expect, it } from 'vitest';
import { refusal, sharedPlatform } from '../../../testing/platform.ts';
import { containersOf } from '../../../testing/sample-container.ts';
import { createTenant, grant, makeUser, type Tenant, withEnvironment } from '../../../testing/tenant.ts';

const UNKNOWN_ID = '00000000-0000-4000-8000-000000000000';

const platform = sharedPlatform();
const { root } = platform;
let tenant: Tenant;
let docker: string;
beforeAll(async () => {
  tenant = await createTenant(root, 'acme');
  docker = tenant.docker;
});

const { required, create } = containersOf(() => ({ root, tenant }));

describe('the type of the environment (D-054)', () => {
  it('has to be among those the provider serves, unless it serves all or the environment is a system one', async () => {
    const make = async (environment_types?: string[]) => {
      const body = {
        name: `for-${environment_types?.join('-') ?? 'any'}`,
        resource_type: 'Platform::Configuration::Provider::CaaS::Docker',
        properties: { ...(environment_types && { environment_types }) },
      };
      return (await root.create('/acme/providers', body)).id;
    };
    const post = (provider: string, environment: string) =>
      root.post(`${environment}/containers`, {
        name: `c-${provider.slice(0, 8)}`,
        properties: { ...required(), provider: { id: provider } },
      });
    const testOnly = await make(['test']);
    const system = await withEnvironment(root, tenant, 'system');
    const refused = await post(testOnly, tenant.environment);
    expect(refused).toMatchObject(refusal(409));
    expect(refused.body.message).toContain('Incompatible Environment type');
    expect((await post(await make(), tenant.environment)).status).toBe(201);
    expect((await post(await make([]), tenant.environment)).status).toBe(201);
    expect((await post(testOnly, system.environment)).status).toBe(201);
  });

  it('does not touch a container that is put back as it is', async () => {
    const provider = await root.create('/acme/providers', {
      name: 'turning',
      resource_type: 'Platform::Configuration::Provider::CaaS::Docker',
    });
    const container = await create('staying', { provider: { id: provider.id } });
    await root.patch(`/acme/providers/${provider.id}`, [
      { op: 'add', path: '/properties/environment_types', value: ['production'] },
    ]);
    const path = `/acme/containers/${container.id}`;
    expect(await root.put(path, container)).toMatchObject({ status: 200, body: container });
    expect(await root.patch(path, [])).toMatchObject({ status: 200, body: container });
  });
});

describe('the containers of a provider (D-055)', () => {
  it('are listed and read below it, in whichever organization, expanded on demand', async () => {
    const provider = await root.create('/root/providers', {
      name: 'shared',
      resource_type: 'Platform::Configuration::Provider::CaaS::Kubernetes',
    });
    await root.create('/orgs', { name: 'elsewhere' });
    const { id: workspace } = await root.create('/elsewhere/workspaces', { name: 'w' });
    const far = await root.create(`/elsewhere/workspaces/${workspace}/environments`, {
      name: 'e',
      properties: { environment_type: 'test' },
    });
    const near = await create('near', { provider: { id: provider.id } });
    const farther = await create(
      'far',
      { provider: { id: provider.id } },
      `/elsewhere/environments/${far.id}/containers`,
    );
    await root.create(`${tenant.environment}/jobs`, {
      name: 'no-container',
      properties: { ...required(), provider: { id: provider.id } },
    });
    const list = `/root/providers/${provider.id}/containers`;
    const links = (await root.get(list)).body;
    expect(links.map(({ id }: { id: string }) => id)).toEqual([near.id, farther.id]);
    expect(links[0]).not.toHaveProperty('resource_type');
    expect((await root.get(`${list}?expand=true`)).body).toEqual([near, farther]);
    expect((await root.get(`${list}/${farther.id}`)).body).toEqual(farther);
    const { id: other } = await create('other');
    expect(await root.get(`${list}/${other}`)).toMatchObject(refusal(404));
    expect(await root.get(`/root/providers/${UNKNOWN_ID}/containers`)).toMatchObject(refusal(404));
  });
});

describe('the containers of a provider, by rights (D-055, D-118)', () => {
  it('are those that the caller may view', async () => {
    const { id, client } = await makeUser(platform, 'watcher');
    const list = `/root/providers/${docker}/containers`;
    expect(await client.get(list)).toMatchObject({ status: 200, body: [] });
    const visibleContainer = await create('watched');
    await grant(root, `/acme/containers/${visibleContainer.id}`, 'container.view', id);
    expect((await client.get(list)).body).toMatchObject([{ id: visibleContainer.id }]);
  });
});
