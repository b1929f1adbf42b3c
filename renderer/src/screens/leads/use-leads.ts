import { useQuery } from '@tanstack/react-query';
import { useChange } from '../../api/change.ts';
import { load, send } from '../../api/client.ts';
import { keys } from '../../api/query-client.ts';

export type { LeadView as Lead } from '../../../../server/api/routes/leads.ts';

/** Caught leads and rejected forms, the newest first. */
export function useLeads() {
  return useQuery({
    queryKey: [keys.leads, 'inbox'],
    queryFn: async ({ signal }) => {
      const [acceptedLeads, rejectedLeads] = await Promise.all([
        load('/inspect/leads', {}, signal),
        load('/inspect/leads', { refused: true }, signal),
      ]);
      return [...acceptedLeads, ...rejectedLeads].sort((a, b) => (a.receivedAt < b.receivedAt ? 1 : -1));
    },
    // Of up to 10,000 with their events: to compare each with what it was takes longer than to draw the few that are seen.
    structuralSharing: false,
  });
}

/** Deletes the lead with this id, or without one all leads. */
export function useDeleteLeads(message: string, onShown: () => void) {
  return useChange(
    (id: string | undefined) => send('DELETE', id === undefined ? '/inspect/leads' : `/inspect/leads/${id}`),
    { message: message, topic: keys.leads, onShown },
  );
}
