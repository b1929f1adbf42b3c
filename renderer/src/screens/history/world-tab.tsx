import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { CommitResource } from '../../../../server/model/commit.ts';
import { load, loadAs } from '../../api/client.ts';
import { counted } from '../../parts/amounts.ts';
import { Button } from '../../parts/button.tsx';
import { DataGrid, type GridColumn } from '../../parts/data-grid.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { FilterField } from '../../parts/fields.tsx';
import { JsonView } from '../../parts/json-view.tsx';
import { Pending } from '../../parts/pending.tsx';
import { useSearch } from '../../url.ts';
import type { OutlinePage } from './history-answers.ts';

const PAGE = 500;
/** What belongs to the past never grows old: such keys begin with no word that events are about. */
const PAST = 'past-world';
const keyOf = ({ id }: CommitResource) => id;
const COLUMNS: readonly GridColumn<CommitResource>[] = [
  { id: 'path', header: 'Path', width: { share: 2, minWidth: 140 }, cell: ({ path }) => path },
  {
    id: 'type',
    header: 'Type',
    width: { share: 1, minWidth: 120 },
    cell: ({ type }) => <span className="text-muted">{type}</span>,
  },
];

/** The world as it was at a moment: every resource by its path, and the record of the chosen one. */
export function WorldTab({ seq }: { seq: number }) {
  const [{ q, rec }, change] = useSearch();
  const outline = useInfiniteQuery({
    queryKey: [PAST, seq, 'outline', q ?? ''],
    queryFn: ({ pageParam, signal }) =>
      load('/inspect/world/outline', { at: seq, q: q || undefined, offset: pageParam, limit: PAGE }, signal),
    initialPageParam: 0,
    getNextPageParam: ({ total }: OutlinePage, pages) => {
      const read = pages.reduce((sum, { resources }) => sum + resources.length, 0);
      return read < total ? read : undefined;
    },
    // While one drags along the time line, the list changes instead of flickering.
    placeholderData: keepPreviousData,
  });
  const rows = useMemo(() => outline.data?.pages.flatMap(({ resources }) => resources) ?? [], [outline.data]);
  const total = outline.data?.pages[0]?.total;
  const { hasNextPage, isFetching, fetchNextPage } = outline;
  const onNearEnd = useMemo(
    () => (hasNextPage && !isFetching ? () => void fetchNextPage() : undefined),
    [hasNextPage, isFetching, fetchNextPage],
  );
  return (
    <div className="flex h-full min-h-0 flex-col">
      <div className="flex shrink-0 items-center gap-2 border-b border-line px-3 py-1.5">
        <FilterField
          label="Filter what there was"
          placeholder="Path, type or id"
          value={q ?? ''}
          onChange={(text) => change({ q: text || undefined })}
          className="flex-1"
        />
        {total !== undefined && <span className="text-muted">{counted(total, 'resource')}</span>}
      </div>
      <DataGrid
        label="Resources then"
        rows={rows}
        columns={COLUMNS}
        keyOf={keyOf}
        selectedKey={rec}
        onSelect={(id) => change({ rec: id })}
        onNearEnd={onNearEnd}
        isLoading={outline.isPending}
        error={outline.error}
        onRetry={() => void outline.refetch()}
        isFiltered={Boolean(q)}
        onClearFilter={() => change({ q: undefined })}
        empty={<EmptyState title="Nothing was there" text="The world had no resource at this moment." />}
      />
      {rec !== undefined && <RecordThen seq={seq} id={rec} onClose={() => change({ rec: undefined })} />}
    </div>
  );
}

/** One record as it was stored then. */
function RecordThen({ seq, id, onClose }: { seq: number; id: string; onClose(): void }) {
  const record = useQuery({
    queryKey: [PAST, seq, 'record', id],
    queryFn: ({ signal }) => loadAs<{ name?: string }>('/inspect/world', { at: seq, resource: id }, signal),
    placeholderData: keepPreviousData,
  });
  return (
    <section aria-label="Record then" className="flex h-1/2 min-h-0 shrink-0 flex-col border-t border-line">
      <div className="flex shrink-0 items-center justify-between border-b border-line px-3 py-1">
        <h3 className="truncate font-medium">{record.data?.name ?? id}</h3>
        <Button look="quiet" onPress={onClose}>
          Close
        </Button>
      </div>
      <div className="min-h-0 flex-1 overflow-auto">
        {record.data ? <JsonView value={record.data} what="record" /> : <Pending query={record} rows={4} />}
      </div>
    </section>
  );
}
