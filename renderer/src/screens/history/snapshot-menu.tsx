import { useMutation, useQuery } from '@tanstack/react-query';
import { Camera } from 'lucide-react';
import { useState } from 'react';
import { load, send } from '../../api/client.ts';
import { failureOf } from '../../api/failure.ts';
import { keys, queryClient } from '../../api/query-client.ts';
import { Bytes, Time } from '../../parts/amount.tsx';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { FailureNote } from '../../parts/empty-state.tsx';
import { TextField } from '../../parts/fields.tsx';
import { Menu } from '../../parts/menu.tsx';
import { toast } from '../../parts/toasts.tsx';

interface Snapshot {
  name: string;
  seq: number;
  at: string;
  sizeBytes: number;
}

/** Worlds kept under a name: keep one, go back to one, delete one. */
export function SnapshotMenu() {
  const [isOpen, setOpen] = useState(false);
  const [name, setName] = useState('');
  const snapshots = useQuery({
    queryKey: [keys.history, 'snapshots'],
    queryFn: ({ signal }) => load<Snapshot[]>('/inspect/snapshots', {}, signal),
    enabled: isOpen,
  });
  const doing = useMutation({
    mutationFn: async ({ deed, snapshot }: { deed: 'keep' | 'restore' | 'delete'; snapshot: string }) => {
      const path = `/inspect/snapshots/${encodeURIComponent(snapshot)}`;
      if (deed === 'keep') await send('POST', '/inspect/snapshots', { name: snapshot });
      else if (deed === 'restore') await send('POST', `${path}/restore`, {});
      else await send('DELETE', path);
    },
    onSuccess: (_answer, { deed, snapshot }) => {
      const done = { keep: 'was kept', restore: 'is the world again', delete: 'was deleted' }[deed];
      toast({ tone: 'ok', text: `Snapshot ${snapshot} ${done}.` });
      setName('');
      void queryClient.invalidateQueries();
    },
  });
  return (
    <>
      <Button icon={Camera} onPress={() => setOpen(true)}>
        Snapshots
      </Button>
      <Dialog title="Snapshots" isOpen={isOpen} onClose={() => setOpen(false)} width="medium">
        <form
          className="flex items-end gap-2"
          onSubmit={(event) => {
            event.preventDefault();
            if (name.trim() !== '') doing.mutate({ deed: 'keep', snapshot: name.trim() });
          }}
        >
          <TextField label="Keep the present world as" value={name} onChange={setName} className="flex-1" />
          <Button type="submit" look="primary" isDisabled={name.trim() === ''} isPending={doing.isPending}>
            Keep
          </Button>
        </form>
        {doing.error && (
          <div className="mt-3">
            <FailureNote failure={failureOf(doing.error)} />
          </div>
        )}
        <ul className="mt-4">
          {(snapshots.data ?? []).map((snapshot) => (
            <li key={snapshot.name} className="flex min-h-9 items-center gap-3 border-b border-line/60">
              <span className="font-medium">{snapshot.name}</span>
              <span className="text-muted">
                commit {snapshot.seq}, <Time at={snapshot.at} />, <Bytes bytes={snapshot.sizeBytes} />
              </span>
              <span className="ml-auto flex gap-1">
                <Button onPress={() => doing.mutate({ deed: 'restore', snapshot: snapshot.name })}>Restore</Button>
                <Menu
                  label={`More of ${snapshot.name}`}
                  entries={[
                    {
                      id: 'delete',
                      text: 'Delete',
                      isDanger: true,
                      onAction: () => doing.mutate({ deed: 'delete', snapshot: snapshot.name }),
                    },
                  ]}
                />
              </span>
            </li>
          ))}
        </ul>
        {snapshots.data?.length === 0 && <p className="mt-4 text-muted">None is kept yet.</p>}
      </Dialog>
    </>
  );
}
