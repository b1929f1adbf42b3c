import type { ShownLead } from '../../../server/contract/leads.ts';
import { keys } from './query-client.ts';
import { useRead } from './read.ts';

const NONE: readonly ShownLead[] = [];

/** Refused forms, the oldest first. */
export function useRefusedForms(): readonly ShownLead[] {
  const { data } = useRead(keys.leads, '/inspect/leads', { refused: true });
  return data ?? NONE;
}
