import type { Declaration } from '../../plugin/declaration.ts';
import { log } from '../../plugin/declaration.ts';
import type { SyncRecord } from './routes.ts';

export const publish = {
  /** Digests of what was last copied between this platform and others. */
  logs: { meetings: log<SyncRecord>({ part: 'sync' }) },
} satisfies Declaration;
