import { Trash2 } from 'lucide-react';
import { useRef } from 'react';
import { OnResource } from '../../api/permissions.tsx';
import { usePlace } from '../../api/tree.ts';
import { EmptyState, ErrorState, TakenNote } from '../../components/empty-state.tsx';
import { Skeleton } from '../../components/skeleton.tsx';
import { useHasDraft } from '../../draft-store.ts';
import { HistoryTab } from './history-tab.tsx';
import { ResourceDetail } from './resource-detail.tsx';
import { drafts } from './use-draft.ts';
import { useRecord } from './use-record.ts';

/** The resource of an id, also if it was deleted. */
export function ResourcePane({ id }: { id: string }) {
  const locationQuery = usePlace(id);
  const fqon = locationQuery.data?.resource.fqon ?? 'root';
  const record = useRecord(id, fqon);
  const isDeleting = useRef(false);
  // The last known resource, for the name of a deleted one.
  const last = useRef<{ name: string } | undefined>(undefined);
  if (record.data) last.current = record.data;

  // The last data stays while the server is unreachable, so that a draft is not lost.
  const error =
    locationQuery.data === undefined ? locationQuery.error : record.data === undefined ? record.error : undefined;
  if (error) {
    return (
      <ErrorState
        error={error}
        onRetry={() => {
          void locationQuery.refetch();
          void record.refetch();
        }}
      />
    );
  }
  if (locationQuery.data === null || record.data === null) {
    if (isDeleting.current) return <Skeleton />;
    return <DeletedResource id={id} name={last.current?.name} />;
  }
  if (!locationQuery.data || !record.data) return <Skeleton label="Loading the resource" />;
  return (
    <OnResource target={record.data}>
      <TakenNote name={record.data.name} error={locationQuery.error ?? record.error} />
      <ResourceDetail
        location={locationQuery.data}
        record={record.data}
        refresh={record.refetch}
        onDeleting={() => {
          isDeleting.current = true;
        }}
      />
    </OnResource>
  );
}

/** A resource that is not there: deleted while one looked at it, or named by an old address. The history brings it back. */
function DeletedResource({ id, name }: { id: string; name: string | undefined }) {
  const hasDraft = useHasDraft(drafts, id);
  return (
    <div className="flex min-h-0 flex-1 flex-col overflow-auto">
      <div role="status">
        <EmptyState
          icon={Trash2}
          title={name === undefined ? 'Resource not found' : `${name} was deleted`}
          text={
            name === undefined
              ? 'It was deleted, or you do not have permission to view it.'
              : 'Someone deleted it while it was open. To restore it, revert the deletion below.'
          }
        >
          {hasDraft && <p>Your unsaved changes are kept and appear again when the resource is restored.</p>}
          <span className="mono text-faint">{id}</span>
        </EmptyState>
      </div>
      <h3 className="eyebrow border-b border-line px-4 py-1">History</h3>
      <HistoryTab id={id} />
    </div>
  );
}
