import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it, vi } from 'vitest';
import { rootPairOf } from '../../testing/account.ts';
import { send } from '../../testing/checked-client.ts';
import { freePort } from '../../testing/free-port.ts';
import { type Platform, startPlatform } from '../../testing/platform.ts';
import type { Body } from '../../testing/tenant.ts';

const folder = await mkdtemp(join(tmpdir(), 'terrarium-scm-place-'));
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Runs a platform with the demo world during a callback. */
async function during(settings: object, look: (platform: Platform) => Promise<void>): Promise<void> {
  const platform = await startPlatform({ seed: 'demo', ...settings });
  try {
    await look(platform);
  } finally {
    await platform.stop();
  }
}
const deployLambda = async ({ root }: Platform): Promise<Body> =>
  (await root.get('/demo/lambdas?name=deploy&expand=true')).body[0];
const envOf = async (platform: Platform): Promise<Body> => (await deployLambda(platform)).properties.env;
const open = async ({ emulator }: Platform, token: string) =>
  (await fetch(`${emulator.scmUrl}/api/v4/projects`, { headers: { 'PRIVATE-TOKEN': token } })).status;
const inspect = (platform: Platform, verb: string, path: string, body?: unknown, headers = {}) =>
  send(verb, `${platform.emulator.baseUrl}/inspect/${path}`, { auth: rootPairOf(platform), body, headers });

it("a token is each data folder's own, kept for its owner, and the demo's deployment has it (D-200)", async () => {
  const tokens: string[] = [];
  for (const data of [join(folder, 'a'), join(folder, 'a'), join(folder, 'b'), ':memory:']) {
    await during({ data }, async (platform) => {
      const { scmToken: token } = platform.emulator;
      expect(await open(platform, token)).toBe(200);
      expect(await open(platform, 'terrarium-scm-token')).toBe(401);
      expect(await envOf(platform)).toMatchObject({ SCM_TOKEN: token });
      expect((await inspect(platform, 'GET', 'scm')).body.token).toBe(token);
      tokens.push(token);
    });
  }
  const [first, again, ...otherTokens] = tokens;
  expect(again).toBe(first);
  expect(new Set([first, ...otherTokens]).size).toBe(3);
  expect(first).toMatch(/^[\w-]{32}$/);
  const [file = ''] = (await readdir(join(folder, 'a'))).filter((name) => name.startsWith('scm-token'));
  expect((await stat(join(folder, 'a', file))).mode & 0o777).toBe(0o600);
  expect(await readFile(join(folder, 'a', file), 'utf8')).toContain(first);
});

it('a configured token is set on the deployment of an existing world, and is removed again', async () => {
  const data = join(folder, 'set');
  let ownToken = '';
  await during({ data }, async ({ emulator }) => {
    ownToken = emulator.scmToken;
  });
  await during({ data, scmToken: 'chosen-by-hand' }, async (platform) => {
    expect(await envOf(platform)).toMatchObject({ SCM_TOKEN: 'chosen-by-hand' });
    expect(await open(platform, 'chosen-by-hand')).toBe(200);
    expect(await open(platform, ownToken)).toBe(401);
  });
  await during({ data }, async (platform) => expect(await envOf(platform)).toMatchObject({ SCM_TOKEN: ownToken }));
});

it('a deployment reaches the mock GitLab after the world of the first start is restored', async () => {
  await during({}, async (platform) => {
    const before = await envOf(platform);
    const description = [{ op: 'add', path: '/description', value: 'edited' }];
    const { id } = await deployLambda(platform);
    expect((await platform.root.patch(`/demo/lambdas/${id}`, description)).status).toBe(200);
    const { status, body } = await inspect(platform, 'POST', 'restore', { at: 0 });
    expect(status).toBe(200);
    await vi.waitFor(async () => expect(await envOf(platform)).toEqual(before), { timeout: 20_000 });
    // The address is right already, so it does not keep the restore from being undone.
    expect((await inspect(platform, 'POST', `history/${body.commit.seq}/revert`)).status).toBe(200);
    expect(await deployLambda(platform)).toMatchObject({ description: 'edited', properties: { env: before } });
  });
});

it('a deployment reaches the mock GitLab after a world of an earlier start, with another port and token, is restored', async () => {
  const data = join(folder, 'moved');
  await during({ data, scmToken: 'first' }, async (platform) => {
    expect((await inspect(platform, 'POST', 'snapshots', { name: 'first' })).status).toBe(201);
  });
  await during({ data, scmToken: 'second', scmPort: await freePort() }, async (platform) => {
    const present = await envOf(platform);
    expect(present).toMatchObject({
      SCM_API_URL: expect.stringContaining(platform.emulator.scmUrl),
      SCM_TOKEN: 'second',
    });
    expect((await inspect(platform, 'POST', 'snapshots/first/restore')).status).toBe(200);
    await vi.waitFor(async () => expect(await envOf(platform)).toEqual(present), { timeout: 20_000 });
  });
});

it('a deployment that names another server or another token keeps them', async () => {
  const data = join(folder, 'other');
  const set = (platform: Platform, id: string, env: object) =>
    platform.root.patch(`/root/lambdas/${id}`, [{ op: 'replace', path: '/properties/env', value: env }]);
  const elsewhere = { SCM_API_URL: 'https://scm.example.com/api/v4/projects', SCM_TOKEN: 'of-there' };
  await during({ data }, async (platform) => {
    const { id } = await deployLambda(platform);
    expect((await set(platform, id, elsewhere)).status).toBe(200);
  });
  await during({ data, scmToken: 'chosen' }, async (platform) => {
    const { id, properties } = await deployLambda(platform);
    expect(properties.env).toEqual(elsewhere);
    const { apiUrl } = (await inspect(platform, 'GET', 'scm')).body;
    await set(platform, id, { SCM_API_URL: apiUrl, SCM_TOKEN: 'of-a-guest' });
  });
  await during({ data, scmToken: 'chosen-again' }, async (platform) =>
    expect((await envOf(platform)).SCM_TOKEN).toBe('of-a-guest'),
  );
});

it('an exported world does not tell the token, and comes back with that of where it is applied', async () => {
  let exported = '';
  await during({ data: join(folder, 'from') }, async (platform) => {
    exported = (await inspect(platform, 'GET', 'export')).body;
    expect(exported).toContain('SCM_API_URL');
    expect(exported).not.toContain(platform.emulator.scmToken);
  });
  await during({ data: ':memory:' }, async (platform) => {
    const before = await envOf(platform);
    const importedSeed = exported.replaceAll('<not exported>', 'filled in');
    const { emulator } = platform;
    const answer = await send('POST', `${emulator.baseUrl}/inspect/apply`, {
      auth: rootPairOf(platform),
      body: importedSeed,
      headers: { 'Content-Type': 'application/yaml' },
    });
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    expect(await envOf(platform)).toEqual(before);
  });
});
