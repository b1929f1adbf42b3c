import { useQuery } from '@tanstack/react-query';
import { load } from './client.ts';
import { keys } from './query-client.ts';

/** A form that the CRM stand-in did not take, as `GET /inspect/leads?refused=true` gives it. */
export interface RefusedForm {
  id: string;
  refused: { status: number; message: string };
}

const NONE: readonly RefusedForm[] = [];

/** Refused forms, the oldest first. */
export function useRefusedForms(): readonly RefusedForm[] {
  const { data } = useQuery({
    queryKey: [keys.leads, 'refused'],
    queryFn: ({ signal }) => load<RefusedForm[]>('/inspect/leads', { refused: true }, signal),
  });
  return data ?? NONE;
}
