import { Trash2 } from 'lucide-react';
import { useRef } from 'react';
import { usePlace } from '../../api/tree.ts';
import { useHasDraft } from '../../draft-store.ts';
import { EmptyState, ErrorState, TakenNote } from '../../parts/empty-state.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import { HistoryTab } from './history-tab.tsx';
import { ResourceDetail } from './resource-detail.tsx';
import { drafts } from './use-draft.ts';
import { useRecord } from './use-record.ts';

/** The resource of an id, whatever has become of it. */
export function ResourcePane({ id }: { id: string }) {
  const place = usePlace(id);
  const fqon = place.data?.resource.fqon ?? 'root';
  const record = useRecord(id, fqon);
  const isDeleting = useRef(false);
  // What it was when it was last seen: its name is still known when it is gone.
  const last = useRef<{ name: string } | undefined>(undefined);
  if (record.data) last.current = record.data;

  // What was read stays while the server is away: somebody may be writing in it.
  const error = place.data === undefined ? place.error : record.data === undefined ? record.error : undefined;
  if (error) {
    return (
      <ErrorState
        error={error}
        onRetry={() => {
          void place.refetch();
          void record.refetch();
        }}
      />
    );
  }
  if (place.data === null || record.data === null) {
    if (isDeleting.current) return <Skeleton />;
    return <GoneResource id={id} name={last.current?.name} />;
  }
  if (!place.data || !record.data) return <Skeleton label="Loading the resource" />;
  return (
    <>
      <TakenNote name={record.data.name} error={place.error ?? record.error} />
      <ResourceDetail
        place={place.data}
        record={record.data}
        refresh={record.refetch}
        onDeleting={() => {
          isDeleting.current = true;
        }}
      />
    </>
  );
}

/** A resource that is not there: deleted while one looked at it, or named by an old address. The history brings it back. */
function GoneResource({ id, name }: { id: string; name: string | undefined }) {
  const hasDraft = useHasDraft(drafts, id);
  return (
    <div className="flex min-h-0 flex-1 flex-col overflow-auto">
      <div role="status">
        <EmptyState
          icon={Trash2}
          title={name === undefined ? 'This resource is not there' : `${name} was deleted`}
          text={
            name === undefined
              ? 'It was deleted, or it is in a place that you may not see.'
              : 'Somebody has deleted it while it was open. To bring it back, revert the deletion below.'
          }
        >
          {hasDraft && <p>Your changes to it are kept: they are here again once it is.</p>}
          <span className="mono text-faint">{id}</span>
        </EmptyState>
      </div>
      <h3 className="eyebrow border-b border-line px-4 py-1">History</h3>
      <HistoryTab id={id} />
    </div>
  );
}
