import { beforeAll, describe, expect, it } from 'vitest';
import { type Account, makeAccount, rootPairOf } from '../../testing/account.ts';
import { type Reply, send } from '../../testing/checked-client.ts';
import { refusal, sharedPlatform } from '../../testing/platform.ts';

const platform = sharedPlatform();
let ada: Account;
let bob: Account;
beforeAll(async () => {
  ada = await makeAccount(platform, 'ada');
  bob = await makeAccount(platform, 'bob');
});

const access = (auth: string, method = 'GET', path = ''): Promise<Reply> =>
  send(method, `${platform.emulator.baseUrl}/inspect/access${path}`, { auth });
const namesIn = (rows: { user: { name: string } }[]) => [...new Set(rows.map(({ user }) => user.name))].sort();

describe('GET {base_url}/inspect/access', () => {
  it('lists all keys and tokens for root, newest first, without secrets', async () => {
    const { body, headers } = await access(rootPairOf(platform));
    expect(headers.get('cache-control')).toBe('no-store');
    expect(namesIn(body.keys)).toEqual(['ada', 'bob', 'root']);
    expect(namesIn(body.tokens)).toEqual(['ada', 'bob']);
    expect(body.total).toEqual({ keys: 3, tokens: 2 });
    const { apiKey, apiSecret = 'x' } = platform.emulator.rootCredentials;
    expect(body.keys.at(-1)).toMatchObject({ id: apiKey, isFirst: true, isDisabled: false });
    expect(body.keys[0]).toMatchObject({ id: bob.key, isFirst: false });
    const reported = JSON.stringify(body);
    for (const secret of [apiSecret, ada.token, bob.token]) expect(reported).not.toContain(secret);
    expect(reported).not.toMatch(/secretHash|accountId/);
  });

  it('tells others of their own, and when each was used', async () => {
    const { body } = await access(ada.bearer);
    expect([namesIn(body.keys), namesIn(body.tokens)]).toEqual([['ada'], ['ada']]);
    expect(body.tokens[0]).toMatchObject({ isOwn: true, lastUsed: expect.any(String), expires: expect.any(String) });
    expect(Date.parse(body.tokens[0].expires)).toBeGreaterThan(Date.now());
    expect(body.keys[0].lastUsed).toBeUndefined();
    const { body: byKey } = await access(ada.basic);
    expect(byKey.keys[0].lastUsed).toEqual(expect.any(String));
    expect(byKey.tokens[0].isOwn).toBe(false);
  });

  it('is not for users without permissions', async () => {
    expect((await send('GET', `${platform.emulator.baseUrl}/inspect/access`)).status).toBe(401);
  });
});

describe('DELETE {base_url}/inspect/access/tokens/{id}', () => {
  it('revokes a token; a token of another user is as unknown as a missing one', async () => {
    const { body } = await access(rootPairOf(platform));
    const tokenOf = (name: string) =>
      body.tokens.find(({ user }: { user: { name: string } }) => user.name === name).id as string;
    expect(await access(ada.bearer, 'DELETE', `/tokens/${tokenOf('bob')}`)).toMatchObject(refusal(404));
    expect(await access(ada.bearer, 'DELETE', '/tokens/none')).toMatchObject(refusal(404));
    expect((await access(bob.bearer)).status).toBe(200);

    expect((await access(rootPairOf(platform), 'DELETE', `/tokens/${tokenOf('bob')}`)).status).toBe(204);
    expect((await access(bob.bearer)).status).toBe(401);
    expect((await access(ada.bearer, 'DELETE', `/tokens/${tokenOf('ada')}`)).status).toBe(204);
    expect((await access(ada.bearer)).status).toBe(401);
    expect((await access(rootPairOf(platform))).body.total.tokens).toBe(0);
  });
});
