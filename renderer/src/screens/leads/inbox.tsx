import { useMemo } from 'react';
import { parseQuery, type QueryField } from '../../../../server/model/query-language.ts';
import { Button } from '../../parts/button.tsx';
import type { GridColumn } from '../../parts/data-grid.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { type Happened, HappenedPane } from '../../parts/list/happened-pane.tsx';
import { timeColumn } from '../../parts/list/time-column.tsx';
import type { QueryBarProps } from '../../parts/query-bar.tsx';
import { State } from '../../parts/state.tsx';
import { PlaceLink } from '../../shell/place-link.tsx';
import { useSearch } from '../../url.ts';
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
const readQuery = (text: string, nowMs: number) => parseQuery(text, { fields: FIELDS, textsOf, nowMs });

/** What the inbox can be asked. */
export const LEAD_QUERY: QueryBarProps = {
  what: 'leads',
  read: readQuery,
  example: 'company:engines email:ada',
  suggestions: FIELDS.map(({ name }) => `${name}:`),
};

/** The leads that fit the query; all of them for one that cannot be read. */
export function fitting(leads: readonly Lead[] | undefined, q: string): readonly Lead[] {
  const query = readQuery(q, Date.now());
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
  isMuted: true,
  cell: ({ mapped }) => <Marked>{mapped.email ?? ''}</Marked>,
};
const SENDER: GridColumn<Lead> = {
  id: 'lambda',
  sortBy: ({ sender }) => sender?.lambdaName,
  gives: 3,
  header: 'Sent by',
  width: { share: 1, minWidth: 110 },
  isMuted: true,
  cell: ({ sender }) => <Marked>{sender?.lambdaName ?? '-'}</Marked>,
};
const OID: GridColumn<Lead> = {
  id: 'oid',
  header: 'CRM',
  width: 92,
  sortBy: ({ refused }) => (refused ? 'refused' : 'taken'),
  cell: (lead) => <CrmState lead={lead} />,
};
const COLUMNS = [OID, TIME, NAME, COMPANY, EMAIL, SENDER];
const HAPPENED: Happened<Lead> = {
  pointOf: ({ receivedAt, refused }) => ({ atMs: Date.parse(receivedAt), hasFailed: refused !== undefined }),
  states: [
    { is: 'ok', text: 'taken', term: 'is:taken', has: ({ refused }) => !refused },
    { is: 'error', text: 'refused', term: 'is:refused', has: ({ refused }) => refused !== undefined },
  ],
  views: [
    { name: 'Refused', search: { q: 'is:refused' } },
    { name: 'Last ten minutes', search: { q: 'time:>10m' } },
  ],
};

/** What the CRM makes of it: taken, under the right organization or another one, or refused. */
function CrmState({ lead: { oid, sender, refused } }: { lead: Lead }) {
  if (refused) return <State is="error">refused</State>;
  const isForAnother = sender?.crmOid !== undefined && oid !== sender.crmOid;
  return isForAnother ? <State is="error">another oid</State> : <State is="ok">taken</State>;
}

/** What the CRM stand-in has caught, and one of it in detail. */
export function Inbox({ leads }: { leads: ReturnType<typeof useLeads> }) {
  const [{ q = '', sel }, change] = useSearch();
  const rows = useMemo(() => fitting(leads.data, q), [leads.data, q]);
  const chosen = leads.data?.find(({ id }) => id === sel);
  return (
    <MarkWanted query={q}>
      <HappenedPane
        {...HAPPENED}
        name="leads"
        label="Leads"
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
