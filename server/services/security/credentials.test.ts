import { createHash } from 'node:crypto';
import { beforeEach, expect, test } from 'vitest';
import { MemoryLog } from '../../testing/memory-log.ts';
import { Credentials, type KeyRecord, type TokenRecord } from './credentials.ts';

const ADA = 'a0000000-0000-4000-8000-000000000001';
const BOB = 'b0000000-0000-4000-8000-000000000002';
const ORG = 'c0000000-0000-4000-8000-000000000003';
const HOUR_MS = 60 * 60 * 1000;

let nowMs: number;
let keys: MemoryLog<KeyRecord>;
let tokens: MemoryLog<TokenRecord>;
let credentials: Credentials;

beforeEach(() => {
  nowMs = 1_000_000;
  keys = new MemoryLog();
  tokens = new MemoryLog();
  credentials = new Credentials({ keys, tokens, nowMs: () => nowMs });
});

test('a token is good for eight hours and not a millisecond longer', async () => {
  const token = await credentials.issueToken(ADA, ORG);
  expect(credentials.findToken(token)).toEqual({
    id: createHash('sha256').update(token).digest('hex'),
    accountId: ADA,
    orgId: ORG,
    issuedAtMs: 1_000_000,
    expiresAtMs: 1_000_000 + 8 * HOUR_MS,
  });
  nowMs += 8 * HOUR_MS - 1;
  expect(credentials.findToken(token)).toBeDefined();
  nowMs += 1;
  expect(credentials.findToken(token)).toBeUndefined();
});

test('an expired token is reported as expired, also after later ones were issued, up to a limit', async () => {
  const first = await credentials.issueToken(ADA, ORG);
  nowMs += 4 * HOUR_MS;
  const living = await credentials.issueToken(ADA, ORG);
  nowMs += 5 * HOUR_MS;
  await credentials.issueToken(BOB, ORG);
  expect(credentials.readToken(first)).toEqual({ reason: 'expired' });
  expect(credentials.findToken(living)).toBeDefined();
  expect([...credentials.tokens()]).toHaveLength(2);

  for (let at = 0; at < 1_500; at++) await credentials.issueToken(ADA, ORG);
  nowMs += 9 * HOUR_MS;
  await credentials.issueToken(BOB, ORG);
  expect(tokens.size).toBe(1_001);
  expect(credentials.readToken(first)).toEqual({ reason: 'wrong' });
});

test('neither tokens nor secrets are kept in a readable form', async () => {
  const token = await credentials.issueToken(ADA, ORG);
  const { secret } = await credentials.createKey(ADA, ORG);
  const storedText = JSON.stringify([[...tokens.entries()], [...keys.entries()]]);
  expect(storedText).not.toContain(token);
  expect(storedText).not.toContain(secret);
});

test('a key is recognised by its secret only', async () => {
  const { key, secret } = await credentials.createKey(ADA, ORG);
  expect(secret).toMatch(/^[A-Za-z0-9]{40}$/);
  expect(credentials.verifyKey(key, secret)).toMatchObject({ key, accountId: ADA, orgId: ORG, disabled: false });
  expect(credentials.verifyKey(key, `${secret}x`)).toBeUndefined();
  expect(credentials.verifyKey(key, '')).toBeUndefined();
  expect(credentials.verifyKey(ADA, secret)).toBeUndefined();
});

test('a disabled key proves nothing', async () => {
  const { key, secret } = await credentials.createKey(ADA, ORG);
  const record = credentials.findKey(key);
  if (record) await keys.put(key, { ...record, disabled: true });
  expect(credentials.verifyKey(key, secret)).toBeUndefined();
});

test('a revoked token is unknown, and revoking it again says so', async () => {
  const token = await credentials.issueToken(ADA, ORG);
  const { key, secret } = await credentials.createKey(ADA, ORG);
  expect([await credentials.revokeToken(token), await credentials.revokeToken(token)]).toEqual([true, false]);
  expect([await credentials.revokeKey(key), await credentials.revokeKey(key)]).toEqual([true, false]);
  expect(credentials.findToken(token)).toBeUndefined();
  expect(credentials.verifyKey(key, secret)).toBeUndefined();
});

test('a deleted user leaves no credentials, another one keeps theirs', async () => {
  const adas = [await credentials.issueToken(ADA, ORG), await credentials.issueToken(ADA, ORG)];
  const adasKey = await credentials.createKey(ADA, ORG);
  const bobs = await credentials.issueToken(BOB, ORG);
  const bobsKey = await credentials.createKey(BOB, ORG);
  await credentials.forgetUser(ADA);
  expect(adas.map((token) => credentials.findToken(token))).toEqual([undefined, undefined]);
  expect(credentials.findKey(adasKey.key)).toBeUndefined();
  expect(credentials.findToken(bobs)).toBeDefined();
  expect(credentials.verifyKey(bobsKey.key, bobsKey.secret)).toBeDefined();
});

test('the first key pair is generated when none is given, and stays in force when it is given back', async () => {
  const root = { userId: ADA, orgId: ORG };
  const first = await credentials.ensureRootKey(root);
  expect(await credentials.ensureRootKey(root, first)).toEqual(first);
  expect(keys.size).toBe(1);
  expect(credentials.verifyKey(first.key, first.secret)?.accountId).toBe(ADA);
});

test('a configured secret replaces the one that its key had', async () => {
  const root = { userId: ADA, orgId: ORG };
  await credentials.ensureRootKey(root, { key: 'ci', secret: 'old' });
  await credentials.ensureRootKey(root, { key: 'ci', secret: 'new' });
  expect(credentials.verifyKey('ci', 'old')).toBeUndefined();
  expect(credentials.verifyKey('ci', 'new')).toBeDefined();
});
