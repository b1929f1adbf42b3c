import { describe, expect, it } from 'vitest';
import { sharedPlatform } from '../../testing/platform.ts';
import { type Body, containerBody, createTenant, lambdaBody } from '../../testing/tenant.ts';

const platform = sharedPlatform();
const { root } = platform;

/** Returns the part of a record that does not depend on who wrote it and when. */
const lasting = ({ created, modified, properties, ...record }: Body) => {
  const { age: _, ...rest } = properties;
  return { ...record, properties: rest };
};

describe('a tool that exports records and posts them again (D-028, D-030)', () => {
  it('gets an organization back as it was, ids included', async () => {
    const tenant = await createTenant(root, 'exported');
    const { org } = tenant;
    const paths: string[] = [org, tenant.workspace, tenant.environment];
    const make = async (list: string, collection: string, body: object): Promise<Body> => {
      const record = await root.create(list, body);
      paths.push(`${org}/${collection}/${record.id}`);
      return record;
    };
    const at = (collection: string) => `${tenant.environment}/${collection}`;
    await root.patch(org, [{ op: 'add', path: '/properties/env', value: { A: '1' } }]);
    const engine = await make(`${org}/providers`, 'providers', {
      name: 'engine',
      description: 'said',
      tags: ['t'],
      variables: { v: 'w' },
      resource_type: 'Platform::Configuration::Provider::CaaS::Docker',
      properties: {
        linked_providers: [{ id: tenant.docker }],
        environment_types: ['development'],
        config: { x: null },
      },
    });
    const provider = { provider: { id: engine.id } };
    const volume = await make(at('volumes'), 'volumes', { name: 'v', properties: { type: 'empty_dir', ...provider } });
    const container = await make(
      at('containers'),
      'containers',
      containerBody(tenant, 'c', {
        ...provider,
        volumes: [{ mount_path: '/v', volume_id: volume.id }],
        port_mappings: [{ name: 'web', protocol: 'tcp', container_port: 80, expose_endpoint: true }],
      }),
    );
    await make(at('jobs'), 'jobs', containerBody(tenant, 'j', provider));
    const lambda = await make(`${tenant.workspace}/lambdas`, 'lambdas', lambdaBody(tenant, 'a/b', { env: { B: '2' } }));
    const api = await make(at('apis'), 'apis', { name: 'exported-api' });
    await make(`${org}/apis/${api.id}/apiendpoints`, 'apiendpoints', {
      name: 'one',
      properties: { resource: '/l', implementation_type: 'lambda', implementation_id: lambda.id, methods: ['post'] },
    });
    await make(`${org}/apis/${api.id}/apiendpoints`, 'apiendpoints', {
      name: 'other',
      properties: {
        resource: '/c',
        implementation_type: 'container',
        implementation_id: container.id,
        container_port_name: 'web',
      },
    });
    const policy = await make(`${tenant.workspace}/policies`, 'policies', { name: 'p' });
    await make(`${org}/policies/${policy.id}/rules`, 'rules', {
      name: 'event',
      resource_type: 'Platform::Resource::Rule::Event',
      properties: { match_actions: [{ action: 'secret.import' }], lambda: lambda.id },
    });
    await make(`${org}/policies/${policy.id}/rules`, 'rules', {
      name: 'limit',
      resource_type: 'Platform::Resource::Rule::Limit',
      properties: {
        actions: ['secret.import'],
        eval_logic: { property: 'containers.count', operator: '<', value: 9 },
      },
    });
    const { id: member } = await root.create('/root/users', { name: 'member', properties: { password: 'x' } });
    await make(`${org}/groups`, 'groups', { name: 'g', properties: { users: [member] } });

    const records: Body[] = [];
    for (const path of paths) records.push((await root.get(path)).body);
    expect((await root.delete(`${org}?force=true`)).status).toBe(204);
    for (const [index, record] of records.entries()) {
      const parent = record.properties.parent;
      const list = /([a-z]+)\/[^/]+$/.exec(paths[index] ?? '')?.[1];
      const above = parent.href.slice(platform.emulator.metaUrl.length);
      const reply = await root.post(index === 0 ? '/root' : `${above}/${list}`, record);
      expect(reply.body).toMatchObject({ id: record.id });
      expect(reply.status).toBe(201);
    }
    for (const [index, record] of records.entries()) {
      expect(lasting((await root.get(paths[index] ?? '')).body)).toEqual(lasting(record));
    }
  });
});
