import { describe, expect, it } from 'vitest';
import { codeOf } from '../lambdas/code-text.ts';
import { partsOf } from './record-parts.ts';

const record = (properties: object, seconds = 1) => ({ name: 'form', modified: { timestamp: seconds }, properties });

describe('what differs between two records', () => {
  it('is split into code, variables by name, and the rest', () => {
    const before = record({ code: codeOf('exports.run = 1;'), env: { A: '1', B: '2' }, timeout: 5 });
    const after = record({ code: codeOf('exports.run = 2;'), env: { B: '3', C: '4' }, timeout: 9 }, 2);
    const parts = partsOf(before, after);
    expect(parts.code).toEqual({ before: 'exports.run = 1;', after: 'exports.run = 2;' });
    expect(parts.variables).toEqual([
      { name: 'A', before: '1', after: undefined },
      { name: 'B', before: '2', after: '3' },
      { name: 'C', before: undefined, after: '4' },
    ]);
    expect(parts.rest?.before).toContain('"timeout": 5');
    expect(JSON.stringify(parts)).not.toContain(codeOf('exports.run = 1;'));
  });

  it('is nothing where only the time of the change differs', () => {
    expect(partsOf(record({ timeout: 5 }), record({ timeout: 5 }, 2))).toEqual({
      code: undefined,
      variables: [],
      rest: undefined,
    });
  });

  it('is the base64 where two packages read the same', () => {
    const [before, after] = ['////'.repeat(120), '++++'.repeat(120)];
    expect(partsOf(record({ code: before }), record({ code: after })).code).toEqual({ before, after });
  });

  it('is no base64 for a package either, and everything of a record that was not there before', () => {
    const parts = partsOf(undefined, record({ code: '////'.repeat(120) }));
    expect(parts.code?.after).toBe('(a package of 360 B)');
    expect(parts.rest?.before).toBe('');
  });
});
