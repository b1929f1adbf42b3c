import { send } from '../../api/client.ts';
import { failureOf } from '../../api/failure.ts';
import { queryClient } from '../../api/query-client.ts';
import { toast } from '../../parts/toasts.tsx';

/** Says what was done to the world by one commit, and offers to take it back. @param seq undefined: there was nothing to do */
export function tellOfCommit(text: string, seq: number | undefined): void {
  if (seq === undefined) toast({ tone: 'plain', text: 'The world is so already: nothing was changed.' });
  else toast({ tone: 'ok', text: `${text} Commit ${seq}.`, action: { text: 'Undo', run: () => void takeBack(seq) } });
}

/** Takes a commit back by a new one, and says so. */
async function takeBack(seq: number): Promise<void> {
  try {
    await send('POST', `/inspect/history/${seq}/revert`, {});
    toast({ tone: 'ok', text: `Commit ${seq} was taken back.` });
  } catch (thrown) {
    toast({ tone: 'error', text: `Commit ${seq} could not be taken back: ${failureOf(thrown).message}` });
  }
  void queryClient.invalidateQueries();
}
