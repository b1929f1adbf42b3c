import { hashPassword, verifyPassword } from './passwords.ts';

/**
 * Hashes and checks passwords, which takes long by intent, once for several attempts at the same work: a later attempt gets
 * what an earlier one has worked out. Within one attempt no hash is given twice, so that equal passwords do not show.
 */
export class PasswordWork {
  readonly #spare = new Map<string, string[]>();
  readonly #given: [password: string, hash: string][] = [];
  readonly #checks = new Map<string, Promise<boolean>>();

  /** Begins the next attempt. */
  again(): void {
    for (const [password, hash] of this.#given.splice(0)) {
      this.#spare.set(password, [...(this.#spare.get(password) ?? []), hash]);
    }
  }

  async hash(password: string): Promise<string> {
    const hash = this.#spare.get(password)?.shift() ?? (await hashPassword(password));
    this.#given.push([password, hash]);
    return hash;
  }

  check(password: string, hash: string): Promise<boolean> {
    const question = JSON.stringify([password, hash]);
    const known = this.#checks.get(question) ?? verifyPassword(password, hash);
    this.#checks.set(question, known);
    return known;
  }
}
