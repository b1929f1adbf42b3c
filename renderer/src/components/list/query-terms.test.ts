import { describe, expect, it } from 'vitest';
import { TIME_FIELDS, termsOf, toggledTerm, withTerms } from './query-terms.ts';

describe('the terms of a query', () => {
  it('are found by their field, and no text is taken for one', () => {
    expect(termsOf('time:>10m lead "time:>1m" -time:<2s', 'time')).toEqual(['time:>10m', '-time:<2s']);
    expect(termsOf('', 'time')).toEqual([]);
  });

  it('are put in place of those that were there, and what else is asked stays', () => {
    expect(withTerms('lambda:a time:>10m "no such lead" dur:>5', 'time', ['time:>1m'])).toBe(
      'lambda:a "no such lead" dur:>5 time:>1m',
    );
    expect(withTerms('time:>10m', 'time', [])).toBe('');
    expect(withTerms('since:1h lead until:1m time:<2s', TIME_FIELDS, ['since:10m'])).toBe('lead since:10m');
  });

  it('are switched on and off', () => {
    expect(toggledTerm('lead status:ok', 'status:error')).toBe('lead status:error');
    expect(toggledTerm('lead status:error', 'status:error')).toBe('lead');
  });
});
