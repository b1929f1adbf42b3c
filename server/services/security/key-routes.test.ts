import { afterEach, beforeEach, expect, test } from 'vitest';
import type { StoredResource } from '../../model/record.ts';
import { TestSecurityService } from '../../testing/security-service.ts';

let service: TestSecurityService;
let ada: StoredResource;
let rootAuth: string;
beforeEach(async () => {
  service = await TestSecurityService.start();
  ada = await service.addUser('ada');
  rootAuth = await service.basic(service.world.rootUser);
});
afterEach(async () => {
  expect(service.faults).toEqual([]);
  await service.stop();
});

test('a key pair makes another one for its own account, which works', async () => {
  const auth = await service.basic(ada);
  const { status, body, headers } = await service.ask(`POST /accounts/${ada.id}/apiKeys`, { auth });
  expect(status).toBe(201);
  expect(body).toEqual({
    apiKey: expect.stringMatching(/^[0-9a-f-]{36}$/),
    apiSecret: expect.stringMatching(/^.{40}$/),
    accountId: ada.id,
    disabled: false,
  });
  expect(headers.get('cache-control')).toBe('no-store');
  const self = await service.ask('GET /accounts/self', { auth: `Basic ${btoa(`${body.apiKey}:${body.apiSecret}`)}` });
  expect(self.body.username).toBe('ada');
});

test('keys are made with Basic only: a token, a password or nothing is 401', async () => {
  const path = `POST /accounts/${ada.id}/apiKeys`;
  for (const auth of [undefined, await service.bearer(ada), `Basic ${btoa('ada:correct horse')}`]) {
    const answer = await service.ask(path, { ...(auth !== undefined && { auth }), json: {} });
    expect(answer.status).toBe(401);
    expect(answer.headers.get('www-authenticate')).toMatch(/^Basic/);
  }
});

test('a key of another account needs an organization where that account exists, and the right to change it', async () => {
  const { world } = service;
  const acme = world.add('orgs', world.root, { name: 'acme' });
  const insider = await service.addUser('insider', acme);
  const path = `POST /accounts/${insider.id}/apiKeys`;
  const newKey = await service.ask(path, { auth: rootAuth, json: { orgId: acme.id.toUpperCase() } });
  expect(newKey.status).toBe(201);
  expect(service.credentials.findKey(newKey.body.apiKey)).toMatchObject({ orgId: acme.id, accountId: insider.id });
  for (const json of [
    undefined,
    {},
    { orgId: null },
    { orgId: world.root.id },
    { orgId: ada.id },
    { orgId: 'acme' },
    [],
  ]) {
    const answer = await service.ask(path, { auth: rootAuth, ...(json !== undefined && { json }) });
    expect(answer.status, JSON.stringify(json)).toBe(400);
  }
  const auth = await service.basic(ada);
  const refused = await service.ask(path, { auth, json: { orgId: acme.id } });
  expect(refused.status).toBe(403);
  expect(refused.body.message).toBe("You do not have permission to perform this action. Failed: 'user.update'");
});

test('a key for an unknown account is 404, for an invalid id 400', async () => {
  const auth = rootAuth;
  const anonymous = 'f0000000-0000-4000-8000-00000000000f';
  expect((await service.ask(`POST /accounts/${anonymous}/apiKeys`, { auth, json: {} })).status).toBe(404);
  expect((await service.ask(`POST /accounts/${service.world.root.id}/apiKeys`, { auth, json: {} })).status).toBe(404);
  expect((await service.ask('POST /accounts/ada/apiKeys', { auth, json: {} })).status).toBe(400);
});

test('a deleted key is no key any more, and deleting it again deletes nothing', async () => {
  const auth = await service.basic(ada);
  const { key } = await service.credentials.createKey(ada.id, service.world.root.id);
  expect((await service.ask(`DELETE /apiKeys/${key}`, { auth })).body).toEqual({ wasDeleted: true });
  expect((await service.ask(`DELETE /apiKeys/${key}`, { auth })).body).toEqual({ wasDeleted: false });
  expect(service.credentials.findKey(key)).toBeUndefined();
});

test('a token ends itself, and is 401 from then on', async () => {
  const auth = await service.bearer(ada);
  const token = auth.slice('Bearer '.length);
  expect((await service.ask(`DELETE /accessTokens/${token}`, { auth })).body).toEqual({ wasDeleted: true });
  const after = await service.ask(`DELETE /accessTokens/${token}`, { auth });
  expect(after.status).toBe(401);
  expect(after.headers.get('www-authenticate')).toBe(
    `Bearer realm="${service.url}/root/oauth/issue", error="invalid_token", error_description="the credentials have been revoked", Basic realm="${service.url}"`,
  );
});

test("another's keys and tokens are ended with user.update only", async () => {
  const { world } = service;
  const bob = await service.addUser('bob');
  const { key } = await service.credentials.createKey(bob.id, world.root.id);
  const token = await service.credentials.issueToken(bob.id, world.root.id);
  const auth = await service.bearer(ada);
  expect((await service.ask(`DELETE /apiKeys/${key}`, { auth })).status).toBe(403);
  expect((await service.ask(`DELETE /accessTokens/${token}`, { auth })).status).toBe(403);
  expect(service.credentials.findKey(key)).toBeDefined();
  world.change(bob.id, { grants: { 'user.update': { add: [ada.id] } } });
  expect((await service.ask(`DELETE /apiKeys/${key}`, { auth })).body).toEqual({ wasDeleted: true });
  expect((await service.ask(`DELETE /accessTokens/${token}`, { auth })).body).toEqual({ wasDeleted: true });
});
