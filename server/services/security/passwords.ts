import crypto, { createHash, randomBytes, type ScryptOptions, timingSafeEqual } from 'node:crypto';
import path from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import { notSaved } from '../../storage/files/append-file.ts';
import { readSecret, writeSecret } from '../../storage/files/read-file.ts';

/** Cost of one hash: 2^14 rounds over 16 MiB take 30-60 ms on a desk's machine. */
const N = 2 ** 14;
const R = 8;
const P = 1;
const SALT_BYTES = 16;
const HASH_BYTES = 32;

/** Most memory that the parameters of a stored hash may ask for. */
const MAX_MEMORY_BYTES = 256 * 1024 * 1024;

const ENCODED = /^scrypt\$(\d{1,7})\$(\d{1,2})\$(\d{1,2})\$([A-Za-z0-9+/]+=*)\$([A-Za-z0-9+/]{43}=)$/;

const derive = promisify<string, Uint8Array, number, ScryptOptions, Buffer>((...args) => crypto.scrypt(...args));

function encode(salt: Buffer, hash: Buffer, rounds = N): string {
  return `scrypt$${rounds}$${R}$${P}$${salt.toString('base64')}$${hash.toString('base64')}`;
}

/** Cost for a random password, which cannot be guessed, whatever one attempt costs. */
const RANDOM_N = 16;

/** No password has these hashes; comparing with them costs as much as with a real one. */
const NOBODYS_HASH = encode(randomBytes(SALT_BYTES), randomBytes(HASH_BYTES));
const NOBODYS_RANDOM_HASH = encode(randomBytes(SALT_BYTES), randomBytes(HASH_BYTES), RANDOM_N);

/** `scrypt$N$r$p$salt$hash`, in base64; the parameters can thus be raised. @param rounds fewer only for tests and random passwords */
export async function hashPassword(password: string, rounds = N, salt = randomBytes(SALT_BYTES)): Promise<string> {
  return encode(salt, await derive(password, salt, HASH_BYTES, { N: rounds, r: R, p: P }), rounds);
}

/** Compared in constant time. @param encoded undefined (no such user) never matches, at the same cost, so that names are not revealed */
export async function verifyPassword(password: string, encoded: string | undefined): Promise<boolean> {
  const match = ENCODED.exec(encoded ?? '');
  const [, rounds, r, p, salt = '', hash = ''] = match ?? ENCODED.exec(NOBODYS_HASH) ?? [];
  const expected = Buffer.from(hash, 'base64');
  const options = { N: Number(rounds), r: Number(r), p: Number(p), maxmem: MAX_MEMORY_BYTES };
  const actual = await derive(password, Buffer.from(salt, 'base64'), HASH_BYTES, options);
  return timingSafeEqual(actual, expected) && match !== null;
}

/**
 * Verifies a sign-in, always at the cost of a chosen and of a random password, so that the duration does not reveal who
 * has which.
 */
export async function verifySignIn(password: string, encoded: string | undefined): Promise<boolean> {
  const isRandom = ENCODED.exec(encoded ?? '')?.[1] === String(RANDOM_N);
  const chosen = await verifyPassword(password, isRandom ? undefined : encoded);
  const random = await verifyPassword(password, isRandom ? encoded : NOBODYS_RANDOM_HASH);
  return chosen || random;
}

/** Passwords that earlier versions of Terrarium gave to root and to the users of the demo world. Everyone knows them (D-220). */
export const PUBLISHED: readonly { user: string; password: string }[] = [
  { user: 'root', password: 'terrarium' },
  { user: 'ada.byrne', password: 'ada-demo' },
  { user: 'milo.tanaka', password: 'milo-demo' },
  { user: 'ci-service', password: 'ci-demo' },
];

export const isPublished = (password: string): boolean =>
  PUBLISHED.some((published) => published.password === password);

/** Attempts at one password share a slow computation. Within an attempt no hash is used twice, so that equal passwords are not visible. */
export class PasswordWork {
  readonly #spare = new Map<string, string[]>();
  readonly #pairs: [password: string, hash: string][] = [];
  readonly #checks = new Map<string, Promise<boolean>>();

  again(): void {
    for (const [password, hash] of this.#pairs.splice(0)) {
      this.#spare.set(password, [...(this.#spare.get(password) ?? []), hash]);
    }
  }

  async hash(password: string): Promise<string> {
    const hash = this.#spare.get(password)?.shift() ?? (await hashPassword(password));
    this.#pairs.push([password, hash]);
    return hash;
  }

  check(password: string, hash: string): Promise<boolean> {
    const question = JSON.stringify([password, hash]);
    const pendingCheck = this.#checks.get(question) ?? verifyPassword(password, hash);
    this.#checks.set(question, pendingCheck);
    return pendingCheck;
  }
}

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
