import { useCallback, useMemo } from 'react';
import { parseQuery, type QueryField } from '../../../../server/model/query-language.ts';
import { Time } from '../../parts/amount.tsx';
import { Button } from '../../parts/button.tsx';
import { DataGrid, type GridColumn } from '../../parts/data-grid.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { SplitPane } from '../../parts/split-pane.tsx';
import { State } from '../../parts/state.tsx';
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
  { name: 'is', valueOf: ({ refused }) => (refused ? 'refused' : 'taken') },
  { name: 'lambda', valueOf: ({ sender }) => sender?.lambdaName },
  { name: 'execution', valueOf: ({ executionId }) => executionId },
];
const readQuery = (text: string) =>
  parseQuery(text, FIELDS, ({ fields, id }) => `${id} ${fields.map(({ value }) => value).join(' ')}`);

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

const TIME: GridColumn<Lead> = {
  id: 'time',
  header: 'Time',
  width: 112,
  isMono: true,
  cell: ({ receivedAt }) => (
    <span className="text-muted">
      <Time at={receivedAt} as="clock" />
    </span>
  ),
};
const NAME: GridColumn<Lead> = {
  id: 'name',
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
  header: 'Company',
  width: { share: 2, minWidth: 100 },
  cell: ({ mapped }) => <Marked>{mapped.company ?? ''}</Marked>,
};
const EMAIL: GridColumn<Lead> = {
  id: 'email',
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
  header: 'Sent by',
  width: { share: 1, minWidth: 110 },
  cell: ({ sender }) => (
    <span className="text-muted">
      <Marked>{sender?.lambdaName ?? '-'}</Marked>
    </span>
  ),
};
const OID: GridColumn<Lead> = { id: 'oid', header: 'CRM', width: 92, cell: (lead) => <CrmState lead={lead} /> };
const COLUMNS = [TIME, NAME, COMPANY, EMAIL, SENDER, OID];
/** Beside a detail there is room for less: what tells them apart comes first; who sent it stands in there. */
const FEW_COLUMNS = [OID, TIME, NAME, COMPANY, EMAIL];

/** What the CRM makes of it: taken, under the right organization or another one, or refused. */
function CrmState({ lead: { oid, sender, refused } }: { lead: Lead }) {
  if (refused) return <State is="error">refused</State>;
  if (sender?.crmOid === undefined) return <State is="ok">present</State>;
  return oid === sender.crmOid ? <State is="ok">ok</State> : <State is="error">another oid</State>;
}

/** What the CRM stand-in has caught, and one of it in detail. */
export function Inbox({ leads }: { leads: ReturnType<typeof useLeads> }) {
  const [{ q = '', sel, scope }, change] = useSearch();
  const rows = useMemo(() => fitting(leads.data, q), [leads.data, q]);
  const select = useCallback((id: string) => change({ sel: id }), [change]);
  const chosen = leads.data?.find(({ id }) => id === sel);
  return (
    <MarkWanted query={q}>
      <SplitPane
        name="leads"
        width={560}
        detailLabel="Lead"
        list={
          <DataGrid
            label="Leads"
            rows={rows}
            columns={sel === undefined ? COLUMNS : FEW_COLUMNS}
            keyOf={keyOf}
            selectedKey={sel}
            onSelect={select}
            hrefOf={({ id }) => hrefOf({ screen: 'leads', search: { q, sel: id } }, scope)}
            isLoading={leads.isPending}
            error={leads.error}
            onRetry={() => void leads.refetch()}
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
          />
        }
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
