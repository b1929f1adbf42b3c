import { scryptSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { DEFAULT_ROOT_PASSWORD } from '../config-schema.ts';
import { packageFile } from '../package-file.ts';
import { verifyPassword } from '../security/passwords.ts';
import { PUBLISHED, publishedHash } from '../security/published-hashes.ts';

const seed = readFileSync(packageFile('fixtures/worlds/demo.yaml'), 'utf8');
const users: Record<string, { properties: { password: string } }> = parse(seed).users;
const published = [DEFAULT_ROOT_PASSWORD, ...Array.from(seed.matchAll(/password: (\S+)/g), ([, one = '']) => one)];

test('they are those of root and of the users of the demo', () => {
  expect(PUBLISHED.map(({ password }) => password)).toEqual(published);
  const ofUsers = Object.entries(users).map(([user, { properties }]) => [user, properties.password]);
  expect(PUBLISHED.slice(1).map(({ user, password }) => [user, password])).toEqual(ofUsers);
});

test.each(published)("'%s' is what its hash was made of, by the parameters in it", async (password) => {
  const encoded = publishedHash(password) ?? '';
  const [, N, r, p, salt = '', hash] = encoded.split('$');
  const options = { N: Number(N), r: Number(r), p: Number(p) };
  expect(scryptSync(password, Buffer.from(salt, 'base64'), 32, options).toString('base64')).toBe(hash);
  expect(await verifyPassword(password, encoded)).toBe(true);
  expect(await verifyPassword(`${password}!`, encoded)).toBe(false);
});

test('no other password has one', () => {
  expect(published).toHaveLength(4);
  expect(publishedHash('secret')).toBeUndefined();
});
