import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { load } from '../../api/client.ts';
import { keys } from '../../api/query-client.ts';
import { fqonOf, type PlatformRecord, useWorld } from '../../api/world.ts';

const NONE: readonly PlatformRecord[] = [];

/** Every record that one may see, organization by organization. */
export function useAllRecords() {
  const orgs = useWorld<PlatformRecord[]>('/orgs', { expand: true });
  const fqons = useMemo(() => (orgs.data ?? []).map(fqonOf), [orgs.data]);
  const all = useQuery({
    queryKey: [keys.world, 'all records', fqons],
    queryFn: async ({ signal }) => {
      const lists = fqons.map((fqon) => load<PlatformRecord[]>(`/meta/${fqon}/resources`, { expand: true }, signal));
      return [...new Map((await Promise.all(lists)).flat().map((record) => [record.id, record])).values()];
    },
    enabled: fqons.length > 0,
    placeholderData: keepPreviousData,
  });
  return {
    records: all.data ?? NONE,
    isLoading: orgs.isPending || all.isPending,
    error: orgs.error ?? all.error,
    refetch: () => {
      void orgs.refetch();
      void all.refetch();
    },
  };
}
