import { useQuery } from '@tanstack/react-query';
import { load } from '../../api/client.ts';

/** One setting as it is in force, as `GET /inspect/settings` tells it. */
export interface PlatformSetting {
  /** E.g. `limits.logLines`. */
  key: string;
  /** null when it is not set; secrets are `****`. */
  value: unknown;
  source: 'default' | 'file' | 'environment' | 'flag' | 'option';
  /** The flag, the variable or the file that said it. */
  origin: string;
  description: string;
  flag: string;
  env: string;
  isSecret: boolean;
}

/** How much is kept of something, and how much may be. */
export interface PartAmount {
  part: string;
  files?: number;
  items?: number;
  maxItems?: number;
  sizeBytes?: number;
  maxBytes?: number;
}

interface PlatformSettings {
  settings: readonly PlatformSetting[];
  /** The data folder; undefined when all is in memory. */
  folder?: string;
  stored: readonly PartAmount[];
  memory: readonly PartAmount[];
  /** Were there more files than were looked at? */
  isCut: boolean;
}

/** How the platform was set up and how much it keeps; sizes are looked up whenever one looks. For the root user. */
export function useSettings() {
  return useQuery({
    queryKey: ['settings'],
    queryFn: ({ signal }) => load<PlatformSettings>('/inspect/settings', {}, signal),
    staleTime: 0,
  });
}
