import { useMemo } from 'react';
import { parseQuery, type QueryField, queryTerms } from '../../../../server/model/query-language.ts';
import { useOwnFigures } from '../../api/figures.ts';
import { keys } from '../../api/query-client.ts';
import { useRead } from '../../api/read.ts';
import { useNowMs } from '../../components/amount.tsx';
import { counted } from '../../components/amounts.ts';
import { Button } from '../../components/button.tsx';
import type { GridColumn } from '../../components/data-grid.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { EventList, type EventListOptions, rangeOf } from '../../components/list/event-list.tsx';
import { timeColumn } from '../../components/list/time-column.tsx';
import type { QueryBarProps } from '../../components/query-bar.tsx';
import { State } from '../../components/state.tsx';
import { PlaceLink } from '../../shell/place-link.tsx';
import { useSearch } from '../../url.ts';
import { LeadDetail } from './lead-detail.tsx';
import { Marked, MarkWanted } from './marked-text.tsx';
import type { Lead, useLeads } from './use-leads.ts';

const NONE: readonly Lead[] = [];
const keyOf = ({ id }: Lead) => id;
const nameOf = ({ mapped }: Lead) => [mapped.firstName, mapped.lastName].filter(Boolean).join(' ');

/** A rejected form that was delivered later does not count as lost. */
const stateOf = ({ refused, deliveredAs }: Lead) => (!refused ? 'received' : deliveredAs ? 'resent' : 'rejected');
const FIGURES = { received: 'ok', resent: 'refused', rejected: 'failed' } as const;

const FIELDS: readonly QueryField<Lead>[] = [
  { name: 'name', valueOf: nameOf },
  { name: 'company', valueOf: ({ mapped }) => mapped.company },
  { name: 'email', valueOf: ({ mapped }) => mapped.email },
  { name: 'oid', valueOf: ({ oid }) => oid },
  { name: 'is', valueOf: stateOf, allowedValues: ['rejected', 'received', 'resent'] },
  { name: 'time', valueOf: ({ receivedAt }) => Date.parse(receivedAt), isMoment: true },
  { name: 'lambda', valueOf: ({ sender }) => sender?.lambdaName },
  { name: 'execution', valueOf: ({ executionId }) => executionId },
];
const textsOf = ({ fields, id }: Lead) => [`${id} ${fields.map(({ value }) => value).join(' ')}`];
const readQuery = (text: string, nowMs: number) => parseQuery(text, { fields: FIELDS, textsOf, nowMs });

/** The query bar of the inbox. */
export const LEAD_QUERY: QueryBarProps = {
  subject: 'leads',
  read: readQuery,
  example: 'company:engines email:ada',
  suggestions: FIELDS.map(({ name }) => `${name}:`),
};

/** The leads that fit the query; all of them for one that cannot be read. */
export function fitting(leads: readonly Lead[] | undefined, q: string): readonly Lead[] {
  const query = readQuery(q, Date.now());
  return (query.ok && q !== '' ? leads?.filter(query.matches) : leads) ?? NONE;
}

const TIME = timeColumn<Lead>(({ receivedAt }) => receivedAt, { hideOrder: 1 });
const NAME: GridColumn<Lead> = {
  id: 'name',
  sortBy: nameOf,
  header: 'Name',
  width: { share: 2, minWidth: 110 },
  cell: (lead) => (
    <span className="font-medium">
      <Marked>{nameOf(lead) || '(no name)'}</Marked>
    </span>
  ),
};
const COMPANY: GridColumn<Lead> = {
  id: 'company',
  sortBy: ({ mapped }) => mapped.company,
  hideOrder: 3,
  header: 'Company',
  width: { share: 2, minWidth: 100 },
  cell: ({ mapped }) => <Marked>{mapped.company ?? ''}</Marked>,
};
const EMAIL: GridColumn<Lead> = {
  id: 'email',
  sortBy: ({ mapped }) => mapped.email,
  hideOrder: 2,
  header: 'Email',
  width: { share: 3, minWidth: 120 },
  isMuted: true,
  cell: ({ mapped }) => <Marked>{mapped.email ?? ''}</Marked>,
};
const SENDER: GridColumn<Lead> = {
  id: 'lambda',
  sortBy: ({ sender }) => sender?.lambdaName,
  hideOrder: 4,
  header: 'Sent by',
  width: { share: 1, minWidth: 110 },
  isMuted: true,
  cell: ({ sender }) => <Marked>{sender?.lambdaName ?? '-'}</Marked>,
};
const OID: GridColumn<Lead> = {
  id: 'oid',
  header: 'CRM',
  width: 116,
  sortBy: stateOf,
  cell: (lead) => <CrmState lead={lead} />,
};
const COLUMNS = [OID, TIME, NAME, COMPANY, EMAIL, SENDER];
const factsOf = (lead: Lead) => ({ atMs: Date.parse(lead.receivedAt), state: FIGURES[stateOf(lead)] });
const LEADS: EventListOptions<Lead> = {
  atMsOf: ({ receivedAt }) => Date.parse(receivedAt),
  states: [
    { is: 'ok', text: 'received', term: 'is:received', figure: 'ok' },
    { is: 'idle', text: 'resent', term: 'is:resent', figure: 'refused' },
    { is: 'error', text: 'rejected', term: 'is:rejected', figure: 'failed' },
  ],
  views: [
    { name: 'Rejected', search: { q: 'is:rejected' } },
    { name: 'Last ten minutes', search: { q: 'time:>10m' } },
  ],
};

/** The CRM's handling of the lead: accepted, under the expected organization or another one, or rejected. */
function CrmState({ lead: { oid, sender, refused, deliveredAs } }: { lead: Lead }) {
  if (deliveredAs) return <State is="idle">resent</State>;
  if (refused) return <State is="error">rejected</State>;
  const isForAnother = sender?.crmOid !== undefined && oid !== sender.crmOid;
  return isForAnother ? <State is="error">another oid</State> : <State is="ok">received</State>;
}

/** The terms of a query that every list of records reads: texts without a field, and the range of time. */
function sharedTermsOf(q: string): string {
  const terms = Array.from(queryTerms(q)).flatMap((term) => {
    if ('message' in term || !['time', 'since', 'until', undefined].includes(term.field)) return [];
    const text =
      term.field === undefined ? JSON.stringify(term.value) : `${term.field}:${term.comparison ?? ''}${term.value}`;
    return `${term.isNegative ? '-' : ''}${text}`;
  });
  return terms.join(' ');
}

/** The numbers of failed invocations and rejected requests that fit the search: a form that never got to the CRM is among them. */
function NotReceived({ q }: { q: string }) {
  const [{ scope }] = useSearch();
  const terms = sharedTermsOf(q);
  const [failedQuery, rejectedQuery] = [`status:failed ${terms}`.trim(), `is:refused ${terms}`.trim()];
  const narrow = { buckets: 1, ...(scope !== undefined && { scope }) };
  const failed = useRead(keys.invocations, '/inspect/figures', { of: 'invocations', q: failedQuery, ...narrow }).data;
  const rejectedFilter = { of: 'traffic', plane: 'gateway', q: rejectedQuery, ...narrow };
  const rejected = useRead(keys.traffic, '/inspect/figures', rejectedFilter).data;
  const [failedCount, rejectedCount] = [failed?.failed ?? 0, rejected?.refused ?? 0];
  if (failedCount + rejectedCount === 0) return null;
  return (
    <p className="flex flex-wrap gap-x-3 border-b border-line px-4 py-1.5 text-muted">
      {terms === '' ? 'Not in this list:' : 'The search also finds:'}
      {failedCount > 0 && (
        <PlaceLink to={{ screen: 'invocations', search: { q: failedQuery } }}>
          {counted(failedCount, 'failed invocation')}
        </PlaceLink>
      )}
      {rejectedCount > 0 && (
        <PlaceLink to={{ screen: 'gateway', search: { q: rejectedQuery } }}>
          {counted(rejectedCount, 'rejected request')}
        </PlaceLink>
      )}
    </p>
  );
}

/** The leads that the mock CRM received, and the selected one in detail. */
export function Inbox({ leads }: { leads: ReturnType<typeof useLeads> }) {
  const [{ q = '', sel }, change] = useSearch();
  const rows = useMemo(() => fitting(leads.data, q), [leads.data, q]);
  const nowMs = useNowMs();
  const figures = useOwnFigures(rows, factsOf, rangeOf(q, nowMs), nowMs);
  const chosen = leads.data?.find(({ id }) => id === sel);
  return (
    <MarkWanted query={q}>
      <NotReceived q={q} />
      <EventList
        {...LEADS}
        name="leads"
        label="Leads"
        figures={leads.data && figures}
        rowAt={(index) => rows[index]}
        list={{ ...leads, rows }}
        columns={COLUMNS}
        keyOf={keyOf}
        narrowedBy={['q']}
        empty={
          <EmptyState
            title="The inbox is empty"
            text={
              <>
                A form that a lambda sends to its CRM is caught here; the real CRM never sees it. A form without{' '}
                <code>oid</code> is rejected, as the real CRM would, and shown in red.
              </>
            }
          >
            <PlaceLink to={{ screen: 'home' }}>Send the demo's form</PlaceLink>
          </EmptyState>
        }
        detailLabel="Lead"
        detail={
          sel === undefined ? undefined : chosen ? (
            <LeadDetail lead={chosen} onClose={() => change({ sel: undefined })} />
          ) : leads.isPending ? undefined : (
            <EmptyState
              title="Lead not found"
              text="It was deleted or replaced by newer leads: only the newest 10,000 are kept."
            >
              <Button onPress={() => change({ sel: undefined })}>Close</Button>
            </EmptyState>
          )
        }
      />
    </MarkWanted>
  );
}
