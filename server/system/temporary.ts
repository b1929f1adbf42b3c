import { lstatSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
// biome-ignore lint/style/noRestrictedImports: only here it is made sure that what is used is private
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { z } from 'zod';
import { removeIfPossible } from './files-in-use.ts';
import { lifeOf, type Owner, ownerHere, ownerSchema, sharesFolders } from './owner.ts';
import { SYSTEM } from './this-system.ts';
import { readKept } from './write-whole.ts';

/* Others can write to the system's temporary folder: nothing is used before it is a folder that only this user can open. */

const PREFIX = 'terrarium-';
const OWNER_FILE = 'owner.json';

/** The variable that chooses the system's temporary folder. */
export const temporaryVariable = (system = SYSTEM): string => (system === 'win32' ? 'TEMP' : 'TMPDIR');

export const systemTemporary = (): string => withoutLinks(tmpdir());

/** Creates a private folder `terrarium-KIND-XXXXXX`. If this process is killed, the next start removes it. */
export async function makeTemporary(kind: string): Promise<string> {
  return makeTemporaryNow(kind, await ownerHere(undefined));
}

/** Creates a folder for a known process, in a folder other than the system's. */
export function makeTemporaryNow(kind: string, owner: Owner, above = systemTemporary()): string {
  const folder = mkdtempSync(path.join(above, `${PREFIX}${kind}-`));
  try {
    setOwner(folder, owner);
    return folder;
  } catch (failure) {
    rmSync(folder, { recursive: true, force: true });
    throw failure;
  }
}

export function setOwner(folder: string, owner: Owner): void {
  writeFileSync(path.join(folder, OWNER_FILE), JSON.stringify(owner), { mode: 0o600 });
}

/** Removes the folders of ended processes, except those whose owner has noted what else has to be cleaned up. */
export async function removeAbandoned(above = systemTemporary()): Promise<void> {
  for await (const { folder } of abandonedFolders('', ownerSchema.strict(), above)) await removeIfPossible(folder);
}

/** Finds the folders of a kind whose process has ended, with what their owner has noted. */
export async function* abandonedFolders<T extends Owner>(
  kind: string,
  schema: z.ZodType<T>,
  above = systemTemporary(),
) {
  const names = await readdir(above).catch(() => []);
  for (const name of names.filter((entryName) => entryName.startsWith(`${PREFIX}${kind}`))) {
    const folder = path.join(above, name);
    const owner = ownFolder(folder)?.isPrivate && (await readKept(path.join(folder, OWNER_FILE), schema));
    const life = owner ? await lifeOf(owner) : 'unknown';
    // A process of an earlier boot of this machine has ended.
    if (owner && (life === 'gone' || (life === 'elsewhere' && sharesFolders(owner)))) yield { folder, owner };
  }
}

/** A private folder that has the same name for every process of this user. @returns undefined if another user has something of that name */
export function sharedTemporary(kind: string): string | undefined {
  // By number: a user need not have a name. On Windows a user's temporary folder is that user's own.
  const folder = path.join(systemTemporary(), `${PREFIX}${kind}-of-${process.getuid?.() ?? 'this-user'}`);
  for (let attempts = 0; attempts < 2; attempts += 1) {
    try {
      mkdirSync(folder, { mode: 0o700 });
    } catch {
      // It exists, or cannot be created.
    }
    const existing = ownFolder(folder);
    if (existing?.isPrivate) return folder;
    // An earlier version created it so that other users could read it, or write to it. Only its owner can remove it.
    if (existing) rmSync(folder, { recursive: true, force: true });
  }
  return undefined;
}

/** Returns whether a folder of this user is closed to others; undefined if there is none, or a link. */
function ownFolder(folder: string): { isPrivate: boolean } | undefined {
  // Asked once: it may be removed at any time.
  const found = lstatSync(folder, { throwIfNoEntry: false });
  if (!found?.isDirectory()) return undefined;
  if (process.getuid === undefined) return { isPrivate: true };
  return found.uid === process.getuid() ? { isPrivate: (found.mode & 0o077) === 0 } : undefined;
}

/** Resolves links of the existing part, as Node.js modules do. On macOS, the folder for temporary files is behind a link. */
export function withoutLinks(file: string): string {
  try {
    return realpathSync.native(file);
  } catch {
    const above = path.dirname(path.resolve(file));
    return above === path.resolve(file) ? above : path.join(withoutLinks(above), path.basename(file));
  }
}
