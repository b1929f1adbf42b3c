import { beforeAll, describe, expect, it } from 'vitest';
import { sharedPlatform } from '../../testing/platform.ts';
import {
  type Body,
  containerBody,
  createTenant,
  grant,
  lambdaBody,
  makeUser,
  type Tenant,
} from '../../testing/tenant.ts';

const platform = sharedPlatform();
const { root } = platform;
let acme: Tenant;
let lambda: Body;
let container: Body;
let volume: Body;
let endpoint: Body;
beforeAll(async () => {
  acme = await createTenant(root, 'acme');
  const { environment, docker } = acme;
  lambda = await root.create(`${environment}/lambdas`, lambdaBody(acme, 'sum'));
  const persistent = { provider: { id: docker }, type: 'persistent' };
  volume = await root.create(`${environment}/volumes`, { name: 'data', properties: persistent });
  const volumes = [{ mount_path: '/data', volume_id: volume.id }];
  container = await root.create(`${environment}/containers`, containerBody(acme, 'web', { volumes }));
  const api = await root.create(`${environment}/apis`, { name: 'site' });
  const properties = { resource: '/sum', implementation_type: 'lambda', implementation_id: lambda.id };
  endpoint = await root.create(`/acme/apis/${api.id}/apiendpoints`, { name: 'sum', properties });
});

const read = async (collection: string, { id }: Body, query = '') =>
  (await root.get(`/acme/${collection}/${id}${query}`)).body;
const embed = (collection: string, { id }: Body, query: string) => root.get(`/acme/${collection}/${id}?${query}`);

describe('embedded records (D-037)', () => {
  it('stand in place of the property of that name', async () => {
    const provider = (await root.get(`/root/providers/${acme.lambdas}`)).body;
    expect((await embed('lambdas', lambda, 'embed=provider')).body.properties.provider).toEqual(provider);
    expect((await embed('lambdas', lambda, 'embed=apiendpoints')).body.properties.apiendpoints).toEqual([endpoint]);
    const both = (await embed('lambdas', lambda, 'embed=apiendpoints&embed=provider')).body.properties;
    expect(both).toMatchObject({ apiendpoints: [{ id: endpoint.id }], provider });
    const ofContainer = (await embed('containers', container, 'embed=volumes&embed=provider&embed=apiendpoints')).body;
    expect(ofContainer.properties).toMatchObject({
      volumes: [await read('volumes', volume)],
      provider: { id: acme.docker, org: {} },
      apiendpoints: [],
    });
    expect((await embed('volumes', volume, 'embed=container')).body.properties.container).toEqual(
      await read('containers', container),
    );
  });

  it('an unknown word is 400, also on types that embed nothing', async () => {
    expect(await embed('lambdas', lambda, 'embed=volumes')).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining('apiendpoints, provider') },
    });
    expect(await embed('lambdas', lambda, 'embed=provider&embed=x')).toMatchObject({ status: 400 });
    const [entitlement] = (await root.get('/acme/entitlements')).body;
    for (const path of ['/acme', '/users/self', `/acme/entitlements/${entitlement.id}`])
      expect([path, await root.get(`${path}?embed=children`)]).toMatchObject([path, { status: 400 }]);
  });

  it('apiendpoints never appear unasked', async () => {
    for (const record of [lambda, container]) {
      const collection = record === lambda ? 'lambdas' : 'containers';
      expect((await read(collection, record)).properties).not.toHaveProperty('apiendpoints');
      const [listed] = (await root.get(`/acme/${collection}?id=${record.id}&expand=true&embed=apiendpoints`)).body;
      expect(listed.properties).not.toHaveProperty('apiendpoints');
    }
  });

  it('are only those that the caller may view', async () => {
    const { id, client } = await makeUser(platform, 'reader');
    await grant(root, '/acme', 'lambda.view', id);
    const { body } = await client.get(`/acme/lambdas/${lambda.id}?embed=apiendpoints&embed=provider`);
    expect(body.properties).toMatchObject({ provider: { id: acme.lambdas }, apiendpoints: [] });
    expect(body.properties.provider).not.toHaveProperty('org');
  });
});
