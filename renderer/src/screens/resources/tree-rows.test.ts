import { expect, it } from 'vitest';
import type { TreeNode } from '../../api/tree.ts';
import { foundRows, keyInTree, keysAbove, type Loaded, queryOfKey, rowsOf } from './tree-rows.ts';

const node = (id: string, collection: TreeNode['word'], children = 0, parent?: string): TreeNode => ({
  id,
  name: id,
  word: collection,
  type: '',
  fqon: 'root',
  modified: '',
  children,
  ...(parent !== undefined && { parent }),
});
const root = node('root', 'orgs', 5);
const loadedRows: Record<string, Loaded> = {
  root: { rows: [node('demo', 'orgs', 2, 'root')], total: 1, types: { orgs: 1, users: 3, providers: 1 } },
  'users of root': { rows: [node('ada', 'users', 0, 'root')], total: 3, types: {} },
};
const lines = (expanded: string[]) =>
  rowsOf([root], new Set(expanded), (key) => loadedRows[key]).map(
    ({ level, text, count }) => `${level} ${text} ${count ?? ''}`,
  );

it('shows only the open parts of a world', () => {
  expect(lines([])).toEqual(['1 root 5']);
  expect(lines(['root'])).toEqual(['1 root 5', '2 demo 2', '2 Providers 1', '2 Users 3']);
  expect(lines(['root', 'demo'])).toContain('3 Loading ');
});

it('gathers users, groups and providers, and says how many are yet to be read', () => {
  expect(lines(['root', 'users of root']).slice(3)).toEqual(['2 Users 3', '3 ada ', '3 2 more ']);
  expect(queryOfKey('users of root')).toEqual({ id: 'root', collections: ['users'] });
  expect(queryOfKey('demo').collections).not.toContain('users');
  expect(keysAbove([root], node('ada', 'users', 0, 'root'))).toEqual(['root', 'users of root']);
});

it('shows the selection beyond the loaded part of the list', () => {
  const zoe = node('zoe', 'users', 0, 'root');
  const open = new Set(['root', 'users of root']);
  const textsWith = (way: TreeNode[]) => rowsOf([root], open, (key) => loadedRows[key], way).map(({ text }) => text);
  expect(textsWith([root, zoe]).slice(3)).toEqual(['Users', 'zoe', 'ada', '1 more']);
  expect(textsWith([root, node('ada', 'users', 0, 'root')]).slice(3)).toEqual(['Users', 'ada', '2 more']);
});

it('shows matches below their ancestors', () => {
  const found = foundRows([node('x', 'lambdas', 0, 'demo')], [root, node('demo', 'orgs', 2, 'root')], [root], 9);
  expect(found.map(({ level, text }) => `${level} ${text}`)).toEqual([
    '1 root',
    '2 demo',
    '3 x',
    '1 8 more match: type more of the name',
  ]);
});

it('moves as trees do', () => {
  const rows = rowsOf([root], new Set(['root']), (key) => loadedRows[key]);
  expect(keyInTree('ArrowDown', rows, 0, 10)).toEqual({ go: 1 });
  expect(keyInTree('ArrowUp', rows, 0, 10)).toEqual({ go: 0 });
  expect(keyInTree('End', rows, 0, 10)).toEqual({ go: 3 });
  expect(keyInTree('ArrowRight', rows, 1, 10)).toEqual({ toggle: 'demo' });
  expect(keyInTree('ArrowLeft', rows, 1, 10)).toEqual({ go: 0 });
  expect(keyInTree('ArrowLeft', rows, 0, 10)).toEqual({ toggle: 'root' });
  expect(keyInTree('j', rows, 0, 10)).toEqual({ go: 1 });
  expect(keyInTree('z', rows, 0, 10)).toBeUndefined();
});
