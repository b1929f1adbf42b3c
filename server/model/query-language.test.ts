import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseQuery, type QueryField, type QueryLanguage } from './query-language.ts';

interface Row {
  status: string;
  dur: number | undefined;
  text: string;
  atMs: number;
}

const NOW_MS = Date.parse('2026-05-04T10:00:00Z');
const MINUTE_MS = 60_000;

const FIELDS: readonly QueryField<Row>[] = [
  { name: 'status', valueOf: ({ status }) => status, allowedValues: ['ok', 'error', 'timeout'] },
  { name: 'dur', valueOf: ({ dur }) => dur },
  { name: 'time', valueOf: ({ atMs }) => atMs, isMoment: true },
];
const ROWS: readonly Row[] = [
  { status: 'ok', dur: 30, text: 'web-to-lead SUCCESS', atMs: NOW_MS - 30 * MINUTE_MS },
  { status: 'error', dur: 250, text: 'web-to-lead CRM refused the form', atMs: NOW_MS - 5 * MINUTE_MS },
  { status: 'error', dur: undefined, text: 'summarize', atMs: NOW_MS },
];

const LANGUAGE: QueryLanguage<Row> = { fields: FIELDS, textsOf: ({ text }) => [text], nowMs: NOW_MS };

function found(text: string): number[] {
  const query = parseQuery(text, LANGUAGE);
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
    ['time:>10m', [1, 2]],
    ['since:10m', [1, 2]],
    ['until:10m', [0]],
    ['since:2026-05-04T09:40:00Z until:60s', [1]],
    ['time:<10m', [0]],
    ['-time:>10m', [0]],
    ['time:>=2026-05-04T09:40:00Z time:<60s', [1]],
  ])('finds with %j the rows %j', (text, rows) => expect(found(text)).toEqual(rows));

  it.each([
    ['colour:red', 0, "the field 'colour:' does not exist"],
    ['lead status:', 5, "a value is missing after 'status:'"],
    ['stauts:error', 0, "did you mean 'status'? Valid values: status: dur: time:"],
    ['status:eror', 0, "cannot be 'eror'; did you mean 'error'? Valid values: ok, error, timeout"],
    ['lead time:10m', 5, "write 'since:10m'"],
    ['since:lately', 0, "write 'since:10m'"],
    ['time:>lately', 0, "write 'since:10m'"],
    ['dur:>fast', 0, "'fast' is not a number"],
    ['lead "form', 5, 'is not closed'],
  ])('says of %j what is wrong, and where', (text, at, message) => {
    const query = parseQuery(text, LANGUAGE);
    expect(query).toMatchObject({ ok: false, fault: { at, message: expect.stringContaining(message) } });
  });

  it('returns the time before which nothing can match', () => {
    const fromMs = (text: string) => parseQuery(text, LANGUAGE);
    expect(fromMs('time:>10m time:>2h')).toMatchObject({ fromMs: NOW_MS - 10 * MINUTE_MS });
    expect(fromMs('-time:>10m time:<1h lead')).toMatchObject({ fromMs: Number.NEGATIVE_INFINITY });
  });

  it('has a limited number of terms, because each looks through all texts', () => {
    const query = (terms: number) => parseQuery('-x '.repeat(terms), { fields: [], textsOf: () => [], nowMs: 0 });
    expect(query(20)).toMatchObject({ ok: true });
    expect(query(21)).toEqual({ ok: false, fault: { message: 'a search has at most 20 terms', at: 0 } });
  });

  it('reads any text in finite time, without throwing', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        const query = parseQuery(text, LANGUAGE);
        if (!query.ok) expect(query.fault.at).toBeLessThanOrEqual(text.length);
      }),
    );
  });
});
