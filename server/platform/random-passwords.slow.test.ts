import { cp, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { PUBLISHED } from '../services/security/passwords.ts';
import { packageFile } from '../system/package-file.ts';
import { basic, send } from '../testing/checked-client.ts';
import { type Emulator, startEmulator } from './emulator.ts';

interface Listed {
  user: { name: string };
  password: string;
}

let data: string;
const running: Emulator[] = [];
beforeEach(async () => {
  data = await mkdtemp(join(tmpdir(), 'terrarium-passwords-'));
});
afterEach(async () => {
  for (const emulator of running.splice(0)) await emulator.stop();
  await rm(data, { recursive: true });
});

async function open(options: Parameters<typeof startEmulator>[0] = {}) {
  const warnings: string[] = [];
  const emulator = await startEmulator(
    { data, containers: { engine: 'none' }, ...options },
    { spareProcesses: 0, onWarning: (message) => warnings.push(message) },
  );
  running.push(emulator);
  return { emulator, warnings };
}

const readPasswords = async (): Promise<Record<string, string>> =>
  JSON.parse(await readFile(join(data, 'passwords.json'), 'utf8'));

async function signIn({ securityUrl }: Emulator, username: string, password = ''): Promise<number> {
  const form = new URLSearchParams({ grant_type: 'password', username, password });
  return (await send('POST', `${securityUrl}/root/oauth/issue`, { body: form })).status;
}

const authOf = ({ rootCredentials: { apiKey, apiSecret = '' } }: Emulator) => basic(apiKey, apiSecret);

test('root and the users of the demo have passwords that are random and differ between data folders (D-220)', async () => {
  const [{ emulator }, other] = [await open(), await open({ data: ':memory:' })];
  const passwords = await readPasswords();
  expect(Object.keys(passwords).sort()).toEqual(PUBLISHED.map(({ user }) => user).sort());
  for (const { user, password } of PUBLISHED) {
    expect(await signIn(emulator, user, password)).toBe(400);
    expect(await signIn(emulator, user, passwords[user])).toBe(200);
    expect(await signIn(other.emulator, user, passwords[user])).toBe(400);
  }
  expect(emulator.rootCredentials.password).toBe(passwords.root);
  for (const file of ['passwords.json', 'root-api-key.json'])
    expect((await stat(join(data, file))).mode & 0o777, file).toBe(0o600);
  const listed = await send('GET', `${emulator.baseUrl}/inspect/access/passwords`, { auth: authOf(emulator) });
  expect(Object.fromEntries(listed.body.map((entry: Listed) => [entry.user.name, entry.password]))).toEqual(passwords);
});

test('a reset and a restart keep them', async () => {
  const { emulator } = await open();
  const passwords = await readPasswords();
  const url = `${emulator.baseUrl}/inspect/reset`;
  expect((await send('POST', url, { auth: authOf(emulator), body: { seed: 'demo' } })).status).toBe(200);
  expect(await signIn(emulator, 'ada.byrne', passwords['ada.byrne'])).toBe(200);
  await emulator.stop();
  const again = await open();
  expect(again.warnings).toEqual([]);
  expect(again.emulator.rootCredentials.password).toBe(passwords.root);
  expect(await signIn(again.emulator, 'milo.tanaka', passwords['milo.tanaka'])).toBe(200);
  expect(await readPasswords()).toEqual(passwords);
});

test('only root can list them, and only those that are in use', async () => {
  const { emulator } = await open();
  const url = `${emulator.baseUrl}/inspect/access/passwords`;
  const { 'ada.byrne': password = '' } = await readPasswords();
  const form = new URLSearchParams({ grant_type: 'password', username: 'ada.byrne', password });
  const { body: token } = await send('POST', `${emulator.securityUrl}/root/oauth/issue`, { body: form });
  expect((await send('GET', url)).status).toBe(401);
  expect((await send('GET', url, { auth: `Bearer ${token.access_token}` })).status).toBe(403);
  const auth = authOf(emulator);
  const [ada] = (await send('GET', `${emulator.metaUrl}/root/users?name=ada.byrne`, { auth })).body;
  const body = [{ op: 'replace', path: '/properties/password', value: 'a password of her own' }];
  await send('PATCH', `${emulator.metaUrl}/root/users/${ada.id}`, { auth, body });
  const listed = (await send('GET', url, { auth })).body.map((entry: Listed) => entry.user.name);
  expect(listed.sort()).toEqual(['ci-service', 'milo.tanaka', 'root']);
});

test('a data folder with published passwords gets random ones at its next start, with one warning', async () => {
  await cp(packageFile('fixtures/data-folders/2026-11'), data, { recursive: true });
  await rm(join(data, 'lock'), { force: true });
  const { emulator, warnings } = await open();
  expect(warnings).toEqual([expect.stringContaining('root, ada.byrne, milo.tanaka, ci-service were published')]);
  const passwords = await readPasswords();
  for (const { user, password } of PUBLISHED) {
    expect(await signIn(emulator, user, password)).toBe(400);
    expect(await signIn(emulator, user, passwords[user])).toBe(200);
  }
  await emulator.stop();
  expect((await open()).warnings).toEqual([]);
});

test('passwords that are given are used: of root in the settings, of users in the seed', async () => {
  const seed = { format: 1, users: { ada: { properties: { password: 'given' } }, eve: { properties: {} } } };
  const emulator = await startEmulator(
    { data, rootPassword: 'terrarium', containers: { engine: 'none' } },
    { seed, spareProcesses: 0 },
  );
  running.push(emulator);
  expect(await signIn(emulator, 'root', 'terrarium')).toBe(200);
  expect(await signIn(emulator, 'ada', 'given')).toBe(200);
  expect(Object.keys(await readPasswords())).toEqual(['eve']);
  expect(emulator.rootCredentials.password).toBeUndefined();
});

test('the password of a user that is created is hashed at full cost', async () => {
  const { emulator } = await open({ seed: 'empty' });
  const body = { name: 'ada', properties: { password: 'secret' } };
  const { status } = await send('POST', `${emulator.metaUrl}/root/users`, { auth: authOf(emulator), body });
  expect(status).toBe(201);
  await emulator.stop();
  const files = (await readdir(data, { recursive: true, withFileTypes: true })).filter((dirent) => dirent.isFile());
  const texts = await Promise.all(files.map(({ parentPath, name }) => readFile(join(parentPath, name), 'latin1')));
  const hashes = new Map(
    [...texts.join('\n').matchAll(/scrypt\$(\d+)\$8\$1\$[^"]+/g)].map(([hash, rounds]) => [hash, rounds]),
  );
  expect([...hashes.values()].sort()).toEqual(['16', '16384']);
});
