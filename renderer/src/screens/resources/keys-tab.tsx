import { KeyRound } from 'lucide-react';
import { useState } from 'react';
import type { TreeNode } from '../../api/tree.ts';
import { Button } from '../../parts/button.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { Pending } from '../../parts/pending.tsx';
import { useKeysAndTokens } from '../settings/access-answers.ts';
import { AccessTable } from '../settings/access-table.tsx';
import { NewCredentialDialog } from '../settings/new-credential-dialog.tsx';

/** The API keys of an account: makes one, whose secret is seen once, and ends them. */
export function KeysTab({ user: { id, name, parent } }: { user: TreeNode }) {
  const [isMaking, setMaking] = useState(false);
  const known = useKeysAndTokens();
  if (!known.data) return <Pending query={known} />;
  const own = known.data.keys.filter(({ user }) => user.id === id);
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
        <AccessTable kind="key" known={own} total={own.length} />
      )}
      {isMaking && (
        <NewCredentialDialog kind="key" users={[{ id, name, orgId: parent }]} onClose={() => setMaking(false)} />
      )}
    </div>
  );
}
