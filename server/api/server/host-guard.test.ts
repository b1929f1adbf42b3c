import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hostNameOf, isOurHost } from './host-guard.ts';

describe('the name in a Host header', () => {
  it.each([
    ['localhost', 'localhost'],
    ['LocalHost:4700', 'localhost'],
    ['localhost.', 'localhost'],
    ['localhost.:4700', 'localhost'],
    ['127.0.0.1:65535', '127.0.0.1'],
    ['[::1]', '::1'],
    ['[::1]:4700', '::1'],
    ['[FE80::1]', 'fe80::1'],
    ['my_service', 'my_service'],
    ['a', 'a'],
    ['cloud.example.com:8443', 'cloud.example.com'],
  ])('%s is %s', (header, name) => {
    expect(hostNameOf(header)).toBe(name);
  });

  it.each([
    '',
    ' ',
    ':',
    ':80',
    'a b',
    'a/b',
    'user@host',
    'host:',
    'host:port',
    'host:1:2',
    'host:123456',
    '::1',
    '[::1',
    '[x]',
    '-',
    'a..',
    'a\nb',
    'é',
  ])('%j has none', (header) => {
    expect(hostNameOf(header)).toBeUndefined();
  });
});

describe('which requests are accepted (DNS rebinding)', () => {
  const allowed = new Set(['proxy.example.com']);

  it.each([
    'localhost',
    'LOCALHOST:1',
    'app.localhost',
    '127.0.0.1',
    '127.9.8.7:80',
    '[::1]:80',
    'proxy.example.com',
    'Proxy.Example.Com.:99',
  ])('%s is accepted', (header) => expect(isOurHost(header, allowed)).toBe(true));

  it.each([
    undefined,
    '',
    'example.com',
    'localhost.example.com',
    'notlocalhost',
    '127.0.0.1.example.com',
    '127.example.com',
    '127.1',
    '10.0.0.1',
    '0.0.0.0',
    '[::2]',
    'x.proxy.example.com',
    'proxy.example.com@evil.example',
  ])('%s is not accepted', (header) => expect(isOurHost(header, allowed)).toBe(false));

  it.each(['0.0.0.0', '::'])('addresses are ours if the platform listens on %s, names are not', (host) => {
    const everywhere = new Set([host]);
    expect(
      ['10.0.0.1', '192.168.1.20:4700', '[fd00::5]:4700'].filter((address) => !isOurHost(address, everywhere)),
    ).toEqual([]);
    expect(['example.com', '10.0.0.1.example.com', '10.1'].filter((name) => isOurHost(name, everywhere))).toEqual([]);
  });

  it('no name of another domain ever is', () => {
    fc.assert(
      fc.property(fc.domain(), fc.nat(65_535), (domain, port) => {
        expect(isOurHost(`${domain}:${port}`, new Set())).toBe(false);
        expect(isOurHost(`${domain}:${port}`, new Set([domain.toLowerCase()]))).toBe(true);
      }),
    );
  });
});
