import { hashPassword, verifyPassword } from './passwords.ts';

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
