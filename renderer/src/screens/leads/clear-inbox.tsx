import { Trash2 } from 'lucide-react';
import { useState } from 'react';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { useDeleteLeads } from './use-leads.ts';

/** Deletes all leads, once one has said so. */
export function ClearInbox({ count }: { count: number }) {
  const [isAsking, setAsking] = useState(false);
  const deletion = useDeleteLeads('The inbox is empty.', () => setAsking(false));
  const leads = count === 1 ? 'the lead' : `all ${count.toLocaleString('en')} leads`;
  return (
    <>
      <Button icon={Trash2} look="quiet" isDisabled={count === 0} onPress={() => setAsking(true)}>
        Clear the inbox
      </Button>
      {isAsking && (
        <Dialog
          title="Clear the inbox"
          isAlert
          onClose={() => setAsking(false)}
          deed={`Delete ${leads}`}
          onDeed={() => deletion.mutate(undefined)}
          look="destroy"
          making={deletion}
        >
          <p>
            Leads are no part of the history: once deleted they cannot be brought back, not even by an earlier moment or
            a snapshot. What the query hides is deleted, too. An archive of the instance (History) holds them.
          </p>
        </Dialog>
      )}
    </>
  );
}
