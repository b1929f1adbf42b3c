import { useQuery } from '@tanstack/react-query';
import { load } from '../../api/client.ts';
import { nullIfNotFound } from '../../api/failure.ts';
import { keys } from '../../api/query-client.ts';
import type { PlatformRecord } from '../../api/use-world.ts';

/** The current resource with all members; `null` if it does not exist any more. */
export function useRecord(id: string | undefined, fqon: string) {
  return useQuery({
    queryKey: [keys.world, 'record', id],
    queryFn: ({ signal }) => load<PlatformRecord>(`/meta/${fqon}/resources/${id}`, {}, signal).catch(nullIfNotFound),
    enabled: id !== undefined,
    staleTime: 0,
  });
}
