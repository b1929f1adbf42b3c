import { expect, it } from 'vitest';
import { parsePreferences } from './preferences.ts';

const DEFAULTS = {
  theme: 'system',
  hasLetterKeys: true,
  isRailNarrow: false,
  splits: {},
  hiddenColumns: {},
  views: {},
  steps: [],
  isPresenting: false,
  isTerminalAnnounced: false,
  isSaveReviewed: false,
};

it.each([
  null,
  'dark',
  7,
  {},
  {
    theme: 'pink',
    splits: { a: 'wide' },
    hiddenColumns: { a: [1] },
    views: { a: [{ name: 'x', search: { q: 1 } }], b: 'c', d: [null] },
    steps: 1,
    isPresenting: 1,
    isTerminalAnnounced: 'yes',
    isSaveReviewed: 'no',
  },
])('takes the defaults for what makes no sense: %j', (stored) => {
  expect(parsePreferences(stored)).toEqual(DEFAULTS);
});

it('keeps the choice', () => {
  const chosen = {
    theme: 'dark',
    hasLetterKeys: false,
    isRailNarrow: true,
    splits: { leads: 400 },
    hiddenColumns: { leads: ['email'] },
    views: { leads: [{ name: 'mine', search: { q: 'is:rejected', sort: '-time' } }] },
    steps: ['browse'],
    isPresenting: true,
    isTerminalAnnounced: true,
    isSaveReviewed: true,
  };
  expect(parsePreferences(chosen)).toEqual(chosen);
});
