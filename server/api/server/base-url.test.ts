import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import { baseUrlOf } from './host-guard.ts';

const OWN_URL = 'http://127.0.0.1:4700';
// Only the headers of a request are looked at.
const baseUrlFor = (headers: IncomingMessage['headers'], publicUrl?: string) =>
  baseUrlOf({ headers } as IncomingMessage, publicUrl, OWN_URL);

describe('the address as a client sees it (D-011)', () => {
  const forwarded = { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'cloud.example.com' };

  it('is the configured one, whatever the request contains', () => {
    expect(baseUrlFor({ host: 'localhost:1', ...forwarded }, 'https://public.example')).toBe('https://public.example');
  });

  it('otherwise comes from the headers of a proxy, each part separately', () => {
    expect(baseUrlFor({ host: 'localhost:1', ...forwarded })).toBe('https://cloud.example.com');
    expect(baseUrlFor({ host: 'localhost:1', 'x-forwarded-host': 'cloud.example.com:81' })).toBe(
      'http://cloud.example.com:81',
    );
    expect(baseUrlFor({ host: 'localhost:1', 'x-forwarded-proto': 'HTTPS' })).toBe('https://localhost:1');
  });

  it('comes from the first of several proxies', () => {
    expect(baseUrlFor({ 'x-forwarded-host': ' a.example , b.example', 'x-forwarded-proto': 'https,http' })).toBe(
      'https://a.example',
    );
  });

  it('otherwise comes from the Host header, or is our own', () => {
    expect(baseUrlFor({ host: 'localhost:1' })).toBe('http://localhost:1');
    expect(baseUrlFor({ host: '[::1]:1' })).toBe('http://[::1]:1');
    expect(baseUrlFor({})).toBe(OWN_URL);
    expect(baseUrlFor({ host: 'not a host' })).toBe(OWN_URL);
  });

  it('ignores invalid hosts and protocols', () => {
    for (const host of ['', 'a/b', 'a"b', 'user@host', 'a b', '<x>']) {
      expect(baseUrlFor({ host: 'localhost:1', 'x-forwarded-host': host })).toBe('http://localhost:1');
    }
    expect(baseUrlFor({ host: 'localhost:1', 'x-forwarded-proto': 'ftp' })).toBe('http://localhost:1');
  });
});
