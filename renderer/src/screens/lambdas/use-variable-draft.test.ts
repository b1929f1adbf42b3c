import { expect, it } from 'vitest';
import { variablesPatch } from './use-variable-draft.ts';

it('adds, changes and removes, each only from what one began with', () => {
  const changes = new Map([
    ['NEW', { base: undefined, value: 'n' }],
    ['OLD', { base: 'a', value: 'b' }],
    ['GONE', { base: 'g', value: undefined }],
    ['SAME', { base: 's', value: 's' }],
    ['NEVER', { base: undefined, value: undefined }],
  ]);
  expect(variablesPatch(changes, true)).toEqual([
    { op: 'add', path: '/properties/env/NEW', value: 'n' },
    { op: 'test', path: '/properties/env/OLD', value: 'a' },
    { op: 'replace', path: '/properties/env/OLD', value: 'b' },
    { op: 'test', path: '/properties/env/GONE', value: 'g' },
    { op: 'remove', path: '/properties/env/GONE' },
  ]);
});

it('makes the first variable of a lambda that has none', () => {
  const changes = new Map([['A', { base: undefined, value: '' }]]);
  expect(variablesPatch(changes, false)).toEqual([
    { op: 'add', path: '/properties/env', value: {} },
    { op: 'add', path: '/properties/env/A', value: '' },
  ]);
  expect(variablesPatch(new Map(), false)).toEqual([]);
});
