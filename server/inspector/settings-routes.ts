import express, { type Router } from 'express';
import type { WorldGuard } from './history-routes.ts';
import { folderSizes, type StoredPart } from './settings-storage.ts';

/** One setting as it is in force. */
export interface ShownSetting {
  /** E.g. `limits.logLines`. */
  key: string;
  /** null when it is not set; secrets are `****`. */
  value: unknown;
  /** By what it was set; `option`: by the code that started the platform. */
  source: 'default' | 'file' | 'environment' | 'flag' | 'option';
  /** The flag, the variable or the file that did it. */
  origin: string;
  description: string;
  flag: string;
  env: string;
  isSecret: boolean;
}

/** How much is kept of something, and how much may be. */
export interface KeptAmount {
  items?: number;
  maxItems?: number;
  sizeBytes?: number;
  maxBytes?: number;
}

/** What is at hand in memory; `records` is what all that was recorded takes of it, of logs `maxItems` is the lines of each source. */
export type MemoryPart = 'invocations' | 'requests' | 'records' | 'logs';

/** Who knows how the platform was set up. */
export interface SettingsDesk {
  settings(): readonly ShownSetting[];
  addresses(): Readonly<Record<string, string>>;
  /** The data folder; undefined when everything is in memory. */
  folder: string | undefined;
  /** Counts and caps of what the folder holds; its sizes are looked up here. */
  stored(): Readonly<Partial<Record<StoredPart, KeptAmount>>>;
  memory(): Readonly<Record<MemoryPart, KeptAmount>>;
}

/**
 * `GET /settings`, for the root user: `{settings, addresses, folder?, stored, memory, isCut}`, each value with where it came
 * from, and what is kept, each part with its size and what it may come to.
 */
export function settingsRoutes(desk: () => SettingsDesk, guard: WorldGuard): Router {
  const router = express.Router({ caseSensitive: true });
  router.get('/settings', async (req, res) => {
    guard.root(req);
    const { folder, ...known } = desk();
    const { parts, isCut } = folder === undefined ? { parts: new Map(), isCut: false } : await folderSizes(folder);
    const counted = known.stored();
    const names = [...new Set([...Object.keys(counted), ...parts.keys()])];
    res.set('Cache-Control', 'no-store').json({
      settings: known.settings(),
      addresses: known.addresses(),
      ...(folder !== undefined && { folder }),
      stored: names.map((part) => ({ part, ...counted[part as StoredPart], ...parts.get(part) })), // keys of both are parts
      memory: Object.entries(known.memory()).map(([part, amount]) => ({ part, ...amount })),
      isCut,
    });
  });
  return router;
}
