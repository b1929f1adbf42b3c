import { useCallback } from 'react';
import { kindOf } from '../../api/resource-kinds.ts';
import type { PlatformRecord } from '../../api/world.ts';
import { Time } from '../../parts/amount.tsx';
import { DataGrid, type GridColumn } from '../../parts/data-grid.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { hrefOf, useGo, useSearch } from '../../url.ts';

const COLUMNS: readonly GridColumn<PlatformRecord>[] = [
  {
    id: 'name',
    header: 'Name',
    width: { share: 2, minWidth: 140 },
    cell: ({ name }) => <span className="font-medium">{name}</span>,
  },
  {
    id: 'kind',
    header: 'Type',
    width: 120,
    cell: (record) => <span className="text-muted">{kindOf(record).title}</span>,
  },
  {
    id: 'about',
    header: 'Description',
    width: { share: 3, minWidth: 120 },
    cell: ({ description }) => <span className="text-muted">{description}</span>,
  },
  {
    id: 'changed',
    header: 'Changed',
    width: 104,
    align: 'end',
    cell: ({ modified }) => <span className="text-muted">{modified && <Time at={modified.timestamp} />}</span>,
  },
];
const keyOf = ({ id }: PlatformRecord) => id;

/** What is directly inside a place. Enter goes there. */
export function ChildrenTable({ rows }: { rows: readonly PlatformRecord[] }) {
  const [{ sel, scope }, change] = useSearch();
  const go = useGo();
  const select = useCallback((id: string) => change({ sel: id }), [change]);
  return (
    <div className="flex h-full min-h-0 flex-col">
      <DataGrid
        label="Resources"
        rows={rows}
        columns={COLUMNS}
        keyOf={keyOf}
        selectedKey={sel}
        onSelect={select}
        onOpen={({ id }) => go({ screen: 'resources', id })}
        hrefOf={({ id }) => hrefOf({ screen: 'resources', id }, scope)}
        empty={<EmptyState title="Nothing inside yet" text="What is created in this place shows up here." />}
      />
    </div>
  );
}
