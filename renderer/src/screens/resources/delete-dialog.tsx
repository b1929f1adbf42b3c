import { useMutation } from '@tanstack/react-query';
import { useMemo } from 'react';
import { send } from '../../api/client.ts';
import { failureOf } from '../../api/failure.ts';
import { queryClient } from '../../api/query-client.ts';
import { kindOf, parentIdOf, recordPath } from '../../api/resource-kinds.ts';
import type { PlatformRecord } from '../../api/world.ts';
import { Confirm } from '../../parts/dialog.tsx';
import { FailureNote } from '../../parts/empty-state.tsx';
import { toast } from '../../parts/toasts.tsx';
import { useGo } from '../../url.ts';

export interface DeleteDialogProps {
  record: PlatformRecord;
  records: readonly PlatformRecord[];
  isOpen: boolean;
  onClose(): void;
}

/** Says what goes with it, then deletes. */
export function DeleteDialog({ record, records, isOpen, onClose }: DeleteDialogProps) {
  const go = useGo();
  const below = useMemo(() => (isOpen ? allBelow(record, records) : []), [isOpen, record, records]);
  const kind = kindOf(record);
  const deletion = useMutation({
    mutationFn: () =>
      send('DELETE', `/meta${recordPath(record)}`, undefined, below.length > 0 ? { force: true } : undefined),
    onSuccess: () => {
      onClose();
      toast({ tone: 'ok', text: `${record.name} was deleted. The history can bring it back.` });
      go({ screen: 'resources', id: parentIdOf(record) });
      void queryClient.invalidateQueries();
    },
  });
  return (
    <Confirm
      title={`Delete ${kind.title} ${record.name}`}
      isOpen={isOpen}
      onClose={onClose}
      deed={below.length === 0 ? 'Delete it' : `Delete all ${below.length + 1}`}
      isDanger
      isPending={deletion.isPending}
      onConfirm={() => deletion.mutate()}
    >
      {below.length === 0 ? (
        <p>Nothing else goes with it.</p>
      ) : (
        <>
          <p>This goes with it:</p>
          <ul className="mt-2 max-h-60 overflow-auto rounded-md border border-line">
            {below.map((other) => (
              <li key={other.id} className="flex h-7 items-center gap-2 border-b border-line/60 px-3 last:border-0">
                {other.name} <span className="text-muted">{kindOf(other).title}</span>
              </li>
            ))}
          </ul>
        </>
      )}
      {deletion.error && (
        <div className="mt-3">
          <FailureNote failure={failureOf(deletion.error)} />
        </div>
      )}
    </Confirm>
  );
}

function allBelow(record: PlatformRecord, records: readonly PlatformRecord[]): PlatformRecord[] {
  const children = Map.groupBy(records, parentIdOf);
  const found: PlatformRecord[] = [];
  const waiting = [record.id];
  for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
    for (const child of children.get(id) ?? []) {
      found.push(child);
      waiting.push(child.id);
    }
  }
  return found;
}
