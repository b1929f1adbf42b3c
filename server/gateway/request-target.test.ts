import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PlatformError } from '../model/errors.ts';
import { parseTarget, queryParams, restAfter } from './request.ts';

const LIMIT = 8192;

function refusal(target: string): unknown {
  try {
    parseTarget(target, LIMIT);
    return 'accepted';
  } catch (thrown) {
    return thrown instanceof PlatformError ? thrown.status : thrown;
  }
}

const segment = fc
  .string({ minLength: 1, unit: 'grapheme' })
  .filter((segmentText) => !['.', '..'].includes(segmentText) && !segmentText.includes('\0'));

describe('a request target', () => {
  it('is a path and a query', () => {
    expect(parseTarget('/web/lead?a=1?2', LIMIT)).toEqual({
      authority: undefined,
      path: '/web/lead',
      query: 'a=1?2',
      segments: ['web', 'lead'],
    });
  });

  it('may be absolute and then names the host', () => {
    expect(parseTarget('HTTP://Jar.test:80/a?b', LIMIT)).toMatchObject({
      authority: 'Jar.test:80',
      path: '/a',
      query: 'b',
    });
    expect(parseTarget('http://gateway.test', LIMIT)).toMatchObject({
      authority: 'gateway.test',
      path: '/',
      segments: [],
    });
    expect(parseTarget('http://gateway.test?x=1', LIMIT)).toMatchObject({ path: '/', query: 'x=1' });
  });

  it('that begins with two slashes is still a path', () => {
    expect(parseTarget('//evil.test/a', LIMIT)).toMatchObject({ authority: undefined, segments: ['evil.test', 'a'] });
  });

  it('keeps an encoded slash inside its segment', () => {
    expect(parseTarget('/a%2Fb/c', LIMIT).segments).toEqual(['a/b', 'c']);
  });

  it.each([
    ['/a/../b', 400],
    ['/a/%2e%2E/b', 400],
    ['/a/.%2e', 400],
    ['/./a', 400],
    ['/a%00b', 400],
    ['/a%', 400],
    ['/%zz', 400],
    ['/%c3%28', 400],
    ['*', 400],
    ['a/b', 400],
    ['http://user@gateway.test/', 400],
    ['ftp://gateway.test/', 400],
    [`/${'a'.repeat(LIMIT)}`, 414],
    [`/${'a'.repeat(LIMIT - 1)}`, 'accepted'],
    ['/a?b=%', 'accepted'],
    ['/.../..a', 'accepted'],
  ])('%.40s is answered by %s', (target, status) => {
    expect(refusal(target)).toBe(status);
  });

  it('gives back any segments that were encoded, whatever slashes surround them', () => {
    fc.assert(
      fc.property(fc.array(segment), fc.constantFrom('', '/', '//'), (segments, tail) => {
        const path = `/${segments.map(encodeURIComponent).join('/')}${tail}`;
        expect(parseTarget(path, Number.POSITIVE_INFINITY).segments).toEqual(segments);
      }),
    );
  });
});

describe('the rest of a path after a prefix', () => {
  it.each([
    ['/web/lead', 2, ''],
    ['/web/lead/', 2, ''],
    ['/web/lead//', 2, ''],
    ['//web///lead//7%2F/x/', 2, '//7%2F/x/'],
    ['/', 0, '/'],
    ['/a/', 0, '/a/'],
  ])('of %s after %i segments is "%s"', (path, count, rest) => {
    expect(restAfter(path, count)).toBe(rest);
  });

  it('is the end of the path, and has the remaining segments', () => {
    fc.assert(
      fc.property(fc.array(segment), fc.nat(8), (segments, count) => {
        fc.pre(count <= segments.length);
        const path = `/${segments.map(encodeURIComponent).join('/')}`;
        const rest = restAfter(path, count);
        expect(path.endsWith(rest)).toBe(true);
        expect(rest === '' ? [] : parseTarget(rest, Number.POSITIVE_INFINITY).segments).toEqual(segments.slice(count));
      }),
    );
  });
});

describe('query parameters', () => {
  it('are arrays of strings, decoded', () => {
    expect({ ...queryParams('a=1&b=x%20y&a=+2&c') }).toEqual({ a: ['1', ' 2'], b: ['x y'], c: [''] });
  });

  it('may be called like a member of every object', () => {
    expect(JSON.stringify(queryParams('__proto__=1&constructor=2'))).toBe('{"__proto__":["1"],"constructor":["2"]}');
  });

  it('survive a bad percent-encoding', () => {
    expect({ ...queryParams('a=%&b=%zz') }).toEqual({ a: ['%'], b: ['%zz'] });
  });
});
