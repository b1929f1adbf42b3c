import type { TypeWord } from '../../../../server/model/type-words.ts';
import { kindOfWord, typeWords } from '../../api/resource-kinds.ts';
import type { TreeNode, TypeCounts } from '../../api/tree.ts';
import { movedIndex } from '../../components/grid-layout.ts';

/** Long lists of resources without children are behind a group row, e.g. `Providers`. */
const GROUPED_TYPES: readonly TypeWord[] = ['providers', 'users', 'groups'];
const UNGROUPED_TYPES: readonly TypeWord[] = typeWords.filter((collection) => !GROUPED_TYPES.includes(collection));

/** The known children of an expanded row. */
export interface Loaded {
  rows: readonly TreeNode[];
  total: number;
  types: TypeCounts;
}

export interface TreeRow {
  key: string;
  kind: 'resource' | 'group' | 'more' | 'loading';
  /** 1 for what is at the top. */
  level: number;
  text: string;
  node?: TreeNode;
  count?: number;
  isExpandable: boolean;
  isExpanded: boolean;
  /** The row that this one is below. */
  parentKey?: string;
  /** Place among its siblings, from 1, and how many they are. */
  position: number;
  siblings: number;
}

/** The key of a gathering row; that of a resource is its id. */
const groupKey = (collection: TypeWord, id: string) => `${collection} of ${id}`;

/** Returns the query of an expanded row: the id of the parent and the types directly below the row. */
export function queryOfKey(key: string): { id: string; collections: readonly TypeWord[] } {
  const [first = '', id] = key.split(' of ');
  const collection = GROUPED_TYPES.find((groupedType) => groupedType === first);
  return id !== undefined && collection ? { id, collections: [collection] } : { id: key, collections: UNGROUPED_TYPES };
}

/** The keys that have to be open for a resource to be seen. */
export function keysAbove(path: readonly TreeNode[], node: TreeNode | undefined): string[] {
  const keys = path.map(({ id }) => id);
  const parent = path.at(-1);
  if (node && parent && GROUPED_TYPES.includes(node.word)) keys.push(groupKey(node.word, parent.id));
  return keys;
}

/**
 * The lines of a tree of which only the expanded part is known.
 *
 * @param way the selected resource and what it is below: in sight also where the list has not been read as far as that
 */
export function rowsOf(
  roots: readonly TreeNode[],
  expanded: ReadonlySet<string>,
  loadedOf: (key: string) => Loaded | undefined,
  way: readonly TreeNode[] = [],
): TreeRow[] {
  const rows: TreeRow[] = [];
  const addChildren = (key: string, level: number) => {
    const loaded = loadedOf(key);
    if (!loaded) {
      rows.push({ ...still, key: `${key} loading`, kind: 'loading', level, text: 'Loading', parentKey: key });
      return;
    }
    const isPlace = !key.includes(' of ');
    const groups = isPlace ? GROUPED_TYPES.filter((collection) => (loaded.types[collection] ?? 0) > 0) : [];
    const siblings = loaded.total + groups.length;
    const { id: placeId, collections } = queryOfKey(key);
    const isUnread = ({ id, parent, word: collection }: TreeNode) =>
      parent === placeId && collections.includes(collection) && !loaded.rows.some((loadedRow) => loadedRow.id === id);
    const unread = way.filter(isUnread);
    // Before those that were read: reading on must not move it out of sight.
    for (const node of unread) add(node, level, { parentKey: key, position: loaded.total, siblings });
    loaded.rows.forEach((node, index) => {
      add(node, level, { parentKey: key, position: index + 1, siblings });
    });
    const missing = loaded.total - loaded.rows.length - unread.length;
    if (missing > 0) {
      const text = `${missing.toLocaleString('en')} more`;
      rows.push({ ...still, key: `${key} more`, kind: 'more', level, text, parentKey: key });
    }
    groups.forEach((collection, index) => {
      const id = groupKey(collection, key);
      const isExpanded = expanded.has(id);
      rows.push({
        key: id,
        kind: 'group',
        level,
        text: kindOfWord(collection).plural,
        count: loaded.types[collection] ?? 0,
        isExpandable: true,
        isExpanded,
        parentKey: key,
        position: loaded.total + index + 1,
        siblings,
      });
      if (isExpanded) addChildren(id, level + 1);
    });
  };
  const add = (node: TreeNode, level: number, rowPosition: Pick<TreeRow, 'parentKey' | 'position' | 'siblings'>) => {
    const isExpanded = node.children > 0 && expanded.has(node.id);
    rows.push({
      ...rowPosition,
      key: node.id,
      kind: 'resource',
      level,
      text: node.name,
      node,
      ...(node.children > 0 && { count: node.children }),
      isExpandable: node.children > 0,
      isExpanded,
    });
    if (isExpanded) addChildren(node.id, level + 1);
  };
  roots.forEach((root, index) => {
    add(root, 1, { position: index + 1, siblings: roots.length });
  });
  return rows;
}

/** The lines of what was found: the matches and what leads to them from the roots, all open. */
export function foundRows(
  found: readonly TreeNode[],
  above: readonly TreeNode[],
  roots: readonly TreeNode[],
  total: number,
): TreeRow[] {
  const nodes = [...new Map([...above, ...found].map((node) => [node.id, node])).values()];
  const open = new Set(nodes.map(({ parent }) => parent ?? ''));
  const knownRoots = roots.filter(({ id }) => nodes.some((node) => node.id === id));
  const loadedOf = (id: string) => {
    const below = nodes.filter(({ parent }) => parent === id);
    return { rows: below, total: below.length, types: {} };
  };
  // The other children contain no matches.
  const rows = rowsOf(knownRoots, open, loadedOf).map((row) => ({ ...row, isExpandable: row.isExpanded }));
  if (total > found.length) {
    const text = `${(total - found.length).toLocaleString('en')} more match: type more of the name`;
    rows.push({ ...still, key: 'more found', kind: 'more', level: 1, text });
  }
  return rows;
}

const still = { isExpandable: false, isExpanded: false, position: 1, siblings: 1 } as const;

/** The target of a key in a row, as usual in trees: right opens or enters, left closes or leaves. */
export function keyInTree(
  key: string,
  rows: readonly TreeRow[],
  index: number,
  pageRows: number,
): { go: number } | { toggle: string } | undefined {
  const row = rows[index];
  if (key === 'ArrowRight' && row?.isExpandable) return row.isExpanded ? { go: index + 1 } : { toggle: row.key };
  if (key === 'ArrowLeft' && row?.isExpanded) return { toggle: row.key };
  const to =
    key === 'ArrowLeft'
      ? rows.findIndex((candidate) => candidate.key === row?.parentKey)
      : (movedIndex(key, index, rows.length, pageRows) ?? -1);
  return to < 0 ? undefined : { go: to };
}
