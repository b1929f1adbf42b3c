import { describe, expect, it } from 'vitest';
import { outcomeWords, replayWords } from './failure-words.ts';

describe('What was lost, in words', () => {
  it.each([
    ['form', 1, 'replay the lost form'],
    ['form', 2, 'replay the 2 lost forms'],
    ['call', 1, 'replay the failed invocation'],
    ['invocation', 12000, 'replay the 12,000 failed invocations'],
  ] as const)('of a %s, %i times', (kind, lost, words) => {
    expect(replayWords({ kind, lost })).toBe(words);
  });

  it('says what came of it, and what is left', () => {
    const all = { replayed: 2, good: 2, notKept: 0, left: 0 };
    expect(outcomeWords({ kind: 'form' }, all)).toBe('2 of 2 lost forms arrived.');
    expect(outcomeWords({ kind: 'call' }, { replayed: 500, good: 1, notKept: 3, left: 9500 })).toBe(
      '1 of 500 failed invocations went well; 3 could not be replayed: their events were not kept; 9,500 are left.',
    );
  });
});
