import { useQuery } from '@tanstack/react-query';
import { load } from '../../api/client.ts';
import { keys } from '../../api/query-client.ts';
import { parentIdOf } from '../../api/resource-kinds.ts';
import type { PlatformRecord } from '../../api/use-world.ts';

export interface Lineage {
  /** The ancestors of a lambda, nearest first, as far as the user may view them. */
  above: readonly PlatformRecord[];
  /** Set where one of them may not be viewed: all variables that the lambda sees. Viewing the lambda is enough to read them (D-112). */
  merged?: Readonly<Record<string, string>>;
}

/** Reads the resources that a lambda has its variables from. */
export function useAncestors(lambda: PlatformRecord) {
  return useQuery({
    queryKey: [keys.world, 'lineage', lambda.id],
    queryFn: async ({ signal }): Promise<Lineage> => {
      const { path } = await load(`/inspect/tree/${lambda.id}`, {}, signal); // those that may be viewed, root first
      const above: PlatformRecord[] = [];
      let parentId = parentIdOf(lambda);
      for (const { id } of path.reverse()) {
        if (id !== parentId) break;
        const next = await load<PlatformRecord>(`/meta/root/resources/${id}`, {}, signal);
        above.push(next);
        parentId = parentIdOf(next);
      }
      if (parentId === undefined) return { above };
      return { above, merged: await load<Record<string, string>>(`/meta/lambdas/${lambda.id}/env`, {}, signal) };
    },
  });
}
