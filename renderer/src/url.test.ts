import fc from 'fast-check';
import { expect, it } from 'vitest';
import { hrefOf, parseSearch, pathOf, printSearch } from './url.ts';

it('reads back every search that it prints', () => {
  const text = fc.string({ minLength: 1, unit: 'grapheme' });
  fc.assert(
    fc.property(fc.dictionary(text, text), (search) => {
      expect(parseSearch(printSearch(search))).toEqual({ ...search });
    }),
  );
});

it('keeps every value a text', () => {
  expect(parseSearch('?q=5&sel=true')).toEqual({ q: '5', sel: 'true' });
});

it('omits missing values', () => {
  expect(printSearch({ q: undefined, sel: '', tab: 'logs' })).toBe('?tab=logs');
  expect(printSearch({})).toBe('');
});

it('prints the same search the same way, whatever the order of its words', () => {
  expect(printSearch({ b: '1', a: '2' })).toBe(printSearch({ a: '2', b: '1' }));
});

it('names places below /ui', () => {
  expect(pathOf({ screen: 'home' })).toBe('/');
  expect(pathOf({ screen: 'resources', id: 'a/b' })).toBe('/resources/a%2Fb');
  expect(hrefOf({ screen: 'leads', search: { sel: '1' } }, 'org')).toBe('/ui/leads?scope=org&sel=1');
});
