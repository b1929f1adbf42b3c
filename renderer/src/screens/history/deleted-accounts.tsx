import { USER } from '../../../../server/model/type-names.ts';
import { counted } from '../../components/amounts.ts';
import type { Direction } from './difference-list.tsx';
import type { Difference } from './history-answers.ts';

export interface DeletedAccountsProps {
  difference: Difference;
  direction: Exclude<Direction, 'since'>;
}

/** Names the users who cannot sign in after the world was replaced. */
export function DeletedAccounts({ difference, direction }: DeletedAccountsProps) {
  const deletion = direction === 'back' ? 'create' : 'delete';
  const accounts = difference.resources.filter(({ type, action }) => type === USER && action === deletion);
  if (accounts.length === 0) return null;
  return (
    <p role="note" className="mt-2 text-warn">
      This deletes {counted(accounts.length, 'account')}: {accounts.map(({ path }) => path).join(', ')}. Their users
      cannot sign in until you undo it.
    </p>
  );
}
