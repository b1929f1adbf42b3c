import { Trash2 } from 'lucide-react';
import { useState } from 'react';
import { failureOf } from '../../api/failure.ts';
import { Button } from '../../parts/button.tsx';
import { Confirm } from '../../parts/dialog.tsx';
import { FailureNote } from '../../parts/empty-state.tsx';
import { toast } from '../../parts/toasts.tsx';
import { useDeleteLeads } from './use-leads.ts';

/** Deletes all leads, once one has said so. */
export function ClearInbox({ count }: { count: number }) {
  const [isAsking, setAsking] = useState(false);
  const deletion = useDeleteLeads(() => {
    setAsking(false);
    toast({ tone: 'ok', text: 'The inbox is empty.' });
  });
  const leads = count === 1 ? 'the lead' : `all ${count.toLocaleString('en')} leads`;
  return (
    <>
      <Button icon={Trash2} look="quiet" isDisabled={count === 0} onPress={() => setAsking(true)}>
        Clear the inbox
      </Button>
      {isAsking && (
        <Confirm
          title="Clear the inbox"
          isOpen
          onClose={() => setAsking(false)}
          onConfirm={() => deletion.mutate(undefined)}
          deed={`Delete ${leads}`}
          isDanger
          isPending={deletion.isPending}
        >
          <p>
            Leads are no part of the history: once deleted they cannot be brought back, not even by an earlier moment or
            a snapshot. What the query hides is deleted, too. An archive of the instance (History) holds them.
          </p>
          {deletion.error && <FailureNote failure={failureOf(deletion.error)} />}
        </Confirm>
      )}
    </>
  );
}
