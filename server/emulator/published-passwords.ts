import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { DEFAULT_ROOT_PASSWORD } from '../config-schema.ts';
import { isJsonObject, type Json, memberOf } from '../model/json.ts';
import type { StoredResource } from '../model/record.ts';
import { USER } from '../model/type-names.ts';
import type { WorldView } from '../model/world-view.ts';
import { packageFile } from '../package-file.ts';
import { verifyPassword } from '../security/passwords.ts';

const SEED = 'fixtures/worlds/demo.yaml';
const PASSWORD_BYTES = 12;

/**
 * Passwords that everybody knows, since they come along with Terrarium. They make the demo easy on one's own machine; where
 * other machines are let in they open nothing, and whoever has one gets another.
 */
export class PublishedPasswords {
  readonly #byUser: ReadonlyMap<string, string>;
  readonly #all: ReadonlySet<string>;

  private constructor(byUser: ReadonlyMap<string, string>) {
    this.#byUser = byUser;
    this.#all = new Set([...byUser.values(), DEFAULT_ROOT_PASSWORD]);
  }

  static async read(): Promise<PublishedPasswords> {
    // Loaded only now: a platform that no other machine reaches asks for none.
    const { parse } = await import('yaml');
    return new PublishedPasswords(passwordsIn(parse(await readFile(packageFile(SEED), 'utf8'))));
  }

  /** Does it open nothing here? */
  has(password: string): boolean {
    return this.#all.has(password);
  }

  /** Users who may have one: those that are called as in the seed. */
  suspects(view: WorldView): StoredResource[] {
    return [...this.#byUser.keys()].flatMap((name) => view.named('users', name));
  }

  /** A password of his own for a user who has the published one; undefined for everybody else. */
  async replacementFor({ type, name, properties: { password } }: StoredResource): Promise<string | undefined> {
    const published = type === USER ? this.#byUser.get(name) : undefined;
    if (published === undefined || typeof password !== 'string') return undefined;
    return (await verifyPassword(published, password)) ? randomBytes(PASSWORD_BYTES).toString('base64url') : undefined;
  }
}

/** Of all users in a seed, wherever they stand. */
function passwordsIn(node: Json): Map<string, string> {
  const found = new Map<string, string>();
  if (!isJsonObject(node)) return found;
  for (const [name, user] of Object.entries(memberOf(node, 'users') ?? {})) {
    const password = memberOf(memberOf(user, 'properties'), 'password');
    if (typeof password === 'string') found.set(name, password);
  }
  for (const child of Object.values(node)) for (const [name, password] of passwordsIn(child)) found.set(name, password);
  return found;
}
