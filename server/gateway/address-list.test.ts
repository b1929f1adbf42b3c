import { describe, expect, it } from 'vitest';
import { AddressList } from './endpoint.ts';

describe('a list of addresses', () => {
  it.each([
    ['127.0.0.1', '127.0.0.1', true],
    ['127.0.0.1', '127.0.0.2', false],
    ['10.0.0.0/8', '10.255.0.1', true],
    ['10.0.0.0/8', '11.0.0.1', false],
    ['0.0.0.0/0', '203.0.113.9', true],
    ['127.0.0.1', '::ffff:127.0.0.1', true],
    ['10.0.0.0/8', '::FFFF:10.1.2.3', true],
    ['::ffff:10.0.0.0/104', '10.1.2.3', true],
    ['::ffff:127.0.0.1', '127.0.0.1', true],
    ['::1', '::1', true],
    ['fd00::/8', 'fd12::1', true],
    ['fd00::/8', 'fe80::1', false],
    ['0.0.0.0/0', '::1', false],
  ])('of %s: %s is in it: %s', (entry, peer, isIn) => {
    expect(new AddressList([entry]).has(peer)).toBe(isIn);
  });

  it('ignores invalid entries', () => {
    const list = new AddressList([
      '',
      'localhost',
      '10.0.0.0/33',
      '10.0.0.0/',
      '10.0.0.0/x',
      '1.2.3.4/5/6',
      '10.0.0.7',
    ]);
    expect(list.has('10.0.0.7')).toBe(true);
    expect(list.has('10.0.0.8')).toBe(false);
    expect(list.has(undefined)).toBe(false);
  });
});
