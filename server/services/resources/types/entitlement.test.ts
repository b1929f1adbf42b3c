import { beforeAll, describe, expect, it } from 'vitest';
import { refusal, sharedPlatform } from '../../../testing/platform.ts';
import { type Body, createTenant, entitlementOf, type Tenant } from '../../../testing/tenant.ts';

const UNKNOWN_ID = '00000000-0000-4000-8000-000000000000';

const platform = sharedPlatform();
const { root } = platform;
let tenant: Tenant;
let user: Body;
let group: Body;
let entitlement: Body;
beforeAll(async () => {
  tenant = await createTenant(root, 'acme');
  user = await root.create('/root/users', { name: 'ada', properties: { password: 'p' } });
  group = await root.create('/acme/groups', { name: 'staff' });
  entitlement = await entitlementOf(root, tenant.environment, 'container.view');
});

const put = (properties: object) =>
  root.put(`/acme/entitlements/${entitlement.id}`, {
    ...entitlement,
    properties: { ...entitlement.properties, ...properties },
  });

describe('the properties of an entitlement (D-074)', () => {
  it('links users and groups, whose addresses tell them apart', async () => {
    const { status, body } = await put({ identities: [user.id, { id: group.id, name: 'as a link' }] });
    expect(status).toBe(200);
    const { metaUrl } = platform.emulator;
    expect(body.resource_type).toBe('Platform::Resource::Entitlement');
    expect(body.properties).toMatchObject({ action: 'container.view', parent: { id: tenant.environmentId } });
    expect(body.properties.identities).toEqual(
      expect.arrayContaining([
        { typeId: expect.any(String), id: user.id, name: 'ada', href: `${metaUrl}/root/users/${user.id}` },
        { typeId: expect.any(String), id: group.id, name: 'staff', href: `${metaUrl}/acme/groups/${group.id}` },
      ]),
    );
  });

  it('keeps any value, and none unless one is sent', async () => {
    expect(entitlement.properties).not.toHaveProperty('value');
    for (const value of ['text', 0, false, [1], { a: [null] }]) {
      expect((await put({ value })).body.properties.value).toEqual(value);
    }
  });

  it.each<[string, object]>([
    ['/properties/action', { action: undefined }],
    ['/properties/identities', { identities: undefined }],
    ['/properties/identities', { identities: UNKNOWN_ID }],
    ['/properties/identities/0', { identities: ['ada'] }],
    ['/properties/colour', { colour: 'red' }],
  ])('refuses at %s: %j', async (pointer, properties) => {
    expect(await put(properties)).toMatchObject(refusal(400, pointer));
  });

  it('refuses identities that are no users or groups', async () => {
    expect(await put({ identities: [user.id, UNKNOWN_ID] })).toMatchObject(refusal(400));
    expect(await put({ identities: [tenant.environmentId] })).toMatchObject(refusal(400));
  });
});
