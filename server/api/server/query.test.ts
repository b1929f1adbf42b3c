import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import { queryOf, singleParameter } from './read-body.ts';

const query = (text: string) => new URLSearchParams(text);

describe('query parameters (D-012)', () => {
  it('start after the first question mark', () => {
    // Only the target of a request is looked at.
    const entriesOf = (url: string) => [...queryOf({ url } as IncomingMessage)];
    expect(entriesOf('/a?b=c?d&e=%20+%C3%A9')).toEqual([
      ['b', 'c?d'],
      ['e', '  é'],
    ]);
    expect(entriesOf('/a')).toEqual([]);
    expect(entriesOf('/\\a:999999?x')).toEqual([['x', '']]);
    expect(entriesOf('/a?x=%zz')).toEqual([['x', '%zz']]);
  });

  it('must not be repeated', () => {
    expect(singleParameter(query('a=1&b=2'), 'a')).toBe('1');
    expect(singleParameter(query('b=2'), 'a')).toBeUndefined();
    expect(() => singleParameter(query('a=1&a=1'), 'a')).toThrow("query parameter 'a' must not be repeated");
  });
});
