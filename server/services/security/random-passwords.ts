import { createHash, randomBytes } from 'node:crypto';
import path from 'node:path';
import { z } from 'zod';
import { notSaved } from '../../storage/files/append-file.ts';
import { readSecret, writeSecret } from '../../storage/files/read-file.ts';
import { hashPassword, RANDOM_N, verifyPassword } from './passwords.ts';

const FILE = 'passwords.json';
const keptSchema = z.record(z.string(), z.string().min(1));

const PASSWORD_BYTES = 18;

/** Passwords of root and users of seeds without one (D-220), drawn once and kept in a file that only its owner can read. */
export class RandomPasswords {
  readonly #passwords: Map<string, string>;
  readonly #file: string | undefined;

  private constructor(passwords: Record<string, string>, file?: string) {
    this.#passwords = new Map(Object.entries(passwords));
    this.#file = file;
  }

  /** @param dataDir undefined to keep them in memory */
  static async open(dataDir: string | undefined): Promise<RandomPasswords> {
    if (dataDir === undefined) return new RandomPasswords({});
    const file = path.join(dataDir, FILE);
    return new RandomPasswords((await readSecret(file, keptSchema)) ?? {}, file);
  }

  /** Throws PlatformError 503 if the password cannot be saved. */
  async draw(user: string): Promise<string> {
    const knownPassword = this.#passwords.get(user);
    if (knownPassword !== undefined) return knownPassword;
    const drawn = randomBytes(PASSWORD_BYTES).toString('base64url');
    this.#passwords.set(user, drawn);
    if (this.#file === undefined) return drawn;
    try {
      await writeSecret(this.#file, Object.fromEntries(this.#passwords));
    } catch (error) {
      this.#passwords.delete(user);
      throw notSaved(`the random password of user '${user}'`, this.#file, error);
    }
    return drawn;
  }

  /** The password that was drawn for a user, if it is the one behind the hash. */
  async inForce(user: string, hash: unknown): Promise<string | undefined> {
    const drawn = this.#passwords.get(user);
    if (drawn === undefined || typeof hash !== 'string') return undefined;
    return (await verifyPassword(drawn, hash)) ? drawn : undefined;
  }

  users(): string[] {
    return [...this.#passwords.keys()];
  }

  /** The hash to store of any password: of one that was drawn here always the same, so that a reset changes nothing. */
  hash(password: string): Promise<string> {
    if (![...this.#passwords.values()].includes(password)) return hashPassword(password);
    const salt = createHash('sha256').update(password).digest().subarray(0, 16);
    return hashPassword(password, RANDOM_N, salt);
  }
}
