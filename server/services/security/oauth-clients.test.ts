import * as openid from 'openid-client';
import { ClientCredentials, ResourceOwnerPassword } from 'simple-oauth2';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { PASSWORD, TestSecurityService } from '../../testing/security-service.ts';

// Third-party clients obtain tokens from the platform (D-170).

let service: TestSecurityService;
beforeEach(async () => {
  service = await TestSecurityService.start();
});
afterEach(() => service.stop());

async function usernameBehind(token: unknown): Promise<string> {
  return (await service.ask('GET /accounts/self', { auth: `Bearer ${token}` })).body.username;
}

async function keyPair(): Promise<{ id: string; secret: string }> {
  const user = await service.addUser('ci');
  const { key, secret } = await service.credentials.createKey(user.id, service.world.root.id);
  return { id: key, secret };
}

const endpoint = () => ({ tokenHost: service.url, tokenPath: '/security/root/oauth/issue' });

test('simple-oauth2 obtains a token with a password', async () => {
  const client = new ResourceOwnerPassword({ client: { id: 'app', secret: 'none' }, auth: endpoint() });
  const { token, expired } = await client.getToken({ username: 'root', password: PASSWORD });
  expect(await usernameBehind(token.access_token)).toBe('root');
  expect(token.expires_in).toBe(28_800);
  expect(expired).toBeTypeOf('function');
});

test('simple-oauth2 obtains a token with an API key', async () => {
  const client = new ClientCredentials({ client: await keyPair(), auth: endpoint() });
  expect(await usernameBehind((await client.getToken({})).token.access_token)).toBe('ci');
});

test('simple-oauth2 reports a wrong password as a 400', async () => {
  const client = new ResourceOwnerPassword({ client: { id: 'app', secret: 'none' }, auth: endpoint() });
  await expect(client.getToken({ username: 'root', password: 'wrong' })).rejects.toMatchObject({
    output: { statusCode: 400 },
    data: { payload: { error: 'invalid_grant' } },
  });
});

function openidClient(id: string, auth: openid.ClientAuth): openid.Configuration {
  const server = { issuer: service.url, token_endpoint: `${service.url}/root/oauth/issue` };
  const configuration = new openid.Configuration(server, id, undefined, auth);
  openid.allowInsecureRequests(configuration);
  return configuration;
}

test('openid-client obtains a token with an API key by Basic', async () => {
  const { id, secret } = await keyPair();
  const client = openidClient(id, openid.ClientSecretBasic(secret));
  const tokens = await openid.clientCredentialsGrant(client);
  expect(await usernameBehind(tokens.access_token)).toBe('ci');
  expect(tokens.expiresIn()).toBeGreaterThan(28_000);
});

test('openid-client obtains a token with a password, and understands a refusal', async () => {
  const client = openidClient('app', openid.None());
  const tokens = await openid.genericGrantRequest(client, 'password', { username: 'root', password: PASSWORD });
  expect(await usernameBehind(tokens.access_token)).toBe('root');
  const wrong = openid.genericGrantRequest(client, 'password', { username: 'root', password: 'wrong' });
  await expect(wrong).rejects.toMatchObject({ error: 'invalid_grant', status: 400 });
});
