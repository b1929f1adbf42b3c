import { queryOptions } from '@tanstack/react-query';
import type { TypeWord } from '../../../../server/model/type-words.ts';
import { load } from '../../api/client.ts';
import { keys } from '../../api/query-client.ts';

/** The place that a resource is in, or will be. */
export interface ParentPlace {
  word: TypeWord;
  id: string;
  fqon: string;
}

/** The providers of a kind that a place can use: its own and those above it, whether one may view them or not. */
export function providersFor(placeId: string, type: string) {
  return queryOptions({
    queryKey: [keys.world, 'providers for', placeId, type],
    queryFn: async ({ signal }) => (await load(`/inspect/tree/${placeId}/providers`, { type }, signal)).rows,
  });
}
