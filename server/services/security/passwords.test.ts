import { scryptSync } from 'node:crypto';
import { expect, test } from 'vitest';
import { hashPassword, verifyPassword } from './passwords.ts';

test('a password is recognised by its hash, and no other is', async () => {
  const hash = await hashPassword('pässword');
  expect(hash).toMatch(/^scrypt\$16384\$8\$1\$[^$]+\$[^$]+$/);
  expect(await verifyPassword('pässword', hash)).toBe(true);
  expect(await verifyPassword('password', hash)).toBe(false);
  expect(await verifyPassword('', hash)).toBe(false);
});

test('the same password has another hash each time', async () => {
  expect(await hashPassword('x')).not.toBe(await hashPassword('x'));
});

test('a hash made with other parameters is still understood', async () => {
  const hash = scryptSync('terrarium', 'saltsaltsaltsalt', 32, { N: 1024, r: 8, p: 1 }).toString('base64');
  const encoded = `scrypt$1024$8$1$${Buffer.from('saltsaltsaltsalt').toString('base64')}$${hash}`;
  expect(await verifyPassword('terrarium', encoded)).toBe(true);
  expect(await verifyPassword('terrarium!', encoded)).toBe(false);
});

test('no password matches an unknown user, or a hash in an unknown format', async () => {
  expect(await verifyPassword('x', undefined)).toBe(false);
  expect(await verifyPassword('plain', 'plain')).toBe(false);
  expect(await verifyPassword('', 'scrypt$16384$8$1$AAAA$')).toBe(false);
});
