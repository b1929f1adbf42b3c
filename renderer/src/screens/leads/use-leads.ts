import type { FormView } from '../../../../server/api/routes/forms.ts';
import { load, send } from '../../api/client.ts';
import { keys } from '../../api/query-client.ts';
import type { AnswerAt } from '../../api/routes.ts';
import { useChange } from '../../api/use-change.ts';
import { usePages } from '../../api/use-pages.ts';
import { useRead } from '../../api/use-read.ts';

export type { FormStop, FormView } from '../../../../server/api/routes/forms.ts';
export type { LeadView as Lead } from '../../../../server/api/routes/leads.ts';

export const FORMS_PATH = '/inspect/forms';
const FIRST_ROWS = 200;
const PAGE_ROWS = 1_000;
type Page = AnswerAt<'GET', typeof FORMS_PATH>;
const rowsOf = ({ forms }: Page): readonly FormView[] => forms;

/** Every form that was sent, for its figures. */
export const ALL_FORMS = { topic: keys.forms, path: FORMS_PATH, filter: { q: undefined, scope: undefined } } as const;

export interface FormFilter {
  q: string | undefined;
  scope: string | undefined;
}

export function useForms(filter: FormFilter) {
  const pages = usePages({
    queryKey: [keys.forms, 'list', filter],
    read: (before, signal) =>
      load(FORMS_PATH, { ...filter, before, limit: before === undefined ? FIRST_ROWS : PAGE_ROWS }, signal),
    nextOf: ({ next }: Page) => next,
    rowsOf,
  });
  // An empty list is read again at each event, and stays empty meanwhile.
  return { ...pages, isPending: pages.data === undefined || (pages.isPending && pages.hasMore) };
}

/** The person's name; empty without one. */
export const nameOf = ({ mapped: { firstName, lastName } }: Pick<FormView, 'mapped'>) =>
  [firstName, lastName].filter(Boolean).join(' ');

/** One form, with its lead if the CRM received it. */
export function useForm(id: string) {
  return useRead(keys.forms, FORMS_PATH, { id });
}

/** Deletes the lead with this id, or without one all leads. */
export function useDeleteLeads(message: string, onShown: () => void) {
  return useChange(
    (id: string | undefined) => send('DELETE', id === undefined ? '/inspect/leads' : `/inspect/leads/${id}`),
    { message, topic: keys.forms, onShown },
  );
}
