import { useMutation, useQuery } from '@tanstack/react-query';
import { KeyRound, Trash2 } from 'lucide-react';
import { useMemo, useState } from 'react';
import { load, send } from '../../api/client.ts';
import { failureOf } from '../../api/failure.ts';
import { queryClient, keys as topics } from '../../api/query-client.ts';
import type { TreeNode } from '../../api/tree.ts';
import { Time } from '../../parts/amount.tsx';
import { Button, IconButton } from '../../parts/button.tsx';
import { Confirm, Dialog } from '../../parts/dialog.tsx';
import { EmptyState, ErrorState, FailureNote } from '../../parts/empty-state.tsx';
import { KeyValue } from '../../parts/key-value.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import { Badge } from '../../parts/state.tsx';
import { CurlNote } from './curl-note.tsx';
import { ResourcePicker } from './resource-picker.tsx';

/** The API keys of an account: makes one, whose secret is seen once, and ends them. */
export function KeysTab({ user }: { user: TreeNode }) {
  const [isMaking, setMaking] = useState(false);
  const [ending, setEnding] = useState<string>();
  const all = useQuery({
    queryKey: [topics.world, 'keys and tokens'],
    queryFn: ({ signal }) => load('/inspect/access', {}, signal),
    staleTime: 0,
  });
  const own = useMemo(() => all.data?.keys.filter((key) => key.user.id === user.id), [all.data, user.id]);
  const revoking = useMutation({
    mutationFn: (key: string) => send('DELETE', `/security/apiKeys/${key}`),
    onSuccess: () => {
      setEnding(undefined);
      void all.refetch();
    },
  });
  if (all.error) return <ErrorState error={all.error} onRetry={() => void all.refetch()} />;
  if (!own) return <Skeleton />;
  return (
    <div className="flex max-w-3xl flex-col gap-3 p-4">
      <div className="flex items-center gap-3">
        <Button icon={KeyRound} onPress={() => setMaking(true)}>
          New API key
        </Button>
        <p className="text-muted">User and password of Basic authentication, for programs.</p>
      </div>
      {own.length === 0 ? (
        <EmptyState icon={KeyRound} title="No keys yet" text="A key and its secret let programs act as this account." />
      ) : (
        <ul aria-label="API keys">
          {own.map(({ id, created, lastUsed, isDisabled }) => (
            <li key={id} className="flex h-8 items-center gap-3 border-b border-line/60">
              <span className="mono">{id}</span>
              {isDisabled && <Badge tone="warning">disabled</Badge>}
              <span className="text-muted">
                made <Time at={created} />
              </span>
              <span className="text-muted">
                {lastUsed ? (
                  <>
                    used <Time at={lastUsed} />
                  </>
                ) : (
                  'not used since the start'
                )}
              </span>
              <span className="ml-auto">
                <IconButton icon={Trash2} label={`End key ${id}`} onPress={() => setEnding(id)} />
              </span>
            </li>
          ))}
        </ul>
      )}
      {isMaking && (
        <NewKeyDialog
          user={user}
          onClose={() => {
            setMaking(false);
            void all.refetch();
          }}
        />
      )}
      <Confirm
        title="End this API key"
        isOpen={ending !== undefined}
        onClose={() => setEnding(undefined)}
        deed="End it"
        isDanger
        isPending={revoking.isPending}
        onConfirm={() => ending !== undefined && revoking.mutate(ending)}
      >
        <p>
          Programs that use <span className="mono">{ending}</span> are refused from now on. It cannot be brought back.
        </p>
        {revoking.error && <FailureNote failure={failureOf(revoking.error)} />}
      </Confirm>
    </div>
  );
}

function NewKeyDialog({ user, onClose }: { user: TreeNode; onClose(): void }) {
  const [orgId, setOrgId] = useState<string>();
  const making = useMutation({
    mutationFn: () =>
      send('POST', '/inspect/access/keys', {
        userId: user.id,
        ...(orgId !== undefined && { orgId }),
      }),
    onSuccess: () => void queryClient.invalidateQueries({ queryKey: [topics.world, 'keys and tokens'] }),
    // The secret is kept nowhere once the dialog is closed.
    gcTime: 0,
  });
  const made = making.data;
  return (
    <Dialog
      title={made ? 'The new API key' : `New API key of ${user.name}`}
      isOpen
      isAlert
      onClose={onClose}
      width="medium"
      actions={
        made ? (
          <Button look="primary" onPress={onClose}>
            I have kept the secret
          </Button>
        ) : (
          <>
            <Button onPress={onClose}>Cancel</Button>
            <Button look="primary" isPending={making.isPending} onPress={() => making.mutate()}>
              Make the key
            </Button>
          </>
        )
      }
    >
      {made ? (
        <>
          <p className="mb-2 font-medium">The secret is shown this once: copy it now.</p>
          <KeyValue
            nameWidth={80}
            rows={[
              { name: 'key', value: made.apiKey, copy: made.apiKey, isMono: true },
              { name: 'secret', value: made.apiSecret, copy: made.apiSecret, isMono: true },
            ]}
          />
        </>
      ) : (
        <>
          <ResourcePicker
            label="For the organization (its own unless you choose)"
            words={['orgs']}
            value={orgId}
            onChange={(node) => setOrgId(node?.id)}
          />
          {making.error && (
            <div className="mt-3">
              <FailureNote failure={failureOf(making.error)} />
            </div>
          )}
          <CurlNote
            method="POST"
            path={`/security/accounts/${user.id}/apiKeys`}
            body={{ orgId: orgId ?? user.parent }}
          />
        </>
      )}
    </Dialog>
  );
}
