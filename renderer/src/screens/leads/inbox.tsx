import { useMemo } from 'react';
import { parseQuery, type QueryField } from '../../../../server/model/query-language.ts';
import { useMarks } from '../../api/marks.ts';
import { Button } from '../../parts/button.tsx';
import type { GridColumn } from '../../parts/data-grid.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ListPane, type RowState } from '../../parts/list/list-pane.tsx';
import { timeColumn } from '../../parts/list/time-column.tsx';
import { State } from '../../parts/state.tsx';
import type { SavedView } from '../../preferences/preferences.ts';
import { PlaceLink } from '../../shell/place-link.tsx';
import { hrefOf, useSearch } from '../../url.ts';
import { LeadDetail } from './lead-detail.tsx';
import { Marked, MarkWanted } from './marked-text.tsx';
import type { Lead, useLeads } from './use-leads.ts';

const NONE: readonly Lead[] = [];
const keyOf = ({ id }: Lead) => id;
const nameOf = ({ mapped }: Lead) => [mapped.firstName, mapped.lastName].filter(Boolean).join(' ');

const FIELDS: readonly QueryField<Lead>[] = [
  { name: 'name', valueOf: nameOf },
  { name: 'company', valueOf: ({ mapped }) => mapped.company },
  { name: 'email', valueOf: ({ mapped }) => mapped.email },
  { name: 'oid', valueOf: ({ oid }) => oid },
  { name: 'is', valueOf: ({ refused }) => (refused ? 'refused' : 'taken'), words: ['refused', 'taken'] },
  { name: 'time', valueOf: ({ receivedAt }) => Date.parse(receivedAt), isMoment: true },
  { name: 'lambda', valueOf: ({ sender }) => sender?.lambdaName },
  { name: 'execution', valueOf: ({ executionId }) => executionId },
];
const textsOf = ({ fields, id }: Lead) => [`${id} ${fields.map(({ value }) => value).join(' ')}`];
const readQuery = (text: string) => parseQuery(text, { fields: FIELDS, textsOf, nowMs: Date.now() });

/** What is wrong with a query of the inbox, if anything is. */
export function faultOf(text: string) {
  const query = readQuery(text);
  return query.ok ? undefined : query.fault;
}

/** Words that a query of the inbox may begin with. */
export const suggestions = FIELDS.map(({ name }) => `${name}:`);

/** The leads that fit the query; all of them for one that cannot be read. */
export function fitting(leads: readonly Lead[] | undefined, q: string): readonly Lead[] {
  const query = readQuery(q);
  return (query.ok && q !== '' ? leads?.filter(query.matches) : leads) ?? NONE;
}

const TIME = timeColumn<Lead>(({ receivedAt }) => receivedAt);
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
  gives: 2,
  header: 'Company',
  width: { share: 2, minWidth: 100 },
  cell: ({ mapped }) => <Marked>{mapped.company ?? ''}</Marked>,
};
const EMAIL: GridColumn<Lead> = {
  id: 'email',
  sortBy: ({ mapped }) => mapped.email,
  gives: 1,
  header: 'Email',
  width: { share: 2, minWidth: 120 },
  cell: ({ mapped }) => (
    <span className="text-muted">
      <Marked>{mapped.email ?? ''}</Marked>
    </span>
  ),
};
const SENDER: GridColumn<Lead> = {
  id: 'lambda',
  sortBy: ({ sender }) => sender?.lambdaName,
  gives: 3,
  header: 'Sent by',
  width: { share: 1, minWidth: 110 },
  cell: ({ sender }) => (
    <span className="text-muted">
      <Marked>{sender?.lambdaName ?? '-'}</Marked>
    </span>
  ),
};
const OID: GridColumn<Lead> = {
  id: 'oid',
  header: 'CRM',
  width: 92,
  sortBy: ({ refused }) => (refused ? 'refused' : 'taken'),
  cell: (lead) => <CrmState lead={lead} />,
};
const COLUMNS = [OID, TIME, NAME, COMPANY, EMAIL, SENDER];
const STATES: readonly RowState<Lead>[] = [
  { is: 'ok', text: 'taken', term: 'is:taken', has: ({ refused }) => !refused },
  { is: 'error', text: 'refused', term: 'is:refused', has: ({ refused }) => refused !== undefined },
];
const VIEWS: readonly SavedView[] = [
  { name: 'Refused', search: { q: 'is:refused' } },
  { name: 'Last ten minutes', search: { q: 'time:>10m' } },
];
const pointOf = ({ receivedAt, refused }: Lead) => ({ atMs: Date.parse(receivedAt), hasFailed: refused !== undefined });

/** What the CRM makes of it: taken, under the right organization or another one, or refused. */
function CrmState({ lead: { oid, sender, refused } }: { lead: Lead }) {
  if (refused) return <State is="error">refused</State>;
  const isForAnother = sender?.crmOid !== undefined && oid !== sender.crmOid;
  return isForAnother ? <State is="error">another oid</State> : <State is="ok">taken</State>;
}

/** What the CRM stand-in has caught, and one of it in detail. */
export function Inbox({ leads }: { leads: ReturnType<typeof useLeads> }) {
  const marks = useMarks();
  const [{ q = '', sel, sort, scope }, change] = useSearch();
  const rows = useMemo(() => fitting(leads.data, q), [leads.data, q]);
  const chosen = leads.data?.find(({ id }) => id === sel);
  return (
    <MarkWanted query={q}>
      <ListPane
        name="leads"
        label="Leads"
        list={{
          rows,
          isPending: leads.isPending,
          hasMore: false,
          error: leads.error,
          refetch: () => void leads.refetch(),
        }}
        columns={COLUMNS}
        keyOf={keyOf}
        pointOf={pointOf}
        states={STATES}
        marks={marks}
        views={VIEWS}
        hrefOf={({ id }) => hrefOf({ screen: 'leads', search: { q, sort, sel: id } }, scope)}
        isFiltered={q !== ''}
        onClearFilter={() => change({ q: undefined })}
        empty={
          <EmptyState
            title="The inbox is empty"
            text={
              <>
                A form that a lambda sends to its CRM is caught here; the real CRM never sees it. A form without{' '}
                <code>oid</code> is refused, as the CRM would, and stands here in red.
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
              title="This lead is not in the inbox"
              text="It was deleted, or newer ones have taken its place: only the newest 10,000 are kept."
            >
              <Button onPress={() => change({ sel: undefined })}>Close</Button>
            </EmptyState>
          )
        }
      />
    </MarkWanted>
  );
}
