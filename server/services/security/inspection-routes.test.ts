import { afterEach, beforeEach, expect, test } from 'vitest';
import type { StoredResource } from '../../model/record.ts';
import { actionsOf } from '../../model/rules/actions.ts';
import { TestSecurityService } from '../../testing/security-service.ts';

let service: TestSecurityService;
let ada: StoredResource;
let root: string;
beforeEach(async () => {
  service = await TestSecurityService.start();
  ada = await service.addUser('ada');
  root = await service.bearer(service.world.rootUser);
});
afterEach(async () => {
  expect(service.faults).toEqual([]);
  await service.stop();
});

test('a token tells whose it is, how long it lives, and what its account may do', async () => {
  const { world, credentials } = service;
  const acme = world.add('orgs', world.root, { name: 'acme', grants: { 'org.view': { add: [ada.id] } } });
  const group = world.add('groups', acme, { name: 'team', properties: { users: [ada.id] } });
  const token = await credentials.issueToken(ada.id, acme.id);
  const iat = service.nowMs / 1000;
  for (const path of ['/oauth/inspect', '/acme/oauth/inspect']) {
    expect((await service.ask(`POST ${path}`, { auth: root, form: { token } })).body).toEqual({
      active: true,
      username: 'ada',
      sub: `/accounts/${ada.id}`,
      iss: service.url,
      exp: iat + 28_800,
      iat,
      jti: token,
      platform_org_id: acme.id,
      platform_account: (await service.ask(`GET /accounts/${ada.id}`, { auth: root })).body,
      platform_groups: [{ id: group.id, name: 'team', href: `${service.url}/groups/${group.id}` }],
      platform_rights: ['org.view'],
    });
  }
});

test('a token that is unknown, expired, revoked or of a disabled account is inactive, without further details', async () => {
  const inactive = async (token: string) => {
    const auth = await service.bearer(service.world.rootUser);
    expect((await service.ask('POST /oauth/inspect', { auth, form: { token } })).body).toEqual({ active: false });
  };
  await inactive('nonsense');
  const token = await service.credentials.issueToken(ada.id, service.world.root.id);
  service.world.change(ada.id, { properties: { disabled: true } });
  await inactive(token);
  service.world.change(ada.id, { properties: {} });
  service.nowMs += service.credentials.tokenLifetimeMs;
  await inactive(token);
});

test('an inspection without a token, as JSON or in an unknown organization is refused', async () => {
  expect((await service.ask('POST /oauth/inspect', { auth: root, form: {} })).status).toBe(400);
  expect((await service.ask('POST /oauth/inspect', { auth: root, json: { token: 'x' } })).status).toBe(415);
  expect((await service.ask('POST /nowhere/oauth/inspect', { auth: root, form: { token: 'x' } })).status).toBe(404);
});

test('auth tells callers who they are and what they may do, in their own organization or another', async () => {
  const { world } = service;
  const acme = world.add('orgs', world.root, { name: 'acme', grants: { 'user.view': { add: [ada.id] } } });
  const ownStanding = await service.ask('POST /auth', { auth: await service.basic(ada) });
  expect(ownStanding.body).toEqual({
    account: expect.objectContaining({ username: 'ada' }),
    groups: [],
    rights: [],
    orgId: world.root.id,
  });
  const acmeStanding = await service.ask('POST /acme/auth', { auth: await service.bearer(ada) });
  expect(acmeStanding.body).toMatchObject({ rights: ['user.view'], orgId: acme.id });
  const roots = await service.ask('POST /acme/auth', { auth: root });
  expect(roots.body.rights).toEqual([...actionsOf(acme)]);
});
