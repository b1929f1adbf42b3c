import { usePlatformStatus } from '../api/platform-status.ts';
import { keys } from '../api/query-client.ts';
import { useRead } from '../api/read.ts';
import { useRefusedForms } from '../api/refused-forms.ts';
import { useScope } from '../api/world.ts';
import { counted } from '../parts/amounts.ts';
import type { ScreenName } from '../screens/registry.ts';

/** What went wrong on a screen and waits for somebody to look at it. */
export function useRailAlerts(): Partial<Record<ScreenName, { count: number; text: string }>> {
  const { length: count } = useRefusedForms();
  return count === 0 ? {} : { leads: { count, text: counted(count, 'refused form') } };
}

/** How many there are of what each screen shows, in the scope; what is not known is left out. */
export function useRailCounts(): Partial<Record<ScreenName, number>> {
  const { scope } = useScope();
  const all = usePlatformStatus().data?.store.resources;
  const { data } = useRead(keys.world, '/inspect/tree/counts', { scope: scope.id });
  if (!data) return all === undefined ? {} : { resources: all };
  const { lambdas, containers, jobs, apiendpoints } = data.types;
  return {
    resources: data.total,
    lambdas: lambdas ?? 0,
    containers: (containers ?? 0) + (jobs ?? 0),
    gateway: apiendpoints ?? 0,
  };
}
