import { expect, it } from 'vitest';
import { parsePreferences } from './preferences.ts';

const DEFAULTS = { theme: 'system', hasLetterKeys: true, isRailNarrow: false, splits: {} };

it.each([null, 'dark', 7, {}, { theme: 'pink', splits: { a: 'wide' } }])(
  'takes the defaults for what makes no sense: %j',
  (stored) => {
    expect(parsePreferences(stored)).toEqual(DEFAULTS);
  },
);

it('keeps what was chosen', () => {
  const chosen = { theme: 'dark', hasLetterKeys: false, isRailNarrow: true, splits: { leads: 400 } };
  expect(parsePreferences(chosen)).toEqual(chosen);
});
