import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rootPairOf } from '../../testing/account.ts';
import { type Reply, send } from '../../testing/checked-client.ts';
import { type Platform, refusal, startPlatform } from '../../testing/platform.ts';
import { makeUser } from '../../testing/tenant.ts';

const folder = mkdtempSync(join(tmpdir(), 'terrarium sessions '));
let platform: Platform;
afterAll(async () => {
  await platform?.stop();
  rmSync(folder, { recursive: true });
});

const start = async () => {
  platform = await startPlatform({ data: join(folder, 'data') });
};
beforeAll(start);
/** A browser gives the cookie back at the same port; here the port is another one after a start. */
const ask = (method: string, path: string, cookie: string, body?: unknown): Promise<Reply> => {
  const { baseUrl } = platform.emulator;
  const Cookie = `terrarium_session_${new URL(baseUrl).port}=${cookie}`;
  return send(method, `${baseUrl}${path}`, { headers: { Cookie, Origin: baseUrl }, body });
};
const signIn = async (proof: object = { code: new URL(platform.emulator.windowUrl()).searchParams.get('code') }) => {
  const { headers } = await send('POST', `${platform.emulator.baseUrl}/inspect/session`, { body: proof });
  return headers.getSetCookie()[0]?.split(';')[0]?.split('=')[1] ?? '';
};

describe('A session of the window', () => {
  it('survives a restart, in a private file that does not contain the cookie', async () => {
    const { id } = await makeUser(platform, 'ada');
    const [rootSession, hers] = [await signIn(), await signIn({ username: 'ada', password: 'ada-secret' })];
    const endedSession = await signIn({ username: 'ada', password: 'ada-secret' });
    expect((await ask('DELETE', '/inspect/session', endedSession)).status).toBe(204);
    await platform.stop();
    const [file = ''] = readdirSync(join(folder, 'data')).filter((name) => name.startsWith('window-sessions'));
    expect(statSync(join(folder, 'data', file)).mode & 0o777).toBe(0o600);
    expect(readFileSync(join(folder, 'data', file), 'utf8')).not.toMatch(new RegExp(`${rootSession}|${hers}`));

    await start();
    expect((await ask('GET', '/inspect/session', rootSession)).body.user).toMatchObject({ name: 'root', isRoot: true });
    expect((await ask('GET', '/meta/users/self', hers)).body.id).toBe(id);
    expect(await ask('GET', '/inspect/session', endedSession)).toMatchObject(refusal(401));
    expect(await ask('GET', '/inspect/session', `${rootSession.slice(0, -4)}AAAA`)).toMatchObject(refusal(401));

    // A new password ends it (D-216), also after a restart.
    const again = [{ op: 'replace', path: '/properties/password', value: 'another' }];
    expect((await platform.root.patch(`/root/users/${id}`, again)).status).toBe(200);
    expect(await ask('GET', '/inspect/session', hers)).toMatchObject(refusal(401));
    await platform.stop();
    await start();
    expect(await ask('GET', '/inspect/session', hers)).toMatchObject(refusal(401));
  });

  it('has its rights in the tools of /mcp', async () => {
    const { baseUrl } = platform.emulator;
    const params = { name: 'read_route', arguments: { route: 'listSnapshots' } };
    const { status, body } = await send('POST', `${baseUrl}/mcp`, {
      headers: {
        Cookie: `terrarium_session_${new URL(baseUrl).port}=${await signIn()}`,
        Origin: baseUrl,
        Accept: 'application/json, text/event-stream',
      },
      body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params },
    });
    expect(status).toBe(200);
    expect(JSON.stringify(body)).not.toContain('isError');
  });

  it('is begun once by a sign-in URL', async () => {
    const code = new URL(platform.emulator.windowUrl()).searchParams.get('code');
    expect(await signIn({ code })).not.toBe('');
    expect(await signIn({ code })).toBe('');
  });

  it('of root can look as another user, and then changes nothing', async () => {
    const { id } = await makeUser(platform, 'guest');
    const rootSession = await signIn();
    const viewAs = (userId: string | null, cookie = rootSession) =>
      ask('PUT', '/inspect/session/view-as', cookie, { userId });
    expect((await ask('GET', '/inspect/tree/counts', rootSession)).body.types.lambdas ?? 0).toBeDefined();
    expect((await viewAs(id)).body).toMatchObject({ user: { name: 'root' }, viewAs: { id, name: 'guest' } });
    expect((await ask('GET', '/meta/users/self', rootSession)).body.name).toBe('guest');
    expect(await ask('GET', '/inspect/world', rootSession)).toMatchObject(refusal(403));
    expect(await ask('POST', '/meta/root', rootSession, { name: 'no' })).toMatchObject(refusal(403));
    expect((await ask('GET', '/inspect/session', rootSession)).body).toMatchObject({ viewAs: { name: 'guest' } });
    expect((await viewAs(null)).body).not.toHaveProperty('viewAs');
    expect((await ask('GET', '/meta/users/self', rootSession)).body.name).toBe('root');
    const guestSession = await signIn({ username: 'guest', password: 'guest-secret' });
    expect(await viewAs(id, guestSession)).toMatchObject(refusal(403));
    // Root's key does not change the session of another user.
    const { baseUrl } = platform.emulator;
    const Cookie = `terrarium_session_${new URL(baseUrl).port}=${guestSession}`;
    const answer = await send('PUT', `${baseUrl}/inspect/session/view-as`, {
      auth: rootPairOf(platform),
      headers: { Cookie, Origin: baseUrl },
      body: { userId: id },
    });
    expect(answer).toMatchObject(refusal(403));
  });

  describe('of root that looks as another user', () => {
    const viewAs = (cookie: string, userId: string | null) =>
      ask('PUT', '/inspect/session/view-as', cookie, { userId });
    const access = async () =>
      (await send('GET', `${platform.emulator.baseUrl}/inspect/access`, { auth: rootPairOf(platform) })).body;
    const tokensOf = async (name: string) =>
      (await access()).tokens.filter((token: { user: { name: string } }) => token.user.name === name).length;

    it('gets no code that signs in as root', async () => {
      const { id } = await makeUser(platform, 'viewed');
      const rootSession = await signIn();
      expect((await ask('POST', '/inspect/session/codes', rootSession)).status).toBe(201);
      expect((await viewAs(rootSession, id)).status).toBe(200);
      expect(await ask('POST', '/inspect/session/codes', rootSession)).toMatchObject(refusal(403));
      expect(await ask('GET', '/inspect/access/passwords', rootSession)).toMatchObject(refusal(403));
    });

    it('still does so after a restart, and never changes anything', async () => {
      const { id } = await makeUser(platform, 'seen');
      const rootSession = await signIn();
      expect((await viewAs(rootSession, id)).status).toBe(200);
      await platform.stop();
      await start();
      expect((await ask('GET', '/meta/users/self', rootSession)).body.name).toBe('seen');
      expect(await ask('POST', '/meta/root', rootSession, { name: 'no' })).toMatchObject(refusal(403));
      expect((await viewAs(rootSession, null)).body).not.toHaveProperty('viewAs');
      expect((await ask('GET', '/meta/users/self', rootSession)).body.name).toBe('root');
    });

    it('leaves no token of that user when it ends: by switching back, by signing out, with the token of root', async () => {
      const { id } = await makeUser(platform, 'looked-at');
      const before = await tokensOf('looked-at');
      const [first, second, third] = [await signIn(), await signIn(), await signIn()];
      for (const cookie of [first, second, third]) await viewAs(cookie, id);
      expect(await tokensOf('looked-at')).toBe(before + 3);
      await viewAs(first, null);
      expect((await ask('DELETE', '/inspect/session', second)).status).toBe(204);
      expect(await tokensOf('looked-at')).toBe(before + 1);
      for (const { id: token, user } of (await access()).tokens)
        if (user.name === 'root')
          await send('DELETE', `${platform.emulator.baseUrl}/inspect/access/tokens/${token}`, {
            auth: rootPairOf(platform),
          });
      expect(await ask('GET', '/meta/users/self', third)).toMatchObject(refusal(401));
    });

    it('uses another token from then on, so that open terminals end', async () => {
      const { id } = await makeUser(platform, 'watched');
      const rootSession = await signIn();
      const ids = async () =>
        (await access()).tokens.flatMap((token: { user: { name: string }; id: string }) =>
          token.user.name === 'root' ? token.id : [],
        );
      const old = await ids();
      await viewAs(rootSession, id);
      const now = await ids();
      expect(now).toHaveLength(old.length);
      expect(now).not.toEqual(old);
    });
  });
});
