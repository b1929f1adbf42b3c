import { beforeAll, describe, expect, it } from 'vitest';
import { sharedPlatform } from '../../../testing/platform.ts';
import { containersOf, web } from '../../../testing/sample-container.ts';
import { createTenant, type Tenant } from '../../../testing/tenant.ts';

const { root } = sharedPlatform();
let tenant: Tenant;
beforeAll(async () => {
  tenant = await createTenant(root, 'acme');
});

const { create } = containersOf(() => ({ root, tenant }));

describe('port mappings (D-046, D-047)', () => {
  it('has the service address in the answer to the create, with lb_port and type filled in', async () => {
    const { properties } = await create('exposed', { port_mappings: [web] });
    const host = `exposed.${tenant.environmentId}.svc.cluster.local`;
    expect(properties.port_mappings).toEqual([
      { ...web, lb_port: 80, type: 'internal', service_address: { host, port: 80, protocol: 'tcp' } },
    ]);
  });

  it('takes the lb_port and the type that are sent, a one-element array included', async () => {
    const mapping = { ...web, lb_port: 8080, type: ['external'] };
    const { properties } = await create('chosen', { port_mappings: [mapping] });
    expect(properties.port_mappings).toEqual([
      { ...mapping, service_address: { host: expect.any(String), port: 8080, protocol: 'tcp' } },
    ]);
  });

  it('takes lb_port 0 for none', async () => {
    const { properties } = await create('unchosen', { port_mappings: [{ ...web, lb_port: 0 }] });
    expect(properties.port_mappings).toMatchObject([{ lb_port: 80 }]);
  });

  it('ignores a service address that is sent, whatever part of it', async () => {
    const { properties } = await create('ignoring', {
      port_mappings: [{ ...web, service_address: { host: 'evil.example' } }],
    });
    expect(properties.port_mappings[0].service_address.host).toMatch(/^ignoring\./);
  });

  it('has none of the three without expose_endpoint', async () => {
    const mapping = { protocol: 'tcp', container_port: 80, lb_port: 80, type: 'internal', service_address: {} };
    const { properties } = await create('hidden', { port_mappings: [mapping] });
    expect(properties.port_mappings).toEqual([{ protocol: 'tcp', container_port: 80 }]);
  });

  it('keeps the address over the life of the container, until the port is no longer exposed', async () => {
    const container = await create('living', { port_mappings: [web] });
    const path = `/acme/containers/${container.id}`;
    const image = await root.patch(path, [{ op: 'replace', path: '/properties/image', value: 'nginx:2' }]);
    expect(image.body.properties.port_mappings).toEqual(container.properties.port_mappings);
    const hidden = await root.patch(path, [
      { op: 'replace', path: '/properties/port_mappings/0/expose_endpoint', value: false },
    ]);
    expect(hidden.body.properties.port_mappings).toEqual([{ ...web, expose_endpoint: false }]);
  });

  it('takes from a client that compares whole records a service address that stays as it is (D-093)', async () => {
    const container = await create('compared', { port_mappings: [web] });
    const [{ service_address }] = container.properties.port_mappings;
    const path = '/properties/port_mappings/0/service_address';
    for (const operation of [
      { op: 'add', path, value: service_address },
      { op: 'replace', path, value: service_address },
      { op: 'remove', path },
      { op: 'replace', path: '/properties/port_mappings', value: container.properties.port_mappings },
    ]) {
      const reply = await root.patch(`/acme/containers/${container.id}`, [operation]);
      expect(reply, JSON.stringify(operation)).toMatchObject({ status: 200, body: container });
    }
  });
});
