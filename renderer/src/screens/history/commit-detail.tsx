import { useMutation } from '@tanstack/react-query';
import { History, Undo2, X } from 'lucide-react';
import { useState } from 'react';
import { send } from '../../api/client.ts';
import { failureOf } from '../../api/failure.ts';
import { queryClient } from '../../api/query-client.ts';
import { Time } from '../../parts/amount.tsx';
import { Button, IconButton } from '../../parts/button.tsx';
import { Confirm } from '../../parts/dialog.tsx';
import { FailureNote } from '../../parts/empty-state.tsx';
import { JsonView } from '../../parts/json-view.tsx';
import { toast } from '../../parts/toasts.tsx';
import { PlaceLink } from '../../shell/place-link.tsx';
import type { ShownCommit } from './shown-commit.ts';

export interface CommitDetailProps {
  commit: ShownCommit;
  onClose(): void;
  isRestoring: boolean;
  onRestore(): void;
}

/** One commit: what it changed, and the two ways back. */
export function CommitDetail({ commit, onClose, isRestoring, onRestore }: CommitDetailProps) {
  const [isAsking, setAsking] = useState(false);
  const { seq, at, cause, ops, resources } = commit;
  const reverting = useMutation({
    mutationFn: () => send('POST', `/inspect/history/${seq}/revert`, {}),
    onSuccess: () => {
      toast({ tone: 'ok', text: `Commit ${seq} was taken back by a new one.` });
      void queryClient.invalidateQueries();
    },
  });
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      <div className="border-b border-line px-4 py-2.5">
        <div className="flex items-center gap-2">
          <h2 className="text-[14px]">Commit {seq}</h2>
          <span className="text-muted">
            {cause.action} by {cause.actor?.name ?? 'the platform'}, <Time at={at} />
          </span>
          <IconButton icon={X} label="Close the detail" onPress={onClose} className="ml-auto" />
        </div>
        <div className="mt-1.5 flex gap-1.5">
          <Button icon={Undo2} look="primary" isPending={reverting.isPending} onPress={() => reverting.mutate()}>
            Revert this commit
          </Button>
          <Button icon={History} isPending={isRestoring} onPress={() => setAsking(true)}>
            Go back to this moment
          </Button>
        </div>
        {reverting.error && (
          <div className="mt-2">
            <FailureNote failure={failureOf(reverting.error)} />
          </div>
        )}
      </div>
      <div className="min-h-0 flex-1 overflow-auto">
        <section className="border-b border-line px-4 py-2">
          <h3 className="eyebrow">Resources</h3>
          <ul>
            {resources.map(({ id, path, type }) => (
              <li key={id} className="flex h-7 items-center gap-2">
                <PlaceLink to={{ screen: 'resources', id, search: { tab: 'history' } }}>{path}</PlaceLink>
                <span className="truncate text-muted">{type}</span>
              </li>
            ))}
          </ul>
        </section>
        <section>
          <h3 className="eyebrow px-4 pt-2">Operations</h3>
          <JsonView value={ops} what="operations" />
        </section>
      </div>
      <Confirm
        title={`Go back to commit ${seq}`}
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        deed="Restore"
        onConfirm={() => {
          setAsking(false);
          onRestore();
        }}
      >
        <p>
          The whole world becomes what it was right after this commit, by one new commit, which can be taken back as
          well.
        </p>
      </Confirm>
    </div>
  );
}
