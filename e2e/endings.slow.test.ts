import { afterEach, describe, expect, it } from 'vitest';
import { type Emulator, startEmulator } from '../server/platform/emulator.ts';
import { logIn, rootPairOf } from '../server/testing/account.ts';
import { basic, bearer, send } from '../server/testing/checked-client.ts';
import { type Platform, startPlatform } from '../server/testing/platform.ts';
import { grant } from '../server/testing/tenant.ts';

const cleanUps: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

async function started(options: Parameters<typeof startPlatform>[0] = {}): Promise<Platform> {
  const platform = await startPlatform(options);
  cleanUps.push(() => platform.stop());
  return platform;
}

const statusOf = async ({ emulator }: Platform, auth: string) =>
  (await send('GET', `${emulator.metaUrl}/users/self`, { auth })).status;
const tokenOf = async (platform: Platform, name: string, password?: string): Promise<string> =>
  bearer((await logIn(platform, 'root', name, password)).body.access_token);
const inspect = ({ emulator }: Platform, method: string, path: string, auth: string, body?: unknown) =>
  send(method, `${emulator.baseUrl}/inspect${path}`, { auth, body });
const newest = async (platform: Platform): Promise<number> =>
  (await inspect(platform, 'GET', '/history?limit=1', rootPairOf(platform))).body.commits[0].seq;

/** The session of the account, by its cookie. */
async function windowOf({ emulator }: Platform, username: string, password: string) {
  const answer = await send('POST', `${emulator.baseUrl}/inspect/session`, { body: { username, password } });
  expect(answer.status).toBe(200);
  const Cookie = answer.headers.get('set-cookie')?.split(';', 1)[0] ?? '';
  return async () => (await send('GET', `${emulator.baseUrl}/inspect/session`, { headers: { Cookie } })).status;
}

async function ada(platform: Platform) {
  const { id } = await platform.root.create('/root/users', { name: 'ada', properties: { password: 'first' } });
  return { id, token: await tokenOf(platform, 'ada', 'first') };
}

const replaced = (password: string) => [{ op: 'replace', path: '/properties/password', value: password }];

describe('a change of a password (D-216)', () => {
  it('ends the tokens and sessions of the user, but for the one that made it', async () => {
    const platform = await started();
    const { id, token } = await ada(platform);
    await grant(platform.root, `/root/users/${id}`, 'user.update', id);
    const other = await tokenOf(platform, 'ada', 'first');
    const window = await windowOf(platform, 'ada', 'first');
    expect([await statusOf(platform, other), await window()]).toEqual([200, 200]);
    const { metaUrl } = platform.emulator;
    const patch = { auth: token, body: replaced('second') };
    expect((await send('PATCH', `${metaUrl}/root/users/${id}`, patch)).status).toBe(200);
    expect([await statusOf(platform, token), await statusOf(platform, other), await window()]).toEqual([200, 401, 401]);
    const { headers } = await send('GET', `${metaUrl}/users/self`, { auth: other });
    expect(headers.get('www-authenticate')).toContain('error_description="the credentials have been revoked"');
  });

  it.each([
    ['of the resource', (p: Platform, id: string) => p.root.patch(`/root/users/${id}`, replaced('second'))],
    [
      'of the account',
      (p: Platform, id: string) =>
        send('PATCH', `${p.emulator.securityUrl}/accounts/${id}`, {
          auth: rootPairOf(p),
          body: { password: 'second' },
        }),
    ],
    [
      'by a seed',
      (p: Platform) =>
        send('POST', `${p.emulator.baseUrl}/inspect/apply`, {
          auth: rootPairOf(p),
          body: { format: 1, users: { ada: { properties: { password: 'second' } } } },
        }),
    ],
  ])('by another ends them all: %s', async (_title, change) => {
    const platform = await started();
    const { id, token } = await ada(platform);
    const window = await windowOf(platform, 'ada', 'first');
    const { status, body } = await change(platform, id);
    expect(status, JSON.stringify(body)).toBe(200);
    expect([await statusOf(platform, token), await window()]).toEqual([401, 401]);
    expect((await logIn(platform, 'root', 'ada', 'second')).status).toBe(200);
  });

  it('leaves them alone when anything else of the user changes', async () => {
    const platform = await started();
    const { id, token } = await ada(platform);
    await platform.root.patch(`/root/users/${id}`, [{ op: 'add', path: '/properties/firstName', value: 'Ada' }]);
    expect(await statusOf(platform, token)).toBe(200);
  });

  it.each(['revert', 'restore', 'snapshot'])('is not undone by a %s', async (way) => {
    const platform = await started();
    const { id, token } = await ada(platform);
    const auth = rootPairOf(platform);
    const before = await newest(platform);
    await inspect(platform, 'POST', '/snapshots', auth, { name: 'before' });
    await platform.root.patch(`/root/users/${id}`, [
      ...replaced('second'),
      { op: 'add', path: '/description', value: 'changed along with it' },
    ]);
    const path = {
      revert: `/history/${before + 1}/revert`,
      restore: '/restore',
      snapshot: '/snapshots/before/restore',
    };
    const body = way === 'restore' ? { at: before } : undefined;
    const answer = await inspect(platform, 'POST', path[way as keyof typeof path], auth, body);
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    expect((await platform.root.get(`/root/users/${id}`)).body.description).toBeUndefined();
    expect((await logIn(platform, 'root', 'ada', 'first')).status).toBe(400);
    expect((await logIn(platform, 'root', 'ada', 'second')).status).toBe(200);
    expect(await statusOf(platform, token)).toBe(401);
  });

  it('is all that a commit did: then there is nothing to revert, and it says so', async () => {
    const platform = await started();
    const { id } = await ada(platform);
    await platform.root.patch(`/root/users/${id}`, replaced('second'));
    const answer = await inspect(platform, 'POST', `/history/${await newest(platform)}/revert`, rootPairOf(platform));
    expect(answer.status).toBe(409);
    expect(answer.body.message).toContain('a replaced password is not restored');
  });
});

describe('an account that comes back', () => {
  it.each(['revert', 'restore'])('by a %s has its last password, and none of its tokens and keys', async (way) => {
    const platform = await started();
    const auth = rootPairOf(platform);
    const { id, token } = await ada(platform);
    const withFirst = await newest(platform);
    await platform.root.patch(`/root/users/${id}`, replaced('second'));
    const later = await tokenOf(platform, 'ada', 'second');
    const keyReply = await inspect(platform, 'POST', '/access/keys', auth, { userId: id });
    const key = basic(keyReply.body.apiKey, keyReply.body.apiSecret);
    expect([await statusOf(platform, later), await statusOf(platform, key)]).toEqual([200, 200]);
    await platform.root.delete(`/root/users/${id}`);
    const deleted = await newest(platform);
    const answer =
      way === 'revert'
        ? await inspect(platform, 'POST', `/history/${deleted}/revert`, auth)
        : await inspect(platform, 'POST', '/restore', auth, { at: withFirst });
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    for (const old of [token, later, key]) expect(await statusOf(platform, old)).toBe(401);
    expect((await logIn(platform, 'root', 'ada', 'first')).status).toBe(400);
    expect((await logIn(platform, 'root', 'ada', 'second')).status).toBe(200);
  });
});

describe('a reset to a seed (D-216)', () => {
  it("sets the seed's passwords again, and ends tokens, keys and sessions but for the one that asked", async () => {
    const platform = await started({ seed: 'demo' });
    const root = await tokenOf(platform, 'root');
    const other = await tokenOf(platform, 'root');
    const [user] = (await platform.root.get('/root/users?name=ada.byrne')).body;
    await platform.root.patch(`/root/users/${user.id}`, replaced('mine'));
    const token = await tokenOf(platform, 'ada.byrne', 'mine');
    const keyReply = await inspect(platform, 'POST', '/access/keys', root, { userId: user.id });
    const key = basic(keyReply.body.apiKey, keyReply.body.apiSecret);
    expect(await statusOf(platform, key)).toBe(200);
    expect((await inspect(platform, 'POST', '/reset', root, { seed: 'demo' })).status).toBe(200);
    for (const old of [token, key, other]) expect(await statusOf(platform, old)).toBe(401);
    expect([await statusOf(platform, root), await statusOf(platform, rootPairOf(platform))]).toEqual([200, 200]);
    expect((await logIn(platform, 'root', 'ada.byrne', 'mine')).status).toBe(400);
    const passwordsReply = await inspect(platform, 'GET', '/access/passwords', root);
    const { password } = passwordsReply.body.find(
      (entry: { user: { name: string } }) => entry.user.name === 'ada.byrne',
    );
    expect((await logIn(platform, 'root', 'ada.byrne', password)).status).toBe(200);
  });
});

describe('where other machines are let in', () => {
  async function open(options: Parameters<typeof startEmulator>[0]) {
    const emulator = await startEmulator({ seed: 'demo', containers: { engine: 'none' }, ...options });
    cleanUps.push(() => emulator.stop());
    return emulator;
  }
  const signIn = async ({ securityUrl }: Emulator, username: string, password: string) => {
    const form = new URLSearchParams({ grant_type: 'password', username, password });
    return (await send('POST', `${securityUrl}/root/oauth/issue`, { body: form })).status;
  };

  it('no published password opens anything, even if a user was given it', async () => {
    const emulator = await open({ host: '0.0.0.0', rootPassword: 'a long one of its own' });
    const { apiKey, apiSecret = '' } = emulator.rootCredentials;
    const auth = basic(apiKey, apiSecret);
    const body = { name: 'eve', properties: { password: 'milo-demo' } };
    expect((await send('POST', `${emulator.metaUrl}/root/users`, { auth, body })).status).toBe(201);
    expect(await signIn(emulator, 'eve', 'milo-demo')).toBe(400);
    const session = { username: 'eve', password: 'milo-demo' };
    expect((await send('POST', `${emulator.baseUrl}/inspect/session`, { body: session })).status).toBe(401);
  });
});
