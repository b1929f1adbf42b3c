import { beforeEach, expect, test } from 'vitest';
import type { Authenticator } from '../../model/caller.ts';
import type { StoredResource } from '../../model/record.ts';
import { MemoryLog } from '../../testing/memory-log.ts';
import { TestWorld } from '../../testing/test-world.ts';
import { createAuthenticator } from './authenticator.ts';
import { Credentials } from './credentials.ts';

let nowMs: number;
let world: TestWorld;
let ada: StoredResource;
let credentials: Credentials;
let authenticator: Authenticator;

beforeEach(() => {
  nowMs = 0;
  world = new TestWorld();
  ada = world.add('users', world.root, { name: 'ada' });
  credentials = new Credentials({ keys: new MemoryLog(), tokens: new MemoryLog(), nowMs: () => nowMs });
  authenticator = createAuthenticator(world, credentials);
});

async function bearer(user: StoredResource): Promise<string> {
  return `Bearer ${await credentials.issueToken(user.id, world.root.id)}`;
}

async function basic(user: StoredResource): Promise<string> {
  const { key, secret } = await credentials.createKey(user.id, world.root.id);
  return `Basic ${Buffer.from(`${key}:${secret}`).toString('base64')}`;
}

test('a token and a key pair both name their account, with the groups it is in', async () => {
  const group = world.add('groups', world.root, { properties: { users: [ada.id] } });
  const caller = { userId: ada.id, name: 'ada', isRoot: false, groupIds: [group.id] };
  const header = await bearer(ada);
  expect(authenticator.identify(header)).toEqual({
    kind: 'caller',
    caller: { ...caller, scheme: 'bearer', tokenId: credentials.findToken(header.slice('Bearer '.length))?.id },
  });
  const pair = await basic(ada);
  const [apiKey] = Buffer.from(pair.slice('Basic '.length), 'base64').toString().split(':');
  expect(authenticator.identify(pair)).toEqual({ kind: 'caller', caller: { ...caller, scheme: 'basic', apiKey } });
});

test('the root user is known as root', async () => {
  expect(authenticator.identify(await bearer(world.rootUser))).toMatchObject({
    caller: { isRoot: true, name: 'root' },
  });
});

test('a request without a header has no user; a header without valid credentials is invalid', async () => {
  expect(authenticator.identify(undefined)).toEqual({ kind: 'none' });
  const token = await credentials.issueToken(ada.id, world.root.id);
  const wrong = `Basic ${Buffer.from('ada:password').toString('base64')}`;
  for (const header of ['', 'Bearer', 'nonsense', `Digest ${token}`, `Bearer ${token}x`, wrong]) {
    expect(authenticator.identify(header), header).toEqual({ kind: 'invalid', reason: 'wrong' });
  }
});

test('an expired token, a disabled account and a deleted one prove nothing', async () => {
  const headers = [await bearer(ada), await basic(ada)];
  world.change(ada.id, { properties: { disabled: true } });
  expect(headers.map((header) => authenticator.identify(header).kind)).toEqual(['invalid', 'invalid']);
  world.change(ada.id, { properties: {} });
  expect(headers.map((header) => authenticator.identify(header).kind)).toEqual(['caller', 'caller']);
  const ended = await bearer(ada);
  await credentials.revokeToken(ended.slice('Bearer '.length));
  expect(authenticator.identify(ended)).toEqual({ kind: 'invalid', reason: 'ended' });
  nowMs = credentials.tokenLifetimeMs;
  expect(headers.map((header) => authenticator.identify(header).kind)).toEqual(['invalid', 'caller']);
  expect(authenticator.identify(headers[0])).toEqual({ kind: 'invalid', reason: 'expired' });
  world.remove(ada.id);
  expect(headers.map((header) => authenticator.identify(header).kind)).toEqual(['invalid', 'invalid']);
});
