import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { send } from '../../api/client.ts';
import { failureOf } from '../../api/failure.ts';
import { durationText } from '../../parts/amounts.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { FailureNote } from '../../parts/empty-state.tsx';
import { Select } from '../../parts/fields.tsx';
import { KeyValue, type KeyValueRow } from '../../parts/key-value.tsx';
import type { SessionUser } from './access-answers.ts';

export type CredentialKind = 'key' | 'token';

export interface NewCredentialDialogProps {
  kind: CredentialKind;
  me: SessionUser;
  /** Whom else one may make it for. */
  users: readonly { id: string; name: string; description?: string }[];
  onClose(): void;
}

interface Made {
  note: string;
  rows: readonly KeyValueRow[];
}

const MS = 1000;

/** Makes a key pair or a token for somebody, and shows it once. */
export function NewCredentialDialog({ kind, me, users, onClose }: NewCredentialDialogProps) {
  const [userId, setUserId] = useState(me.id);
  const what = kind === 'key' ? 'API key' : 'access token';
  const making = useMutation({
    mutationFn: () => (kind === 'key' ? makeKey(userId) : makeToken(userId)),
    // What it made is kept nowhere once the dialog is closed.
    gcTime: 0,
  });
  const made = making.data;
  const everybody = users.some(({ id }) => id === me.id) ? users : [me, ...users];
  const options = everybody.map(({ id, name }) => ({ id, text: id === me.id ? `${name} (you)` : name }));
  return (
    <Dialog
      title={made ? `The new ${what}` : `New ${what}`}
      isOpen
      isAlert
      onClose={onClose}
      width="medium"
      actions={
        made ? (
          <Button look="primary" onPress={onClose}>
            I have kept it
          </Button>
        ) : (
          <>
            <Button onPress={onClose}>Cancel</Button>
            <Button look="primary" isPending={making.isPending} onPress={() => making.mutate()}>
              Make it
            </Button>
          </>
        )
      }
    >
      {made ? (
        <>
          <p className="mb-2 font-medium">{made.note}</p>
          <KeyValue nameWidth={150} rows={made.rows} />
        </>
      ) : (
        <>
          <Select label="User" options={options} value={userId} onChange={setUserId} className="max-w-xs" />
          <p className="mt-2 text-muted">
            Whoever has it acts as this user. It is shown once, right after it was made.
          </p>
          {making.error && (
            <div className="mt-3">
              <FailureNote failure={failureOf(making.error)} />
            </div>
          )}
        </>
      )}
    </Dialog>
  );
}

async function makeKey(userId: string): Promise<Made> {
  const { apiKey, apiSecret } = await send('POST', '/inspect/access/keys', {
    userId,
  });
  const curl = `curl -u '${apiKey}:${apiSecret}' ${location.origin}/meta/users/self`;
  return {
    note: 'The secret is shown this once: copy it now.',
    rows: [
      { name: 'Key', value: apiKey, copy: apiKey, isMono: true },
      { name: 'Secret', value: apiSecret, copy: apiSecret, isMono: true },
      { name: 'Try it', value: curl, copy: curl, isMono: true },
    ],
  };
}

async function makeToken(userId: string): Promise<Made> {
  const { accessToken, expiresInS } = await send('POST', '/inspect/access/tokens', { userId });
  const curl = `curl -H 'Authorization: Bearer ${accessToken}' ${location.origin}/meta/users/self`;
  return {
    note: `The token is shown this once: copy it now. It is good for ${durationText(expiresInS * MS)}.`,
    rows: [
      { name: 'Token', value: accessToken, copy: accessToken, isMono: true },
      { name: 'Try it', value: curl, copy: curl, isMono: true },
    ],
  };
}
