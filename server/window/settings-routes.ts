import type { Router } from 'express';
import { type ShownSetting, type StoredAmount, settingsRows } from '../contract/window.ts';
import { type Gate, serve } from '../http/serve.ts';
import { folderSizes, type StoredPart } from './settings-storage.ts';

/** How much is kept of something, and how much may be. */
export type KeptAmount = Omit<StoredAmount, 'part' | 'files'>;

/** Who knows how the platform was set up. */
export interface SettingsService {
  settings(): readonly ShownSetting[];
  addresses(): Readonly<Record<string, string>>;
  /** The data folder; undefined when everything is in memory. */
  folder: string | undefined;
  /** Counts and caps of what the folder holds; its sizes are looked up here. */
  stored(): Readonly<Partial<Record<StoredPart, KeptAmount>>>;
  /** What is at hand in memory, by its parts. */
  memory(): Readonly<Record<string, KeptAmount>>;
}

/** Each value with where it came from, and what is kept, each part with its size and what it may come to. */
export function settingsRoutes(service: SettingsService, gate: Gate): Router {
  return serve(settingsRows, gate, {
    async readSettings() {
      const { folder, ...known } = service;
      const { parts, isCut } = folder === undefined ? { parts: new Map(), isCut: false } : await folderSizes(folder);
      const counted = known.stored();
      const names = [...new Set([...Object.keys(counted), ...parts.keys()])];
      return {
        settings: [...known.settings()],
        addresses: known.addresses(),
        ...(folder !== undefined && { folder }),
        stored: names.map((part) => ({ part, ...counted[part as StoredPart], ...parts.get(part) })), // keys of both are parts
        memory: Object.entries(known.memory()).map(([part, amount]) => ({ part, ...amount })),
        isCut,
      };
    },
  });
}
