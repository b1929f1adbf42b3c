import { lstatSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
// biome-ignore lint/style/noRestrictedImports: only here it is made sure that what is used is private
import { tmpdir } from 'node:os';
import path from 'node:path';
import { removeIfPossible } from './files-in-use.ts';
import { readKept } from './kept-file.ts';
import { lifeOf, type Owner, ownerHere, ownerSchema } from './owner.ts';
import { SYSTEM } from './this-system.ts';
import { withoutLinks } from './without-links.ts';

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

/** The same for a process that is known, in a folder other than the system's. */
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

export async function removeAbandoned(above = systemTemporary()): Promise<void> {
  for (const folder of await ownFolders(PREFIX, above)) {
    const owner = await readKept(path.join(folder, OWNER_FILE), ownerSchema);
    if (owner && (await lifeOf(owner)) === 'gone') await removeIfPossible(folder);
  }
}

export async function ownFolders(prefix: string, above = systemTemporary()): Promise<string[]> {
  const names = await readdir(above).catch(() => []);
  return names
    .filter((name) => name.startsWith(prefix))
    .map((name) => path.join(above, name))
    .filter((folder) => ownFolder(folder)?.isPrivate);
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
    const own = ownFolder(folder);
    if (own?.isPrivate) return folder;
    // An earlier version created it so that other users could read it, or write to it. Only its owner can remove it.
    if (own) rmSync(folder, { recursive: true, force: true });
  }
  return undefined;
}

/** Of a folder of this user: what others may do with it. Undefined if there is none, or a link. */
function ownFolder(folder: string): { isPrivate: boolean } | undefined {
  // Asked once: it may be removed at any time.
  const found = lstatSync(folder, { throwIfNoEntry: false });
  if (!found?.isDirectory()) return undefined;
  if (process.getuid === undefined) return { isPrivate: true };
  return found.uid === process.getuid() ? { isPrivate: (found.mode & 0o077) === 0 } : undefined;
}
