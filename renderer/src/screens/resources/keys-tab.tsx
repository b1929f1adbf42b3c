import { Eye, EyeOff, KeyRound } from 'lucide-react';
import { useState } from 'react';
import { keys as topics } from '../../api/query-client.ts';
import type { TreeNode } from '../../api/tree.ts';
import { isRoot } from '../../api/use-identity.ts';
import { useRead } from '../../api/use-read.ts';
import { Button, IconButton } from '../../components/button.tsx';
import { Copy } from '../../components/copy.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { Pending } from '../../components/pending.tsx';
import { AccessTable } from '../settings/access-table.tsx';
import { NewCredentialDialog } from '../settings/new-credential-dialog.tsx';
import { useKeysAndTokens } from '../settings/use-keys-and-tokens.ts';

/** The API keys of an account: makes one, whose secret is seen once, and ends them. Root also sees a random password (D-220). */
export function KeysTab({ user: { id, name, parent } }: { user: TreeNode }) {
  const [isMaking, setMaking] = useState(false);
  const keysQuery = useKeysAndTokens();
  const passwords = useRead(topics.world, '/inspect/access/passwords', {}, { enabled: isRoot(), staleTime: 0 });
  const password = passwords.data?.find(({ user }) => user.id === id)?.password;
  if (!keysQuery.data) return <Pending query={keysQuery} />;
  const ownKeys = keysQuery.data.keys.filter(({ user }) => user.id === id);
  return (
    <div className="flex max-w-3xl flex-col gap-3 p-4">
      <div className="flex items-center gap-3">
        <Button icon={KeyRound} onPress={() => setMaking(true)}>
          New API key
        </Button>
        <p className="text-muted">User and password of Basic authentication, for programs.</p>
      </div>
      {ownKeys.length === 0 ? (
        <EmptyState icon={KeyRound} title="No keys yet" text="A key and its secret let programs act as this account." />
      ) : (
        <AccessTable kind="key" credentials={ownKeys} total={ownKeys.length} />
      )}
      {password !== undefined && <RandomPassword password={password} />}
      {isMaking && (
        <NewCredentialDialog kind="key" users={[{ id, name, orgId: parent }]} onClose={() => setMaking(false)} />
      )}
    </div>
  );
}

function RandomPassword({ password }: { password: string }) {
  const [isShown, setShown] = useState(false);
  return (
    <p className="flex items-center gap-2 text-muted">
      The user has a random password, for the window and for programs:
      <span className="mono text-fg">{isShown ? password : '••••••••'}</span>
      <IconButton
        icon={isShown ? EyeOff : Eye}
        label={`${isShown ? 'Hide' : 'Show'} the password`}
        onPress={() => setShown(!isShown)}
      />
      <Copy text={password} subject="the password" />
    </p>
  );
}
