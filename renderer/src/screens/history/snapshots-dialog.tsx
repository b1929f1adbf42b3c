import { useState } from 'react';
import { send } from '../../api/client.ts';
import { failureOf } from '../../api/failure.ts';
import { keys } from '../../api/query-client.ts';
import { useChange } from '../../api/use-change.ts';
import { Bytes, Time } from '../../components/amount.tsx';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { TextField } from '../../components/fields.tsx';
import { Menu } from '../../components/menu.tsx';
import { Pending } from '../../components/pending.tsx';
import { RestoreDialog } from './restore-dialog.tsx';
import { SinceTab } from './since-tab.tsx';
import type { useSnapshots } from './use-commits.ts';

export interface SnapshotsDialogProps {
  snapshots: ReturnType<typeof useSnapshots>;
  onClose(): void;
}

/** Snapshots of the world: save, compare with the current world, restore, delete. They stay when old history is removed. */
export function SnapshotsDialog({ snapshots, onClose }: SnapshotsDialogProps) {
  const [name, setName] = useState('');
  const [chosen, choose] = useState<{ action: 'compare' | 'restore' | 'delete'; name: string } | undefined>(undefined);
  const keeping = useChange(() => send('POST', '/inspect/snapshots', { name: name.trim() }), {
    message: (snapshot) => `The current world was saved as snapshot ${snapshot.name}.`,
    topic: keys.history,
    onDone: () => setName(''),
  });
  const deleting = useChange(
    (snapshot: string) => send('DELETE', `/inspect/snapshots/${encodeURIComponent(snapshot)}`),
    {
      message: (_answer, snapshot) => `Snapshot ${snapshot} was deleted.`,
      topic: keys.history,
      onDone: () => choose(undefined),
    },
  );
  const isEmpty = name.trim() === '';
  return (
    <Dialog title="Snapshots" onClose={onClose} width="medium">
      <form
        className="flex items-end gap-2"
        onSubmit={(event) => {
          event.preventDefault();
          if (!isEmpty) keeping.mutate();
        }}
      >
        <TextField
          label="Snapshot name"
          placeholder="before-the-migration"
          description="Lower-case letters, digits, dots, hyphens, underscores"
          value={name}
          onChange={setName}
          className="flex-1"
          error={keeping.error ? failureOf(keeping.error).message : undefined}
        />
        <Button
          type="submit"
          look="primary"
          isDisabled={isEmpty}
          isPending={keeping.isPending}
          className="mb-[21px] self-end"
        >
          Save snapshot
        </Button>
      </form>
      <div className="mt-4">
        {!snapshots.data && <Pending query={snapshots} rows={3} />}
        {snapshots.data?.length === 0 && (
          <p className="text-muted">
            No snapshots yet. You can compare and restore a snapshot even after its commits have left the history.
          </p>
        )}
        <ul aria-label="Snapshots">
          {snapshots.data?.map((snapshot) => (
            <li key={snapshot.name} className="flex min-h-9 items-center gap-3 border-b border-line/60">
              <span className="truncate font-medium">{snapshot.name}</span>
              <span className="min-w-0 flex-1 truncate text-muted">
                commit {snapshot.seq}, <Time at={snapshot.at} />, <Bytes bytes={snapshot.sizeBytes} />
              </span>
              <Button onPress={() => choose({ action: 'compare', name: snapshot.name })}>Compare</Button>
              <Button onPress={() => choose({ action: 'restore', name: snapshot.name })}>Restore</Button>
              <Menu
                label={`More of ${snapshot.name}`}
                entries={[
                  {
                    id: 'delete',
                    text: 'Delete',
                    isDanger: true,
                    onAction: () => choose({ action: 'delete', name: snapshot.name }),
                  },
                ]}
              />
            </li>
          ))}
        </ul>
      </div>
      {chosen?.action === 'compare' && (
        <Dialog
          title={`Snapshot ${chosen.name} and now`}
          onClose={() => choose(undefined)}
          width="medium"
          closing="Close"
        >
          <div className="-mx-4 -mt-4">
            <SinceTab since={{ snapshot: chosen.name }} />
          </div>
        </Dialog>
      )}
      {chosen?.action === 'restore' && (
        <RestoreDialog to={{ snapshot: chosen.name }} onClose={() => choose(undefined)} onRestored={onClose} />
      )}
      {chosen?.action === 'delete' && (
        <Dialog
          title={`Delete snapshot ${chosen.name}`}
          isAlert
          onClose={() => choose(undefined)}
          action="Delete the snapshot"
          onAction={() => deleting.mutate(chosen.name)}
          look="destroy"
          making={deleting}
        >
          <p>This deletes the snapshot file and cannot be undone. The current world is not changed.</p>
        </Dialog>
      )}
    </Dialog>
  );
}
