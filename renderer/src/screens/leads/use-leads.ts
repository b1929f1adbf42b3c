import { useMutation, useQuery } from '@tanstack/react-query';
import { load, send } from '../../api/client.ts';
import { keys, queryClient } from '../../api/query-client.ts';

/** A form that the CRM stand-in took or refused, as `GET /inspect/leads` gives it. */
export interface Lead {
  id: string;
  receivedAt: string;
  oid?: string;
  /** Of one that was not taken: what its sender was told. */
  refused?: { status: number; message: string };
  fields: readonly { name: string; value: string }[];
  /** The fields under the names of the web form's payload. */
  mapped: Readonly<Record<string, string>>;
  source: { host?: string; path?: string };
  /** The invocation that sent it. */
  executionId?: string;
  /** What was known of that lambda and its call then. */
  sender?: { lambdaId: string; lambdaName: string; event?: string; crmOid?: string };
}

/** Caught leads and refused forms, the newest first. */
export function useLeads() {
  return useQuery({
    queryKey: [keys.leads, 'inbox'],
    queryFn: async ({ signal }) => {
      const [taken, refused] = await Promise.all([
        load<Lead[]>('/inspect/leads', {}, signal),
        load<Lead[]>('/inspect/leads', { refused: true }, signal),
      ]);
      return [...taken, ...refused].sort((one, other) => (one.receivedAt < other.receivedAt ? 1 : -1));
    },
    // Of up to 10,000 with their events: to compare each with what it was takes longer than to draw the few that are seen.
    structuralSharing: false,
  });
}

/** Deletes the lead with this id, or without one all leads. */
export function useDeleteLeads(onDeleted: () => void) {
  return useMutation({
    mutationFn: (id?: string) => send('DELETE', id === undefined ? '/inspect/leads' : `/inspect/leads/${id}`),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: [keys.leads] });
      onDeleted();
    },
  });
}
