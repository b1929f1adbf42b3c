import { useQuery } from '@tanstack/react-query';
import { load } from '../../api/client.ts';
import { keys } from '../../api/query-client.ts';
import { parentIdOf } from '../../api/resource-kinds.ts';
import type { PlatformRecord } from '../../api/world.ts';

/** Organizations in organizations; nobody has more. */
const MAX_DEPTH = 40;

/** What a record is below, nearest first, root last. */
export function useLineage(record: PlatformRecord) {
  return useQuery({
    queryKey: [keys.world, 'lineage', record.id],
    queryFn: async ({ signal }) => {
      const above: PlatformRecord[] = [];
      let id = parentIdOf(record);
      while (id !== undefined && above.length < MAX_DEPTH) {
        const next: PlatformRecord = await load<PlatformRecord>(`/meta/root/resources/${id}`, {}, signal);
        above.push(next);
        id = parentIdOf(next);
      }
      return above;
    },
  });
}
