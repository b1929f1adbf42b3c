import { useRead } from '../../api/read.ts';

export type {
  ShownSetting as PlatformSetting,
  StoredAmount as PartAmount,
} from '../../../../server/contract/window.ts';

/** How the platform was set up and how much it keeps; sizes are looked up whenever one looks. For the root user. */
export function useSettings() {
  return useRead('settings', '/inspect/settings', {}, { staleTime: 0 });
}
