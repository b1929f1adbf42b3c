import { existsSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';

/**
 * Finds the nearest folder, from this one upward, that contains a file or folder with one of the names. Above this folder the search
 * ends at the root of a git repository and below the home folder, and skips what other users own, because anyone can write to a
 * folder such as `/tmp`.
 */
export function nearestFolderWith(names: readonly string[], folder: string): string | undefined {
  if (names.some((name) => existsSync(join(folder, name)))) return folder;
  for (let below = folder; !existsSync(join(below, '.git')); ) {
    const parent = dirname(below);
    if (parent === below || parent === homeFolder()) return undefined;
    if (names.some((name) => isOwn(join(parent, name)))) return parent;
    below = parent;
  }
  return undefined;
}

function isOwn(path: string): boolean {
  const status = statSync(path, { throwIfNoEntry: false });
  return status !== undefined && (process.getuid === undefined || status.uid === process.getuid());
}

/** This user's home folder, if any. Without HOME the system is asked, which does not know users that only have a number. */
export function homeFolder(): string | undefined {
  try {
    return homedir() || undefined;
  } catch {
    return undefined;
  }
}
