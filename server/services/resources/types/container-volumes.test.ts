import { beforeAll, describe, expect, it } from 'vitest';
import { refusal, sharedPlatform } from '../../../testing/platform.ts';
import { containersOf } from '../../../testing/sample-container.ts';
import { createTenant, type Tenant } from '../../../testing/tenant.ts';

const { root } = sharedPlatform();
let tenant: Tenant;
/** Path of the list in which containers are created. */
let containers: string;
beforeAll(async () => {
  tenant = await createTenant(root, 'acme');
  containers = `${tenant.environment}/containers`;
});

const { required, create, refused } = containersOf(() => ({ root, tenant }));

describe('volumes (D-045)', () => {
  const volume_resource = { name: 'data', properties: { type: 'persistent', size: 10 } };

  it('creates a volume in the environment for a volume_resource, and names it by volume_id', async () => {
    const container = await create('mounting', { volumes: [{ mount_path: '/data', volume_resource }] });
    const [{ volume_id: id, ...mount }] = container.properties.volumes;
    expect(mount).toEqual({ mount_path: '/data' });
    const volume = (await root.get(`${tenant.environment}/volumes/${id}`)).body;
    expect(volume).toMatchObject({ name: 'data', properties: { type: 'persistent', size: 10 } });
    expect(volume.properties.container).toMatchObject({ id: container.id, name: 'mounting' });

    const again = await create('sharing', { volumes: [{ mount_path: '/d', volume_id: id.toUpperCase() }] });
    expect(again.properties.volumes).toEqual([{ mount_path: '/d', volume_id: id }]);
  });

  it('creates nothing when the volume cannot be created', async () => {
    const volumes = (inlineVolume: object) =>
      refused({ volumes: [{ mount_path: '/data', volume_resource: inlineVolume }] });
    const at = '/properties/volumes/0/volume_resource';
    expect(await volumes({ name: 'tape', properties: { type: 'tape' } })).toMatchObject(
      refusal(400, `${at}/properties/type`, 'must be one of persistent'),
    );
    expect(await volumes({ ...volume_resource, name: 'Bad Name' })).toMatchObject(
      refusal(400, `${at}/name`, 'lower-case letters'),
    );
    expect(await volumes({ properties: { type: 'persistent' } })).toMatchObject(refusal(400, `${at}/name`));
    const existing = { ...volume_resource, name: 'existing' };
    await create('owner', { volumes: [{ mount_path: '/data', volume_resource: existing }] });
    expect(await volumes(existing)).toMatchObject(refusal(409));
    expect((await root.get('/acme/containers?name=refused')).body).toEqual([]);
    expect((await root.get('/acme/volumes?name=tape')).body).toEqual([]);
  });

  it('does not create two of one name', async () => {
    const twin = { ...volume_resource, name: 'twin' };
    const volumes = ['/a', '/b'].map((mount_path) => ({ mount_path, volume_resource: twin }));
    expect(await refused({ volumes })).toMatchObject(refusal(400));
    expect((await root.get('/acme/volumes?name=twin')).body).toEqual([]);
  });

  it('does not create a container whose name is taken, nor its volume', async () => {
    await create('taken');
    const body = {
      name: 'taken',
      properties: {
        ...required(),
        volumes: [{ mount_path: '/x', volume_resource: { ...volume_resource, name: 'x' } }],
      },
    };
    expect(await root.post(containers, body)).toMatchObject(refusal(409));
    expect((await root.get('/acme/volumes?name=x')).body).toEqual([]);
  });
});
