import { describe, expect, it } from 'vitest';
import { changeWords, outcomeWords, replayWords, undoWords } from './failure-words.ts';

describe('Lost records, described', () => {
  it.each([
    ['form', 1, 'replay the undelivered form'],
    ['form', 2, 'replay the 2 undelivered forms'],
    ['call', 1, 'replay the failed invocation'],
    ['invocation', 12000, 'replay the 12,000 failed invocations'],
  ] as const)('of a %s, %i times', (kind, lost, label) => {
    expect(replayWords({ kind, lost })).toBe(label);
  });

  it.each([
    [['created it'], 'created', 'Undoing it deletes it.'],
    [['removed it'], 'deleted', 'Undoing it restores it.'],
    [
      ['removed CRM_OID', 'set REGION'],
      'removed CRM_OID, set REGION on',
      'Undoing it sets CRM_OID again, removes REGION.',
    ],
  ])('names what was %j, and what undoing it does', (changes, phrase, undoing) => {
    expect(changeWords(changes)).toBe(phrase);
    expect(undoWords({ changes, others: [] })).toBe(undoing);
  });

  it('reports the result, and the remaining ones', () => {
    const all = { replayed: 2, good: 2, notKept: 0, left: 0 };
    expect(outcomeWords({ kind: 'form' }, all)).toBe('2 of 2 forms delivered.');
    expect(outcomeWords({ kind: 'call' }, { replayed: 500, good: 1, notKept: 3, left: 9500 })).toBe(
      '1 of 500 replays succeeded; 3 could not be replayed: their events were not stored; 9,500 left.',
    );
    expect(outcomeWords({ kind: 'call' }, { ...all, replayed: 1, good: 0 })).toBe('1 replay failed again.');
    expect(outcomeWords({ kind: 'form' }, { ...all, replayed: 1, good: 1 })).toBe('1 of 1 form delivered.');
  });
});
