import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { removeIfPossible } from '../../../system/files-in-use.ts';
import { type Owner, ownerHere } from '../../../system/owner.ts';
import { makeTemporaryNow, removeAbandoned, systemTemporary } from '../../../system/temporary.ts';
import { SYSTEM } from '../../../system/this-system.ts';
import { withoutLinks } from '../../../system/without-links.ts';

/** Programs put Unix sockets into it, whose paths end at 104 characters (D-113). */
const LONGEST = 60;
const KIND = 'tmp';
/** The maximum length of the suffix of `mkdtemp` and the number of a folder. */
const LONGEST_REST = `${path.sep}terrarium-${KIND}-XXXXXX${path.sep}999999`.length;

/** TMPDIR of each lambda: short, readable by its owner only, and removed with the lambda, at the stop, or at a later start. */
export class TemporaryFolders {
  readonly #above: string;
  readonly #check: () => void;
  #folder: string | undefined;
  readonly #names = new Map<string, string>();
  #count = 0;
  #owner: Owner | undefined;
  readonly #fallback: string;

  /** In `fallback`, a folder of the platform's own, where the system's folder cannot be written. */
  constructor(check: () => void, fallback: string, systemFolder = systemTemporary()) {
    this.#fallback = fallback;
    const isLong = SYSTEM !== 'win32' && systemFolder.length + LONGEST_REST > LONGEST;
    this.#above = isLong ? withoutLinks('/tmp') : systemFolder;
    this.#check = check;
  }

  /** The folder of a lambda, made when it is missing: what cleans up the system's folder may have removed it. */
  provide(lambdaId: string): string {
    const name = this.#names.get(lambdaId) ?? String(++this.#count);
    this.#names.set(lambdaId, name);
    const folder = path.join(this.#parentFolder(), name);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    return folder;
  }

  async forget(lambdaId: string): Promise<void> {
    const name = this.#names.get(lambdaId);
    this.#names.delete(lambdaId);
    if (this.#folder !== undefined && name !== undefined) await removeIfPossible(path.join(this.#folder, name));
  }

  async clear(): Promise<void> {
    for (const above of new Set([systemTemporary(), this.#above, this.#fallback])) await removeAbandoned(above);
    this.#owner = await ownerHere(undefined);
  }

  async stop(): Promise<void> {
    const folder = this.#folder;
    this.#folder = undefined;
    if (folder !== undefined) await removeIfPossible(folder);
  }

  #parentFolder(): string {
    if (this.#folder !== undefined) return this.#folder;
    this.#check();
    if (!this.#owner) throw new Error('temporary folders are used before `clear`');
    try {
      this.#folder = makeTemporaryNow(KIND, this.#owner, this.#above);
    } catch {
      // The system's folder cannot be written, as in a container that is read-only.
      mkdirSync(this.#fallback, { recursive: true });
      this.#folder = makeTemporaryNow(KIND, this.#owner, this.#fallback);
    }
    return this.#folder;
  }
}
