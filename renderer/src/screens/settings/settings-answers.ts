import { useQuery } from '@tanstack/react-query';
import type { AnswerOf } from '../../../../server/contract/row.ts';
import type { settingsRows } from '../../../../server/contract/window.ts';
import { load } from '../../api/client.ts';

export type {
  ShownSetting as PlatformSetting,
  StoredAmount as PartAmount,
} from '../../../../server/contract/window.ts';

type PlatformSettings = AnswerOf<typeof settingsRows.readSettings>;

/** How the platform was set up and how much it keeps; sizes are looked up whenever one looks. For the root user. */
export function useSettings() {
  return useQuery({
    queryKey: ['settings'],
    queryFn: ({ signal }) => load<PlatformSettings>('/inspect/settings', {}, signal),
    staleTime: 0,
  });
}
