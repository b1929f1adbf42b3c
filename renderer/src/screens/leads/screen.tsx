import { useCallback, useMemo } from 'react';
import { parseQuery, type QueryField } from '../../../../server/model/query-language.ts';
import { Time } from '../../parts/amount.tsx';
import { DataGrid, type GridColumn } from '../../parts/data-grid.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { QueryBar } from '../../parts/query-bar.tsx';
import { SplitPane } from '../../parts/split-pane.tsx';
import { State } from '../../parts/state.tsx';
import { PlaceLink } from '../../shell/place-link.tsx';
import { ScreenFrame } from '../../shell/screen-frame.tsx';
import { hrefOf, useSearch } from '../../url.ts';
import { LeadDetail } from './lead-detail.tsx';
import { type Lead, useLeads } from './use-leads.ts';

const NONE: readonly Lead[] = [];
const keyOf = ({ id }: Lead) => id;
const nameOf = ({ mapped }: Lead) => [mapped.firstName, mapped.lastName].filter(Boolean).join(' ');

const FIELDS: readonly QueryField<Lead>[] = [
  { name: 'name', valueOf: nameOf },
  { name: 'company', valueOf: ({ mapped }) => mapped.company },
  { name: 'email', valueOf: ({ mapped }) => mapped.email },
  { name: 'oid', valueOf: ({ oid }) => oid },
];
const readQuery = (text: string) =>
  parseQuery(text, FIELDS, ({ fields, id }) => `${id} ${fields.map(({ value }) => value).join(' ')}`);
const faultOf = (text: string) => {
  const query = readQuery(text);
  return query.ok ? undefined : query.fault;
};

const COLUMNS: readonly GridColumn<Lead>[] = [
  {
    id: 'time',
    header: 'Time',
    width: 116,
    isMono: true,
    cell: ({ receivedAt }) => (
      <span className="text-muted">
        <Time at={receivedAt} as="clock" />
      </span>
    ),
  },
  {
    id: 'name',
    header: 'Name',
    width: { share: 2, minWidth: 120 },
    cell: (lead) => <span className="font-medium">{nameOf(lead) || '(no name)'}</span>,
  },
  { id: 'company', header: 'Company', width: { share: 2, minWidth: 100 }, cell: ({ mapped }) => mapped.company },
  {
    id: 'email',
    header: 'Email',
    width: { share: 2, minWidth: 120 },
    cell: ({ mapped }) => <span className="text-muted">{mapped.email}</span>,
  },
  {
    id: 'oid',
    header: 'oid',
    width: 100,
    cell: ({ oid }) => <State is={oid ? 'ok' : 'error'}>{oid ? 'present' : 'missing'}</State>,
  },
];

/** The inbox of the CRM stand-in. */
export default function LeadsScreen() {
  const [{ q = '', sel, scope }, change] = useSearch();
  const leads = useLeads();
  const all = leads.data ?? NONE;
  const rows = useMemo(() => {
    const query = readQuery(q);
    return query.ok && q !== '' ? all.filter(query.matches) : all;
  }, [all, q]);
  const select = useCallback((id: string) => change({ sel: id }), [change]);
  const chosen = all.find(({ id }) => id === sel);
  return (
    <ScreenFrame
      title="Leads"
      bar={
        <QueryBar
          what="leads"
          faultOf={faultOf}
          example="company:engines email:ada"
          suggestions={['name:', 'company:', 'email:']}
        />
      }
      actions={<span className="text-muted">{rows.length.toLocaleString('en')}</span>}
    >
      <SplitPane
        name="leads"
        width={520}
        detailLabel="Lead"
        list={
          <DataGrid
            label="Leads"
            rows={rows}
            columns={COLUMNS}
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
                text="A form that a lambda sends to its CRM is caught here; the real CRM never sees it."
              >
                <PlaceLink to={{ screen: 'home' }}>Send the demo's form</PlaceLink>
              </EmptyState>
            }
          />
        }
        detail={
          sel === undefined ? undefined : chosen ? (
            <LeadDetail lead={chosen} onClose={() => change({ sel: undefined })} />
          ) : (
            <EmptyState title="This lead is not in the inbox" text="Only the newest are kept." />
          )
        }
      />
    </ScreenFrame>
  );
}
