import { keepPreviousData, type UseQueryResult, useQueries, useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { childrenPage, searchOptions, type TreeNode, type TreePage, usePlace } from '../../api/tree.ts';
import { useValue, ValueStore } from '../../value-store.ts';
import { foundRows, keysAbove, type Loaded, queryOfKey, rowsOf, type TreeRow } from './tree-rows.ts';

/** A world with no more places than this is shown with all of them open. */
const MAX_OPEN_PLACES = 40;

/** Rows that the user expanded and collapsed; kept while another screen is open. */
const chosen = new ValueStore<ReadonlyMap<string, boolean>>(new Map());
/** Number of pages shown of each long list. */
const pages = new ValueStore<ReadonlyMap<string, number>>(new Map());

export interface TreeQueries {
  /** Top-level nodes; undefined while they are read. */
  roots: readonly TreeNode[] | undefined;
  /** Id of the root of the tree; undefined: everything that the user may view. */
  scope: string | undefined;
  selectedId: string | undefined;
  /** Parts of a name; only what fits and what leads there is shown then. */
  filter: string;
}

/** The part of the tree that is open, read piece by piece: a large world is never read as a whole. */
export function useTree({ roots, scope, selectedId, filter }: TreeQueries) {
  const opened = useValue(chosen);
  const pageCounts = useValue(pages);
  const selected = usePlace(selectedId).data;
  const parentResults = useQuery({
    ...searchOptions({ collections: ['orgs', 'workspaces', 'environments'], scope, limit: MAX_OPEN_PLACES }),
    enabled: roots !== undefined,
  }).data;
  const [initialId] = useState(selectedId);

  const expanded = useMemo(() => {
    const open = new Set<string>(roots?.map(({ id }) => id));
    if (parentResults && parentResults.total <= MAX_OPEN_PLACES) for (const { id } of parentResults.rows) open.add(id);
    // The path to the resource in the address is expanded; one that is selected in the tree is visible already.
    if (selected && (selected.resource.id === initialId || selected.resource.id === selectedId)) {
      for (const key of keysAbove(selected.path, selected.resource)) open.add(key);
    }
    for (const [key, isOpen] of opened) {
      if (isOpen) open.add(key);
      else open.delete(key);
    }
    return open;
  }, [roots, parentResults, selected, opened, initialId, selectedId]);

  const requests = useMemo(
    () =>
      [...expanded].flatMap((key) => {
        const { id, collections } = queryOfKey(key);
        return Array.from({ length: pageCounts.get(key) ?? 1 }, (_, page) => ({ key, id, words: collections, page }));
      }),
    [expanded, pageCounts],
  );
  const isSearching = filter.trim() !== '';
  const answers = useQueries({
    queries: requests.map(({ id, words: collections, page }) => ({
      ...childrenPage(id, collections, page),
      retry: false,
    })),
    combine,
  });
  const loaded = useMemo(() => {
    const loadedByKey = new Map<string, Loaded>();
    requests.forEach(({ key }, index) => {
      const page = answers[index];
      if (!page) return;
      loadedByKey.set(key, { ...page, rows: [...(loadedByKey.get(key)?.rows ?? []), ...page.rows] });
    });
    return loadedByKey;
  }, [requests, answers]);

  const found = useQuery({
    ...searchOptions({ q: filter.trim(), scope }),
    enabled: isSearching && roots !== undefined,
    placeholderData: keepPreviousData,
  });
  const rows = useMemo((): readonly TreeRow[] => {
    if (!roots) return [];
    const way = selected ? [...selected.path, selected.resource] : [];
    if (!isSearching) return rowsOf(roots, expanded, (key) => loaded.get(key), way);
    return found.data ? foundRows(found.data.rows, found.data.above, roots, found.data.total) : [];
  }, [roots, isSearching, expanded, loaded, selected, found.data]);

  const toggle = (key: string) => chosen.set(new Map([...chosen.value, [key, !expanded.has(key)]]));
  /** Reads the next page below a row. */
  const readMore = (key: string) => pages.set(new Map([...pages.value, [key, (pages.value.get(key) ?? 1) + 1]]));
  return {
    rows,
    isLoading: isSearching ? found.isPending : roots === undefined,
    error: isSearching ? found.error : null,
    refetch: () => void found.refetch(),
    toggle,
    readMore,
  };
}

/** Returns the data of each page. It is one function for all renders, so that equal responses give the same list. */
function combine(answers: readonly UseQueryResult<TreePage>[]) {
  return answers.map(({ data }) => data);
}
