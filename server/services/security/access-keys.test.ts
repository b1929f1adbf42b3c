import { expect, it } from 'vitest';
import { basic, bearer, type Reply, send } from '../../testing/checked-client.ts';
import { refusal, sharedPlatform } from '../../testing/platform.ts';
import { grant, makeUser } from '../../testing/tenant.ts';

const platform = sharedPlatform();

it('makes a key pair that opens the platform, and tells its secret once', async () => {
  const { id } = await makeUser(platform, 'ada');
  const newKey = await platform.root.send('POST', '/../inspect/access/keys', { body: { userId: id } });
  expect(newKey).toMatchObject({ status: 201, body: { accountId: id, disabled: false } });
  const { apiKey, apiSecret } = newKey.body;
  const self: Reply = await send('GET', `${platform.emulator.metaUrl}/users/self`, { auth: basic(apiKey, apiSecret) });
  expect(self).toMatchObject({ status: 200, body: { id } });
  const { body } = await platform.root.get('/../inspect/access');
  expect(JSON.stringify(body)).toContain(apiKey);
  expect(JSON.stringify(body)).not.toContain(apiSecret);
});

it('makes an access token that opens the platform until it is ended, and tells it once', async () => {
  const { id, client } = await makeUser(platform, 'tess');
  const newToken = await client.send('POST', '/../inspect/access/tokens', { body: { userId: id } });
  expect(newToken).toMatchObject({ status: 201, body: { accountId: id, expiresInS: expect.any(Number) } });
  const { accessToken } = newToken.body;
  const whoAmI = () => send('GET', `${platform.emulator.metaUrl}/users/self`, { auth: bearer(accessToken) });
  expect(await whoAmI()).toMatchObject({ status: 200, body: { id } });
  const { body } = await client.get('/../inspect/access');
  expect(JSON.stringify(body)).not.toContain(accessToken);
  const [listed] = body.tokens;
  expect((await client.send('DELETE', `/../inspect/access/tokens/${listed.id}`)).status).toBe(204);
  expect((await whoAmI()).status).toBe(401);
});

it('creates no token for a disabled account, and none for another user without the permission', async () => {
  const [kim, lou] = [await makeUser(platform, 'kim'), await makeUser(platform, 'lou')];
  const request = { body: { userId: kim.id } };
  expect(await lou.client.send('POST', '/../inspect/access/tokens', request)).toMatchObject(refusal(403));
  await platform.root.send('POST', `/../security/accounts/${kim.id}/disable`);
  expect(await platform.root.send('POST', '/../inspect/access/tokens', request)).toMatchObject(refusal(409));
});

it('creates one for another user only for callers who can change that account', async () => {
  const [ben, eve] = [await makeUser(platform, 'ben'), await makeUser(platform, 'eve')];
  const request = { body: { userId: ben.id } };
  expect(await eve.client.send('POST', '/../inspect/access/keys', request)).toMatchObject(refusal(403));
  expect((await ben.client.send('POST', '/../inspect/access/keys', request)).status).toBe(201);
  await grant(platform.root, `/root/users/${ben.id}`, 'user.update', eve.id);
  expect((await eve.client.send('POST', '/../inspect/access/keys', request)).status).toBe(201);
});

it('refuses organizations where the account does not exist, and accounts that there are not', async () => {
  const org = await platform.root.create('/root', { name: 'elsewhere' });
  const other = await platform.root.create('/root', { name: 'home' });
  const { id } = await platform.root.create('/home/users', { name: 'kay', properties: { password: 'secret' } });
  const make = (body: object) => platform.root.send('POST', '/../inspect/access/keys', { body });
  expect(await make({ userId: id, orgId: org.id })).toMatchObject(refusal(400, '/orgId'));
  expect(await make({ userId: id, orgId: id })).toMatchObject(refusal(400, '/orgId'));
  expect((await make({ userId: id, orgId: other.id })).status).toBe(201);
  expect(await make({ userId: org.id })).toMatchObject(refusal(404));
});
