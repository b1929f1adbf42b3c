import { expect, it } from 'vitest';
import { parsePreferences } from './preferences.ts';

const DEFAULTS = {
  theme: 'system',
  hasLetterKeys: true,
  isRailNarrow: false,
  splits: {},
  hiddenColumns: {},
  views: {},
  requests: {},
  isPresenting: false,
  isTerminalTold: false,
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
    requests: { a: { method: 'GET' } },
    isPresenting: 1,
    isTerminalTold: 'yes',
  },
])('takes the defaults for what makes no sense: %j', (stored) => {
  expect(parsePreferences(stored)).toEqual(DEFAULTS);
});

it('keeps what was chosen', () => {
  const chosen = {
    theme: 'dark',
    hasLetterKeys: false,
    isRailNarrow: true,
    splits: { leads: 400 },
    hiddenColumns: { leads: ['email'] },
    views: { leads: [{ name: 'mine', search: { q: 'is:refused', sort: '-time' } }] },
    requests: { ada: { method: 'POST', path: '/lead', headers: '', body: '{}', asMe: false } },
    isPresenting: true,
    isTerminalTold: true,
  };
  expect(parsePreferences(chosen)).toEqual(chosen);
});
