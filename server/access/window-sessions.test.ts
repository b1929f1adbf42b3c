import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { type Reply, send } from '../../e2e/checked-client.ts';
import { makeUser } from '../../e2e/place.ts';
import { type Platform, refusal, startPlatform } from '../../e2e/platform.ts';

const folder = mkdtempSync(join(tmpdir(), 'terrarium sessions '));
let platform: Platform;
afterAll(async () => {
  await platform?.stop();
  rmSync(folder, { recursive: true });
});

const start = async () => {
  platform = await startPlatform({ data: join(folder, 'data') });
};
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
  it('outlives a restart, in a file that nobody else reads and that opens nothing', async () => {
    await start();
    const { voice, id } = await makeUser(platform, 'ada');
    const [mine, hers] = [await signIn(), await signIn({ username: 'ada', password: 'ada-secret' })];
    const gone = await signIn({ username: 'ada', password: 'ada-secret' });
    expect((await ask('DELETE', '/inspect/session', gone)).status).toBe(204);
    await platform.stop();
    const [file = ''] = readdirSync(join(folder, 'data')).filter((name) => name.startsWith('window-sessions'));
    expect(statSync(join(folder, 'data', file)).mode & 0o777).toBe(0o600);
    expect(readFileSync(join(folder, 'data', file), 'utf8')).not.toMatch(new RegExp(`${mine}|${hers}`));

    await start();
    expect((await ask('GET', '/inspect/session', mine)).body.user).toMatchObject({ name: 'root', isRoot: true });
    expect((await ask('GET', '/meta/users/self', hers)).body.id).toBe(id);
    expect(await ask('GET', '/inspect/session', gone)).toMatchObject(refusal(401));
    expect(await ask('GET', '/inspect/session', `${mine.slice(0, -4)}AAAA`)).toMatchObject(refusal(401));

    // Another password ends it (D-216), and so after a start, too.
    const again = [{ op: 'replace', path: '/properties/password', value: 'another' }];
    expect((await platform.root.patch(`/root/users/${id}`, again)).status).toBe(200);
    expect(await ask('GET', '/inspect/session', hers)).toMatchObject(refusal(401));
    await platform.stop();
    await start();
    expect(await ask('GET', '/inspect/session', hers)).toMatchObject(refusal(401));
    expect(voice).toBeDefined();
  });

  it("of root can look with another's eyes, and then changes nothing", async () => {
    const { id } = await makeUser(platform, 'guest');
    const mine = await signIn();
    const eyes = (userId: string | null, cookie = mine) => ask('PUT', '/inspect/session/eyes', cookie, { userId });
    expect((await ask('GET', '/inspect/tree/counts', mine)).body.types.lambdas ?? 0).toBeDefined();
    expect((await eyes(id)).body).toMatchObject({ user: { name: 'root' }, eyes: { id, name: 'guest' } });
    expect((await ask('GET', '/meta/users/self', mine)).body.name).toBe('guest');
    expect(await ask('GET', '/inspect/world', mine)).toMatchObject(refusal(403));
    expect(await ask('POST', '/meta/root', mine, { name: 'no' })).toMatchObject(refusal(403));
    expect((await ask('GET', '/inspect/session', mine)).body).toMatchObject({ eyes: { name: 'guest' } });
    expect((await eyes(null)).body).not.toHaveProperty('eyes');
    expect((await ask('GET', '/meta/users/self', mine)).body.name).toBe('root');
    const theirs = await signIn({ username: 'guest', password: 'guest-secret' });
    expect(await eyes(id, theirs)).toMatchObject(refusal(403));
  });
});
