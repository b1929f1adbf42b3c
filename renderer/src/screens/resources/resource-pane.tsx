import { useRef } from 'react';
import { usePlace } from '../../api/tree.ts';
import { ErrorState, TakenNote } from '../../parts/empty-state.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import { GoneResource } from './gone-resource.tsx';
import { ResourceDetail } from './resource-detail.tsx';
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
