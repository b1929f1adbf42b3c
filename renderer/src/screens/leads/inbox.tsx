import { formQuery } from '../../../../server/api/routes/recorded-queries.ts';
import { load } from '../../api/client.ts';
import type { ListFigures } from '../../api/use-figures.ts';
import { Button } from '../../components/button.tsx';
import type { GridColumn } from '../../components/data-grid.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { EventList, type EventListOptions } from '../../components/list/event-list.tsx';
import { timeColumn } from '../../components/list/time-column.tsx';
import { PendingDetail } from '../../components/pending-detail.tsx';
import type { QueryBarProps } from '../../components/query-bar.tsx';
import { State } from '../../components/state.tsx';
import { PlaceLink } from '../../shell/place-link.tsx';
import { useSearch } from '../../url.ts';
import { FormDetail } from './form-detail.tsx';
import { nextStepOf, STOPS } from './form-stops.ts';
import { LeadDetail } from './lead-detail.tsx';
import { Marked, MarkWanted } from './marked.tsx';
import { FORMS_PATH, type FormFilter, type FormView, nameOf, useForm, type useForms } from './use-leads.ts';

const keyOf = ({ id }: FormView) => id;

export const FORM_QUERY: QueryBarProps = {
  subject: 'leads',
  read: formQuery,
  example: 'is:lost email:ada since:1h',
  suggestions: ['is:lost', 'is:delivered', 'is:limited', 'email:', 'company:', 'lambda:', 'since:1h'],
};

const TIME = timeColumn<FormView>(({ at }) => at, { hideOrder: 1 });
const NAME: GridColumn<FormView> = {
  id: 'name',
  sortBy: nameOf,
  header: 'Name',
  width: { share: 2, minWidth: 110 },
  cell: (form) => (
    <span className="font-medium">
      <Marked>{nameOf(form) || '(no name)'}</Marked>
    </span>
  ),
};
const COMPANY: GridColumn<FormView> = {
  id: 'company',
  sortBy: ({ mapped }) => mapped.company,
  hideOrder: 4,
  header: 'Company',
  width: { share: 2, minWidth: 100 },
  cell: ({ mapped }) => <Marked>{mapped.company ?? ''}</Marked>,
};
const EMAIL: GridColumn<FormView> = {
  id: 'email',
  sortBy: ({ mapped }) => mapped.email,
  hideOrder: 3,
  header: 'Email',
  width: { share: 3, minWidth: 120 },
  isMuted: true,
  cell: ({ mapped }) => <Marked>{mapped.email ?? ''}</Marked>,
};
const LAMBDA: GridColumn<FormView> = {
  id: 'lambda',
  sortBy: ({ lambdaName }) => lambdaName,
  hideOrder: 5,
  header: 'Sent by',
  width: { share: 1, minWidth: 110 },
  isMuted: true,
  cell: ({ lambdaName }) => <Marked>{lambdaName ?? '-'}</Marked>,
};
const STOP: GridColumn<FormView> = {
  id: 'stop',
  header: 'State',
  width: 204,
  sortBy: ({ stop }) => stop,
  cell: ({ stop, reason, isForAnotherCrm, isUnusualPath }) => {
    if (isForAnotherCrm) return <State is="error">another oid</State>;
    if (stop === 'delivered' && reason !== '') return <State is="ok">delivered to a real CRM</State>;
    if (isUnusualPath) return <State is="warning">unusual path</State>;
    return <State is={STOPS[stop].is}>{STOPS[stop].text}</State>;
  },
};
const NEXT: GridColumn<FormView> = {
  id: 'next',
  header: 'Next step',
  hideOrder: 2,
  width: 136,
  cell: (form) => {
    const next = nextStepOf(form);
    return next && <PlaceLink to={next.location}>{next.text}</PlaceLink>;
  },
};
const COLUMNS = [STOP, TIME, NAME, COMPANY, EMAIL, LAMBDA, NEXT];
const FORMS: EventListOptions<FormView> = {
  atMsOf: ({ at }) => Date.parse(at),
  states: [
    { is: 'ok', text: 'delivered', term: 'is:delivered', figure: 'ok' },
    { is: 'idle', text: 'delivered on replay', term: 'is:replayed', figure: 'refused' },
    { is: 'error', text: 'not delivered', term: 'is:lost', figure: 'failed' },
  ],
  views: [
    { name: 'Not delivered', search: { q: 'is:lost' } },
    { name: 'Over the rate limit', search: { q: 'is:limited' } },
    { name: 'Last ten minutes', search: { q: 'since:10m' } },
  ],
};

interface InboxProps {
  forms: ReturnType<typeof useForms>;
  figures: ListFigures | undefined;
  filter: FormFilter;
}

/** The forms that were sent, with where they stopped, and the selected one in detail. */
export function Inbox({ forms, figures, filter }: InboxProps) {
  const [{ q = '', sel }, change] = useSearch();
  const rowAt = async (seq: number) => (await load(FORMS_PATH, { ...filter, before: seq + 1, limit: 1 })).forms[0];
  return (
    <MarkWanted query={q}>
      <EventList
        {...FORMS}
        name="leads"
        label="Leads"
        figures={figures}
        rowAt={rowAt}
        list={forms}
        columns={COLUMNS}
        keyOf={keyOf}
        narrowedBy={['q', 'scope']}
        empty={
          <EmptyState
            title="The inbox is empty"
            text={
              <>
                A form that a lambda sends to its CRM is intercepted here; the real CRM never sees it. A form that does
                not get that far is listed with the place where it stopped.
              </>
            }
          >
            <PlaceLink to={{ screen: 'home' }}>Send the demo's form</PlaceLink>
          </EmptyState>
        }
        detailLabel="Lead"
        detail={
          sel === undefined ? undefined : <Detail key={sel} id={sel} onClose={() => change({ sel: undefined })} />
        }
      />
    </MarkWanted>
  );
}

function Detail({ id, onClose }: { id: string; onClose(): void }) {
  const read = useForm(id);
  if (!read.data) return <PendingDetail query={read} onClose={onClose} />;
  const [form] = read.data.forms;
  if (form?.lead) return <LeadDetail lead={form.lead} onClose={onClose} />;
  if (form) return <FormDetail form={form} onClose={onClose} />;
  return (
    <EmptyState
      title="Lead not found"
      text="It was deleted or replaced by newer leads: only the newest 10,000 are kept."
    >
      <Button onPress={onClose}>Close</Button>
    </EmptyState>
  );
}
