import { expect, test } from 'vitest';
import { formDecoded, readAuthorization } from './authenticator.ts';

const basic = (pair: string) => Buffer.from(pair).toString('base64');

test('the scheme is read in any letter case', () => {
  for (const scheme of ['Bearer', 'bearer', 'BEARER']) {
    expect(readAuthorization(`${scheme} abc`)).toEqual({ scheme: 'bearer', token: 'abc' });
  }
  for (const scheme of ['Basic', 'basic', 'bASIC']) {
    expect(readAuthorization(`${scheme} ${basic('k:s')}`)).toEqual({ scheme: 'basic', key: 'k', secret: 's' });
  }
});

test('a secret may hold colons, and either part may be empty', () => {
  expect(readAuthorization(`Basic ${basic('k:s:t')}`)).toEqual({ scheme: 'basic', key: 'k', secret: 's:t' });
  expect(readAuthorization(`Basic ${basic(':')}`)).toEqual({ scheme: 'basic', key: '', secret: '' });
});

test.each([
  '',
  'Bearer',
  'Bearer ',
  'Bearer a b',
  'Basic',
  'Basic ***',
  `Basic ${basic('no-colon')}`,
  'Digest username="x"',
  'token',
  'Bearer a, Basic b',
])('%j claims nothing', (header) => {
  expect(readAuthorization(header)).toBeUndefined();
});

test('form encoding is undone where there is some', () => {
  expect(formDecoded('a%2Db+c')).toBe('a-b c');
  expect(formDecoded('100%')).toBe('100%');
});
