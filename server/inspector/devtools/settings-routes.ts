import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Router } from 'express';
import { type SettingView, type StoredAmount, settingsRoutes } from '../../api/routes/window.ts';
import { mountRoutes, type RouteGuard } from '../../api/server/mount-routes.ts';

/** The parts of a data folder, by their names at its top, without logs; other files are `other`. */
const PARTS = {
  'world.json': 'world',
  'journal.jsonl': 'history',
  history: 'history',
  snapshots: 'snapshots',
  records: 'records',
  lambdas: 'packages',
  registry: 'registry',
  repositories: 'scm',
  'scm-token.json': 'credentials',
  'root-api-key.json': 'credentials',
  'passwords.json': 'credentials',
  'crm-certificate.pem': 'credentials',
  'set-aside': 'earlierWorlds',
} as const;
const partsByName = new Map<string, string>(Object.entries(PARTS));

/** Packages of lambdas can contain tens of thousands of files; counting stops at this number. */
const MAX_FILES = 50_000;

/**
 * Sizes of the contents of a data folder. Files that are deleted in the meantime count as 0. Links are not followed.
 *
 * @param dir the data folder
 * @param logPartOf the part that a file at its top belongs to when it is a log
 */
export async function folderSizes(dir: string, logPartOf: (name: string) => string | undefined) {
  const parts = new Map<string, { files: number; sizeBytes: number }>();
  let looked = 0;
  const measure = async (folder: string, partOf: (name: string) => string): Promise<void> => {
    for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
      if (looked >= MAX_FILES) return;
      const part = partOf(entry.name);
      const path = join(folder, entry.name);
      if (entry.isDirectory()) {
        await measure(path, () => part);
        continue;
      }
      looked += 1;
      const size = await lstat(path).then(
        (stats) => stats.size,
        () => 0,
      );
      const { files, sizeBytes } = parts.get(part) ?? { files: 0, sizeBytes: 0 };
      parts.set(part, { files: files + 1, sizeBytes: sizeBytes + size });
    }
  };
  await measure(dir, (found) => {
    const name = found.replace(/\.tmp$/, '');
    return partsByName.get(name) ?? logPartOf(name) ?? 'other';
  });
  return { parts, isCut: looked >= MAX_FILES };
}

export type KeptAmount = Omit<StoredAmount, 'part' | 'files'>;

export interface SettingsService {
  settings(): readonly SettingView[];
  addresses(): Readonly<Record<string, string>>;
  /** The data folder; undefined when everything is in memory. */
  folder: string | undefined;
  /** Counts and limits of the folder's contents; the sizes are determined here. */
  stored(): Readonly<Record<string, KeptAmount>>;
  /** The part that a file at the top of the folder belongs to when it is a log. */
  partOf(name: string): string | undefined;
  memory(): Readonly<Record<string, KeptAmount>>;
}

export function settingsRouter(service: SettingsService, guard: RouteGuard): Router {
  return mountRoutes(settingsRoutes, guard, {
    async readSettings() {
      const { folder, ...settingsOfService } = service;
      const { parts, isCut } =
        folder === undefined ? { parts: new Map(), isCut: false } : await folderSizes(folder, settingsOfService.partOf);
      const counted = settingsOfService.stored();
      const names = [...new Set([...Object.keys(counted), ...parts.keys()])];
      return {
        settings: [...settingsOfService.settings()],
        addresses: settingsOfService.addresses(),
        ...(folder !== undefined && { folder }),
        stored: names.map((part) => ({ part, ...counted[part], ...parts.get(part) })),
        memory: Object.entries(settingsOfService.memory()).map(([part, amount]) => ({ part, ...amount })),
        isCut,
      };
    },
  });
}
