import { useQuery } from '@tanstack/react-query';
import { load } from '../../api/client.ts';
import { nullWhereGone } from '../../api/failure.ts';
import { keys } from '../../api/query-client.ts';
import type { PlatformRecord } from '../../api/world.ts';

/** A resource in full, as it is now; `null` when there is none of that id any more. */
export function useRecord(id: string | undefined, fqon: string) {
  return useQuery({
    queryKey: [keys.world, 'record', id],
    queryFn: ({ signal }) => load<PlatformRecord>(`/meta/${fqon}/resources/${id}`, {}, signal).catch(nullWhereGone),
    enabled: id !== undefined,
    staleTime: 0,
  });
}
