import crypto from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type Emulator, startEmulator } from '../../platform/emulator.ts';
import { basic, send } from '../../testing/checked-client.ts';

describe('a refused sign-in takes the same work, so that its duration does not reveal what exists', () => {
  let emulator: Emulator;
  const scrypt = vi.spyOn(crypto, 'scrypt');
  const sha256 = vi.spyOn(crypto, 'hash');
  const post = (url: string, auth: string, body?: unknown) => send('POST', url, { auth, body });
  const root = () => basic(emulator.rootCredentials.apiKey, emulator.rootCredentials.apiSecret ?? '');

  beforeAll(async () => {
    // With the hash function of users, which tests usually replace.
    emulator = await startEmulator({ seed: 'demo', containers: { engine: 'none' } }, { spareProcesses: 0 });
    const { metaUrl, securityUrl } = emulator;
    const create = async (name: string, password?: string) => {
      const body = { name, properties: password === undefined ? {} : { password } };
      return (await post(`${metaUrl}/root/users`, root(), body)).body.id;
    };
    await create('with-password', 'a password');
    await create('without-password');
    const disabled = await create('disabled', 'a password');
    expect((await post(`${securityUrl}/accounts/${disabled}/disable`, root())).status).toBe(200);
  });
  afterAll(() => {
    vi.restoreAllMocks();
    return emulator.stop();
  });

  const grant = (username: string, password: string) => {
    const body = new URLSearchParams({ grant_type: 'password', username, password });
    return send('POST', `${emulator.securityUrl}/root/oauth/issue`, { body });
  };
  const session = (username: string, password: string) =>
    send('POST', `${emulator.baseUrl}/inspect/session`, { body: { username, password } });

  it.each([
    ['for a token', grant, 400],
    ['to the window', session, 401],
  ])('%s', async (_what, signIn, status) => {
    const attempts = [
      ['unknown', 'wrong'],
      ['root', 'wrong'], // a random password
      ['ada.byrne', 'wrong'], // a random password, in another organization
      ['with-password', 'wrong'],
      ['without-password', 'wrong'],
      ['disabled', 'wrong'],
      ['disabled', 'a password'],
    ] as const;
    const scryptRounds: [name: string, rounds: unknown[]][] = [];
    for (const [name, password] of attempts) {
      scrypt.mockClear();
      expect((await signIn(name, password)).status, name).toBe(status);
      scryptRounds.push([name, scrypt.mock.calls.map(([, , , options]) => options.N)]);
    }
    const [first] = scryptRounds;
    expect(first?.[1]).toContain(2 ** 14);
    expect(scryptRounds).toEqual(attempts.map(([name]) => [name, first?.[1]]));
  });

  it('with an API key', async () => {
    const hashesOf = async (ask: (auth: string) => Promise<{ status: number }>, auth: string) => {
      sha256.mockClear();
      expect((await ask(auth)).status).toBeGreaterThanOrEqual(400);
      return sha256.mock.calls.length;
    };
    const request = (auth: string) => send('GET', `${emulator.metaUrl}/users/self`, { auth });
    const token = (auth: string) =>
      send('POST', `${emulator.securityUrl}/oauth/issue`, {
        auth,
        body: new URLSearchParams({ grant_type: 'client_credentials' }),
      });
    for (const ask of [request, token])
      expect(await hashesOf(ask, basic('unknown', 'wrong'))).toBe(
        await hashesOf(ask, basic(emulator.rootCredentials.apiKey, 'wrong')),
      );
  });
});
