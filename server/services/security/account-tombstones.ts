import type { Change } from '../../model/commit.ts';
import type { KeyedLog } from '../../model/keyed-log.ts';
import type { StoredResource, Uuid, WorldView } from '../../model/record.ts';
import { USER } from '../../model/type-names.ts';

/** Record of a current or former account: its name, for readers of the file. */
export interface AccountTombstone {
  name: string;
}

/**
 * Every id that was ever an account's (D-030): a new account with such an id would be mistaken for the former one in old references.
 * Stored next to the world, because it must survive deletions and the trimming of the history.
 */
export function accountTombstonesIn(log: KeyedLog<AccountTombstone>) {
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
