import { useQuery } from '@tanstack/react-query';
import type { AnswerOf } from '../../../server/api/routes/route.ts';
import type { treeRoutes } from '../../../server/api/routes/tree.ts';
import type { TypeWord } from '../../../server/model/type-words.ts';
import { load } from './client.ts';
import { nullIfNotFound } from './failure.ts';
import { keys } from './query-client.ts';
import { readOptions, useRead } from './use-read.ts';

export type { TreeNode } from '../../../server/api/routes/tree.ts';

export type TypeCounts = TreePlace['types'];
export type TreePage = AnswerOf<typeof treeRoutes.listTreeChildren>;
export type TreePlace = AnswerOf<typeof treeRoutes.readTreePlace>;
export type TreeRelation = TreeRelations['names'][number];
type TreeRelations = AnswerOf<typeof treeRoutes.listRelations>;

export const TREE_PAGE_ROWS = 200;

export function childrenPage(id: string, collections: readonly TypeWord[], page: number) {
  const query = { word: collections.join(','), offset: page * TREE_PAGE_ROWS, limit: TREE_PAGE_ROWS };
  return readOptions(keys.world, `/inspect/tree/${id}/children`, query);
}

/** A resource and the way to it; `null` when there is none of that id. */
export function usePlace(id: string | undefined) {
  return useQuery({
    queryKey: [keys.world, 'tree place', id],
    queryFn: ({ signal }) => load(`/inspect/tree/${id}`, {}, signal).catch(nullIfNotFound),
    enabled: id !== undefined,
  });
}

export interface TreeQuery {
  /** Parts of name, type or id. */
  q?: string | undefined;
  collections?: readonly TypeWord[] | undefined;
  /** Id of the resource that all results are below. */
  scope?: string | undefined;
  limit?: number;
  /** Only resources without an ancestor that the user may view. */
  tops?: true;
}

/** Finds resources by name, type and location in the whole world. */
export function searchOptions({ q, collections, scope, limit = TREE_PAGE_ROWS, tops }: TreeQuery) {
  const query = { q, word: collections?.join(','), scope, limit, tops };
  return readOptions(keys.world, '/inspect/tree', query);
}

/** The number of resources below a resource, and the first of them by name. */
export function useSubtree(id: string, isEnabled: boolean, limit = 100) {
  return useRead(keys.world, `/inspect/tree/${id}/below`, { limit }, { enabled: isEnabled });
}

/** Reads the resources that a resource refers to and the resources that refer to it. */
export function useRelations(id: string) {
  return useRead(keys.world, `/inspect/tree/${id}/relations`, { limit: 1000 });
}
