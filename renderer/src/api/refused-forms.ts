import { useQuery } from '@tanstack/react-query';
import type { ShownLead } from '../../../server/contract/leads.ts';
import { load } from './client.ts';
import { keys } from './query-client.ts';

const NONE: readonly ShownLead[] = [];

/** Refused forms, the oldest first. */
export function useRefusedForms(): readonly ShownLead[] {
  const { data } = useQuery({
    queryKey: [keys.leads, 'refused'],
    queryFn: ({ signal }) => load('/inspect/leads', { refused: true }, signal),
  });
  return data ?? NONE;
}
