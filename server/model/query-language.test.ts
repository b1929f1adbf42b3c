import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseQuery, type QueryField } from './query-language.ts';

interface Row {
  status: string;
  dur: number | undefined;
  text: string;
}

const FIELDS: readonly QueryField<Row>[] = [
  { name: 'status', valueOf: ({ status }) => status },
  { name: 'dur', valueOf: ({ dur }) => dur },
];
const ROWS: readonly Row[] = [
  { status: 'ok', dur: 30, text: 'web-to-lead SUCCESS' },
  { status: 'error', dur: 250, text: 'web-to-lead CRM refused the form' },
  { status: 'error', dur: undefined, text: 'summarize' },
];

function found(text: string): number[] {
  const query = parseQuery(text, FIELDS, (row) => row.text);
  if (!query.ok) throw new Error(query.fault.message);
  return ROWS.flatMap((row, index) => (query.matches(row) ? [index] : []));
}

describe('the query language', () => {
  it.each([
    ['', [0, 1, 2]],
    ['status:error', [1, 2]],
    ['STATUS:Err', [1, 2]],
    ['-status:error', [0]],
    ['dur:>200', [1]],
    ['dur:<=30', [0]],
    ['dur:30', [0]],
    ['lead', [0, 1]],
    ['"refused the"', [1]],
    ['status:error -lead', [2]],
    ['  status:error   dur:>1 ', [1]],
  ])('finds with %j the rows %j', (text, rows) => expect(found(text)).toEqual(rows));

  it.each([
    ['colour:red', 0, "there is no 'colour:'"],
    ['lead status:', 5, "say what 'status:' shall be"],
    ['dur:>fast', 0, "'fast' is no number"],
    ['lead "form', 5, 'no end'],
  ])('says of %j what is wrong, and where', (text, at, message) => {
    const query = parseQuery(text, FIELDS, (row) => row.text);
    expect(query).toMatchObject({ ok: false, fault: { at, message: expect.stringContaining(message) } });
  });

  it('reads any text in finite time, without throwing', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        const query = parseQuery(text, FIELDS, (row) => row.text);
        if (!query.ok) expect(query.fault.at).toBeLessThanOrEqual(text.length);
      }),
    );
  });
});
