import { describe, expect, it } from 'vitest';
import { isFound, isSet, valueText } from './value-text.ts';

const setting = {
  key: 'history.maxBytes',
  value: 1048576,
  source: 'environment',
  origin: 'TERRARIUM_HISTORY_MAX_BYTES',
  description: 'Most bytes of history that are kept',
  flag: '--history-max-bytes',
  env: 'TERRARIUM_HISTORY_MAX_BYTES',
  isSecret: false,
} as const;

describe('a setting', () => {
  it('shows its value as one would write it, with amounts in words', () => {
    expect(valueText(setting)).toBe('1048576 (1.0 MB)');
    expect(valueText({ key: 'limits.tokenLifetimeS', value: 60 })).toBe('60 s');
    expect(valueText({ key: 'basePort', value: 4700 })).toBe('4700');
    expect(valueText({ key: 'allowedHosts', value: ['a', 'b'] })).toBe('a, b');
    expect(valueText({ key: 'headless', value: false })).toBe('false');
  });

  it('is set unless it is nothing', () => {
    expect([null, '', [], false, 0, ['a']].map((value) => isSet({ value }))).toEqual([
      false,
      false,
      false,
      true,
      true,
      true,
    ]);
  });

  it('is found by its key, flag, variable, origin or description', () => {
    for (const typed of ['maxbytes', '--history', 'TERRARIUM_HISTORY', 'most bytes', 'environment', '1.0 MB', '']) {
      expect(isFound(setting, typed), typed).toBe(true);
    }
    expect(isFound(setting, 'most nonsense')).toBe(false);
  });
});
