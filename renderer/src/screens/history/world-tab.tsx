import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { CommitResource } from '../../../../server/model/commit.ts';
import { load, loadAs } from '../../api/client.ts';
import { usePages } from '../../api/use-pages.ts';
import { counted } from '../../components/amounts.ts';
import { Button } from '../../components/button.tsx';
import { DataGrid, type GridColumn } from '../../components/data-grid.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { FindField } from '../../components/find-field.tsx';
import { JsonView } from '../../components/json-view.tsx';
import { Pending } from '../../components/pending.tsx';
import { useSearch } from '../../url.ts';
import type { OutlinePage } from './history-answers.ts';

const PAGE = 500;
/** The first word of query keys for the past. No event has this topic, so the data never becomes stale. */
const PAST_WORLD_TOPIC = 'past-world';
const rowsOf = ({ resources }: OutlinePage) => resources;
const keyOf = ({ id }: CommitResource) => id;
const COLUMNS: readonly GridColumn<CommitResource>[] = [
  { id: 'path', header: 'Path', width: { share: 2, minWidth: 140 }, text: ({ path }) => path },
  {
    id: 'type',
    header: 'Type',
    width: { share: 1, minWidth: 120 },
    isMuted: true,
    text: ({ type }) => type,
  },
];

/** The world as it was at a moment: every resource by its path, and the record of the chosen one. */
export function WorldTab({ seq }: { seq: number }) {
  const [{ q, rec }, change] = useSearch();
  const outline = usePages({
    queryKey: [PAST_WORLD_TOPIC, seq, 'outline', q ?? ''],
    read: (offset = 0, signal) =>
      load('/inspect/world/outline', { at: seq, q: q || undefined, offset, limit: PAGE }, signal),
    nextOf: ({ total }, pages) => {
      const read = pages.reduce((sum, { resources }) => sum + resources.length, 0);
      return read < total ? read : undefined;
    },
    rowsOf,
  });
  const total = outline.data?.pages[0]?.total;
  return (
    <div className="flex h-full min-h-0 flex-col">
      <div className="flex shrink-0 items-center gap-2 border-b border-line px-3 py-1.5">
        <FindField label="Filter the resources" placeholder="Path, type or id" hasKey={false} className="flex-1" />
        {total !== undefined && <span className="text-muted">{counted(total, 'resource')}</span>}
      </div>
      <DataGrid
        label="Resources then"
        list={outline}
        columns={COLUMNS}
        keyOf={keyOf}
        searchParameter="rec"
        narrowedBy={['q']}
        empty={<EmptyState title="No resources" text="The world had no resources at this commit." />}
      />
      {rec !== undefined && <RecordThen seq={seq} id={rec} onClose={() => change({ rec: undefined })} />}
    </div>
  );
}

/** One record as it was stored then. */
function RecordThen({ seq, id, onClose }: { seq: number; id: string; onClose(): void }) {
  const record = useQuery({
    queryKey: [PAST_WORLD_TOPIC, seq, 'record', id],
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
        {record.data ? <JsonView value={record.data} subject="record" /> : <Pending query={record} rows={4} />}
      </div>
    </section>
  );
}
