import type { Change } from '../model/commit.ts';
import type { Uuid } from '../model/ids.ts';
import type { KeyedLog } from '../model/keyed-log.ts';
import type { StoredResource } from '../model/record.ts';
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
export function pastAccountsIn(log: KeyedLog<PastAccount>) {
  const has = (id: Uuid): boolean => log.get(id) !== undefined;
  const note = async ({ id, name }: StoredResource): Promise<void> => {
    if (!has(id)) await log.put(id, { name });
  };
  return {
    has,
    /** Notes the accounts of a world: of one that is older than this record, or whose last commit was not noted before it ended. */
    async learn(view: Pick<WorldView, 'all'>): Promise<void> {
      await Promise.all(view.all('users').map(note));
    },
    /** Notes the accounts that a commit has made. */
    async changed(changes: readonly Change[]): Promise<void> {
      for (const { after } of changes) if (after?.type === USER) await note(after);
    },
  };
}
