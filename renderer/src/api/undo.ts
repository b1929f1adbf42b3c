import { type NewToast, toast } from '../components/toasts.tsx';
import { noteStep } from '../preferences/preferences.ts';
import { send } from './client.ts';
import { failureOf } from './failure.ts';
import { queryClient } from './query-client.ts';
import { isRoot } from './use-identity.ts';

/** Shows that something was changed; for root, whose reverts are accepted, with a way to undo the commits. */
export function toastWithUndo(
  text: string,
  commits: readonly number[],
  action = 'Undo',
  tone: NewToast['tone'] = 'ok',
): void {
  const canUndo = commits.length > 0 && isRoot();
  toast({ tone, text, ...(canUndo && { action: { text: action, run: () => void undo(commits, action) } }) });
}

/**
 * Shows a toast with Undo for one commit to the world.
 * @param seq undefined: nothing had to be changed
 */
export function toastCommit(text: string, seq: number | undefined): void {
  if (seq === undefined) toast({ tone: 'plain', text: 'No changes: the world is already in this state.' });
  else toastWithUndo(`${text} Commit ${seq}.`, [seq]);
}

/** Reverts the commits, the newest first, since a later one may build on an earlier one. */
async function undo(commits: readonly number[], action: string): Promise<void> {
  const newCommits: number[] = [];
  const name = `Commit ${commits.join(', ')}`;
  const [done, next] = action === 'Undo' ? (['undone', 'Redo'] as const) : (['redone', 'Undo'] as const);
  try {
    for (const seq of commits.toReversed()) {
      const { commit } = await send('POST', `/inspect/history/${seq}/revert`, {});
      if (commit) newCommits.push(commit.seq);
    }
    noteStep('undo');
    toastWithUndo(`${name} was ${done}.`, newCommits, next);
  } catch (thrown) {
    toast({ tone: 'error', text: `${name} could not be ${done}: ${failureOf(thrown).message}` });
  }
  void queryClient.invalidateQueries();
}
