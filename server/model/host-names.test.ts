import { describe, expect, it } from 'vitest';
import { canonicalHost, isReservedHost } from './host-names.ts';

describe('a host', () => {
  it.each([
    ['Shop.Example:8080', 'shop.example'],
    ['shop.example.', 'shop.example'],
    ['LOCALHOST.', 'localhost'],
    ['127.1', '127.0.0.1'],
    ['0x7f.0.0.1:80', '127.0.0.1'],
    ['2130706433', '127.0.0.1'],
    ['0177.0.0.1', '127.0.0.1'],
    ['[::1]:80', '::1'],
    ['::1', '::1'],
    ['[0:0:0:0:0:0:0:1]', '::1'],
    ['my_service', 'my_service'],
  ])('%s is %s', (written, canonical) => expect(canonicalHost(written)).toBe(canonical));

  it.each(['localhost', '127.9.9.9', '0.0.0.0', '::1', '[::]', '[::ffff:127.0.0.1]', 'Terrarium.Localhost.:4700'])(
    '%s is reserved',
    (written) => expect(isReservedHost(canonicalHost(written))).toBe(true),
  );

  it.each(['shop.localhost', 'localhost.example', '128.0.0.1', '[::2]', '10.127.0.1'])('%s is free', (written) =>
    expect(isReservedHost(canonicalHost(written))).toBe(false),
  );
});
