import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { TypeWord } from '../../../server/model/type-words.ts';
import { load } from './client.ts';
import { keys } from './query-client.ts';
import { fqonOf, type PlatformRecord, useScope } from './world.ts';

const NONE: readonly PlatformRecord[] = [];

/** Every record of a type within the scope's organization; of all organizations when nothing is narrowed. */
export function useAllOfType(word: TypeWord) {
  const { orgs, scope } = useScope();
  const fqons = useMemo(() => (scope.org ? [fqonOf(scope.org)] : orgs.map(fqonOf)), [orgs, scope.org]);
  const all = useQuery({
    queryKey: [keys.world, 'all of', word, fqons],
    queryFn: async ({ signal }) => {
      const lists = fqons.map((fqon) => load<PlatformRecord[]>(`/meta/${fqon}/${word}`, { expand: true }, signal));
      return [...new Map((await Promise.all(lists)).flat().map((record) => [record.id, record])).values()];
    },
    enabled: fqons.length > 0,
    placeholderData: keepPreviousData,
  });
  return { records: all.data ?? NONE, isPending: all.isPending, error: all.error, refetch: () => void all.refetch() };
}
