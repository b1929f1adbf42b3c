import { queryOptions } from '@tanstack/react-query';
import type { TypeWord } from '../../../../server/model/type-words.ts';
import { load } from '../../api/client.ts';
import { keys } from '../../api/query-client.ts';
import type { PlatformRecord } from '../../api/world.ts';

/** The place that a resource is in, or will be. */
export interface ParentPlace {
  word: TypeWord;
  id: string;
  fqon: string;
}

/** The providers of a type that a place can use: its own and those above it. */
export function providersFor(place: ParentPlace, type: string) {
  const path =
    place.word === 'orgs' ? `/meta/${place.fqon}/providers` : `/meta/${place.fqon}/${place.word}/${place.id}/providers`;
  return queryOptions({
    queryKey: [keys.world, 'providers for', path, type],
    queryFn: ({ signal }) => load<PlatformRecord[]>(path, { expand: true, type }, signal),
  });
}
