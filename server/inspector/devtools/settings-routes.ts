import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Router } from 'express';
import { type SettingView, type StoredAmount, settingsRoutes } from '../../api/routes/window.ts';
import { mountRoutes, type RouteGuard } from '../../api/server/mount-routes.ts';

/** The parts of a data folder, by their names at its top, without logs; other files are `other`. */
const PARTS: ReadonlyMap<string, string> = new Map([
  ['world.json', 'world'],
  ['journal.jsonl', 'history'],
  ['history', 'history'],
  ['snapshots', 'snapshots'],
  ['records', 'records'],
  ['lambdas', 'packages'],
  ['registry', 'registry'],
  ['repositories', 'scm'],
  ['scm-token.json', 'credentials'],
  ['root-api-key.json', 'credentials'],
  ['passwords.json', 'credentials'],
  ['crm-certificate.pem', 'credentials'],
  ['set-aside', 'earlierWorlds'],
]);

/** Packages of lambdas can contain tens of thousands of files; counting stops at this number. */
const MAX_FILES = 50_000;

/**
 * Sizes of the contents of a folder by part. Files that are deleted in the meantime count as 0. Links are not followed.
 *
 * @param partAt the part of what has this name at the top of the folder
 */
export async function folderSizes(dir: string, partAt: (name: string) => string) {
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
  await measure(dir, partAt);
  return { parts, isCut: looked >= MAX_FILES };
}

/** Returns the part of what has this name at the top of a data folder. @param logPartOf its part when it is a log */
export function partOfDataFolder(found: string, logPartOf: (name: string) => string | undefined): string {
  const name = found.replace(/\.tmp$/, '');
  return PARTS.get(name) ?? logPartOf(name) ?? 'other';
}

export type KeptAmount = Omit<StoredAmount, 'part' | 'files'>;

export interface SettingsService {
  settings(): readonly SettingView[];
  addresses(): Readonly<Record<string, string>>;
  /** The data folder; undefined when everything is in memory. */
  folder: string | undefined;
  /** Counts and limits of the folder's contents; the sizes are determined here. */
  stored(): Readonly<Record<string, KeptAmount>>;
  /** Folders outside the data folder, by the part that is in them. */
  otherFolders(): Promise<Readonly<Record<string, string>>>;
  /** The part that a file at the top of the folder belongs to when it is a log. */
  partOf(name: string): string | undefined;
  memory(): Readonly<Record<string, KeptAmount>>;
}

export function settingsRouter(service: SettingsService, guard: RouteGuard): Router {
  return mountRoutes(settingsRoutes, guard, {
    async readSettings() {
      const { folder } = service;
      const otherFolders = await service.otherFolders();
      const measured = await Promise.all([
        ...(folder === undefined ? [] : [folderSizes(folder, (name) => partOfDataFolder(name, service.partOf))]),
        ...Object.entries(otherFolders).map(([part, path]) => folderSizes(path, () => part)),
      ]);
      const parts = new Map(measured.flatMap((sizes) => [...sizes.parts]));
      const counted = service.stored();
      const names = [...new Set([...Object.keys(counted), ...parts.keys()])];
      return {
        settings: [...service.settings()],
        addresses: service.addresses(),
        ...(folder !== undefined && { folder }),
        stored: names.map((part) => {
          const path = otherFolders[part];
          return { part, ...(path !== undefined && { folder: path }), ...counted[part], ...parts.get(part) };
        }),
        memory: Object.entries(service.memory()).map(([part, amount]) => ({ part, ...amount })),
        isCut: measured.some((sizes) => sizes.isCut),
      };
    },
  });
}
