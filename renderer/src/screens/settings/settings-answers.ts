import { useQuery } from '@tanstack/react-query';
import { load } from '../../api/client.ts';

export type {
  ShownSetting as PlatformSetting,
  StoredAmount as PartAmount,
} from '../../../../server/contract/window.ts';

/** How the platform was set up and how much it keeps; sizes are looked up whenever one looks. For the root user. */
export function useSettings() {
  return useQuery({
    queryKey: ['settings'],
    queryFn: ({ signal }) => load('/inspect/settings', {}, signal),
    staleTime: 0,
  });
}
