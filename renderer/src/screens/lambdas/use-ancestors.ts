import { useQuery } from '@tanstack/react-query';
import { load } from '../../api/client.ts';
import { failureOf } from '../../api/failure.ts';
import { keys } from '../../api/query-client.ts';
import { parentIdOf } from '../../api/resource-kinds.ts';
import type { PlatformRecord } from '../../api/world.ts';

/** Deepest nesting of organizations. */
const MAX_DEPTH = 40;

export interface Lineage {
  /** The ancestors of a lambda, nearest first, as far as the user may view them. */
  above: readonly PlatformRecord[];
  /** Set where one of them may not be viewed. */
  withheld?: {
    refusal: unknown;
    /** All variables that the lambda sees: viewing the lambda is enough to read them (D-112). */
    merged: Readonly<Record<string, string>>;
  };
}

/** What a lambda has its variables from. */
export function useAncestors(lambda: PlatformRecord) {
  return useQuery({
    queryKey: [keys.world, 'lineage', lambda.id],
    queryFn: async ({ signal }): Promise<Lineage> => {
      const above: PlatformRecord[] = [];
      let id = parentIdOf(lambda);
      while (id !== undefined && above.length < MAX_DEPTH) {
        try {
          const next: PlatformRecord = await load<PlatformRecord>(`/meta/root/resources/${id}`, {}, signal);
          above.push(next);
          id = parentIdOf(next);
        } catch (refusal) {
          if (failureOf(refusal).code !== 403) throw refusal;
          const merged = await load<Record<string, string>>(`/meta/lambdas/${lambda.id}/env`, {}, signal);
          return { above, withheld: { refusal, merged } };
        }
      }
      return { above };
    },
  });
}
