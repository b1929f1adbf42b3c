import type { Change } from '../model/commit.ts';
import type { Uuid } from '../model/ids.ts';
import type { KeyedLog } from '../model/keyed-log.ts';
import { USER } from '../model/type-names.ts';
import type { WorldView } from '../model/world-view.ts';

/** What is kept of an account that there is or was: its name, for whoever reads the file. */
export interface PastAccount {
  name: string;
}

/**
 * Every id that ever was an account's (D-030): whoever took one again would be taken for its owner, where something still names it.
 * It is kept beside the world, since neither deletion nor the trimming of the history may forget it.
 */
export class PastAccounts {
  readonly #log: KeyedLog<PastAccount>;

  constructor(log: KeyedLog<PastAccount>) {
    this.#log = log;
  }

  has(id: Uuid): boolean {
    return this.#log.get(id) !== undefined;
  }

  /** Notes the accounts of a world: of one that is older than this record, or whose last commit was not noted before it ended. */
  async learn(view: Pick<WorldView, 'all'>): Promise<void> {
    await Promise.all(view.all('users').map(({ id, name }) => this.#note(id, name)));
  }

  /** Notes the accounts that a commit has made. */
  async changed(changes: readonly Change[]): Promise<void> {
    for (const { after } of changes) if (after?.type === USER) await this.#note(after.id, after.name);
  }

  async #note(id: Uuid, name: string): Promise<void> {
    if (!this.has(id)) await this.#log.put(id, { name });
  }
}
