import { describe, expect, it } from 'vitest';
import { inTime } from '../../../server/testing/in-time.ts';
import { findIn, type LogExpression, partsOf } from './log-expression.ts';
import { logSearch } from './log-search.ts';

function expressionOf(text: string, isRegex = false): LogExpression {
  const search = logSearch(text, isRegex);
  if (!search || 'fault' in search) throw new Error(`no expression: ${search?.fault}`);
  return search.expression;
}

describe('a search of a log', () => {
  it('takes a text literally, whatever characters are in it', () => {
    const line = 'GET /orders/1 (200) [ok] a+b?';
    for (const text of ['/orders/1', '(200)', '[ok]', 'a+b?', 'get']) {
      expect(findIn([{ text: line }], expressionOf(text)).count, text).toBe(1);
    }
    expect(findIn([{ text: 'axb' }], expressionOf('a.b')).count).toBe(0);
  });

  it('accepts a regular expression on request, and explains an invalid one', () => {
    expect(findIn([{ text: 'took 12 ms, then 7 ms' }], expressionOf('\\d+ ms', true))).toEqual({
      count: 2,
      lines: [0],
    });
    expect(logSearch('(', true)).toEqual({ fault: 'Invalid regular expression: missing closing ): `(`' });
    expect(logSearch('(', false)).toMatchObject({ expression: expect.any(RegExp) });
    expect(logSearch('', true)).toBeUndefined();
  });

  it('searches with any expression in a time that grows with the line only', () => {
    const lines = [{ text: 'a'.repeat(5_000) }];
    expect(inTime(() => findIn(lines, expressionOf('(a+)+$x', true)))).toEqual({ count: 0, lines: [] });
  });

  it('counts the matches and lists their lines', () => {
    const lines = ['a b a', 'c', 'A'].map((text) => ({ text }));
    expect(findIn(lines, expressionOf('a'))).toEqual({ count: 3, lines: [0, 2] });
    expect(findIn(lines, expressionOf('x*', true))).toEqual({ count: 0, lines: [] });
  });

  it.each(['one two one', 'one', 'two', '', 'oneone', 'x'.repeat(6_000)])('hides nothing of a line: %.20s', (line) => {
    const parts = partsOf(line, expressionOf('one'));
    expect(parts.map(({ text }) => text).join('')).toBe(line);
    for (const { at, text } of parts) expect(line.slice(at, at + text.length)).toBe(text);
    expect(parts.filter(({ isFound }) => isFound)).toHaveLength(line.split('one').length - 1);
  });
});
