import { queryOptions, useQuery } from '@tanstack/react-query';
import type { TypeWord } from '../../../server/model/type-words.ts';
import { load } from './client.ts';
import { failureOf } from './failure.ts';
import { keys } from './query-client.ts';

/** As much of a resource as a row needs, as `GET /inspect/tree` gives it. */
export interface TreeNode {
  id: string;
  name: string;
  description?: string;
  word: TypeWord;
  /** Full type name after the prefix, e.g. `Configuration::Provider::CaaS::Docker`. */
  type: string;
  /** Of the organization that it is in; of an organization its own. */
  fqon: string;
  /** Absent for the root organization. */
  parent?: string;
  environment_type?: string;
  /** Of a user whose account is disabled. */
  isDisabled?: true;
  modified: string;
  /** How many are directly below. */
  children: number;
}

export type TypeCounts = Partial<Record<TypeWord, number>>;

/** Some of what is directly below a place. */
export interface TreePage {
  rows: TreeNode[];
  total: number;
  /** All that is directly below, by type, whatever was asked for. */
  types: TypeCounts;
}

/** Where a resource stands. */
export interface TreePlace {
  resource: TreeNode;
  /** What it is below, root first. */
  path: TreeNode[];
  types: TypeCounts;
}

export interface TreeRelation {
  resource: TreeNode;
  /** Of the member that names the other. */
  pointer: string;
}

/** How many rows are read at once. */
export const TREE_PAGE_ROWS = 200;

/** One page of what is below a place. */
export function childrenPage(id: string, words: readonly TypeWord[], page: number) {
  const query = { word: words.join(','), offset: page * TREE_PAGE_ROWS, limit: TREE_PAGE_ROWS };
  return queryOptions({
    queryKey: [keys.world, 'tree children', id, query],
    queryFn: ({ signal }) => load<TreePage>(`/inspect/tree/${id}/children`, query, signal),
  });
}

/** A resource and the way to it; `null` when there is none of that id. */
export function usePlace(id: string | undefined) {
  return useQuery({
    queryKey: [keys.world, 'tree place', id],
    queryFn: ({ signal }) =>
      load<TreePlace>(`/inspect/tree/${id}`, {}, signal).catch((thrown) => {
        const { code } = failureOf(thrown);
        if (code === 404 || code === 400) return null;
        throw thrown;
      }),
    enabled: id !== undefined,
  });
}

export interface TreeWish {
  /** Parts of name, type or id. */
  q?: string | undefined;
  words?: readonly TypeWord[] | undefined;
  /** Id of what everything has to be below. */
  scope?: string | undefined;
  limit?: number;
}

/** Resources by name, type and place, wherever they are. */
export function searchOptions({ q, words, scope, limit = TREE_PAGE_ROWS }: TreeWish) {
  const query = { q, word: words?.join(','), scope, limit };
  return queryOptions({
    queryKey: [keys.world, 'tree search', query],
    queryFn: ({ signal }) =>
      load<{ rows: TreeNode[]; above: TreeNode[]; total: number }>('/inspect/tree', query, signal),
  });
}

/** Everything below a resource, counted; the first of them by name. */
export function useBelow(id: string, isEnabled: boolean, limit = 100) {
  return useQuery({
    queryKey: [keys.world, 'tree below', id, limit],
    queryFn: ({ signal }) =>
      load<{ rows: TreeNode[]; total: number; types: TypeCounts }>(`/inspect/tree/${id}/below`, { limit }, signal),
    enabled: isEnabled,
  });
}

/** What a resource names and what names it. */
export function useRelations(id: string) {
  return useQuery({
    queryKey: [keys.world, 'tree relations', id],
    queryFn: ({ signal }) =>
      load<{ names: TreeRelation[]; namedBy: TreeRelation[]; total: number }>(
        `/inspect/tree/${id}/relations`,
        { limit: 1000 },
        signal,
      ),
  });
}
