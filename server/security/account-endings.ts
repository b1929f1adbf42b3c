import { actingToken } from '../model/cause.ts';
import type { Change, Commit } from '../model/commit.ts';
import { USER } from '../model/type-names.ts';
import type { WorldView } from '../model/world-view.ts';
import type { Credentials } from './credentials.ts';

/**
 * Ends what a commit has made an end of: all credentials of accounts that are gone, the tokens and with them the sessions of those
 * whose password was changed, but for the one by which that was done, and at a reset the keys of accounts that begin anew
 * (D-072, D-216).
 */
export async function endCredentials(
  credentials: Credentials,
  view: WorldView,
  { cause }: Commit,
  changes: readonly Change[],
): Promise<void> {
  const isReset = cause.action === 'world.reset';
  const keptId = actingToken(cause);
  const endings = changes.flatMap(({ before, after }) => {
    if (before?.type !== USER || before.properties.password === after?.properties.password) return [];
    return after && !isReset ? credentials.endTokensOf(before.id, keptId) : credentials.forgetUser(before.id);
  });
  if (isReset) endings.push(credentials.endTokensOf(view.root.owner, keptId));
  await Promise.all(endings);
}
