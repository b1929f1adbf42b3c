import { useState } from 'react';
import { send } from '../../api/client.ts';
import { useChange } from '../../api/use-change.ts';
import { durationText } from '../../components/amounts.ts';
import { Dialog } from '../../components/dialog.tsx';
import { Select } from '../../components/fields.tsx';
import { KeyValue, type KeyValueRow } from '../../components/key-value.tsx';
import { CurlNote } from '../resources/curl-note.tsx';
import { ResourcePicker } from '../resources/resource-picker.tsx';

export type CredentialKind = 'key' | 'token';

export interface NewCredentialDialogProps {
  kind: CredentialKind;
  /** Users for whom it can be created, the likeliest first; `orgId` is the organization of the account. */
  users: readonly [CredentialUser, ...CredentialUser[]];
  onClose(): void;
}

export interface CredentialUser {
  id: string;
  name: string;
  orgId?: string | undefined;
}

interface NewCredential {
  note: string;
  rows: readonly KeyValueRow[];
}

const MS = 1000;

/** Creates a key pair or a token for a user, and shows it once. */
export function NewCredentialDialog({ kind, users, onClose }: NewCredentialDialogProps) {
  const [userId, setUserId] = useState(users[0].id);
  const [orgId, setOrgId] = useState<string>();
  const label = kind === 'key' ? 'API key' : 'access token';
  // The created key or token is not stored after the dialog is closed.
  const making = useChange(() => (kind === 'key' ? makeKey(userId, orgId) : makeToken(userId)), { gcTime: 0 });
  const newCredential = making.data;
  const home = users.find(({ id }) => id === userId)?.orgId;
  return (
    <Dialog
      title={
        newCredential ? `The new ${label}` : users.length > 1 ? `New ${label}` : `New ${label} of ${users[0].name}`
      }
      isAlert
      onClose={onClose}
      width="medium"
      {...(newCredential
        ? { closing: '', action: 'Done, I copied it', onAction: onClose }
        : { action: 'Create', onAction: making.mutate, making })}
    >
      {newCredential ? (
        <>
          <p className="mb-2 font-medium">{newCredential.note}</p>
          <KeyValue nameWidth={150} rows={newCredential.rows} />
        </>
      ) : (
        <div className="flex flex-col gap-3">
          {users.length > 1 && (
            <Select
              label="User"
              options={users.map(({ id, name }) => ({ id, text: name }))}
              value={userId}
              onChange={setUserId}
              className="max-w-xs"
            />
          )}
          <p className="text-muted">
            Anyone who has it can act as this user. It is shown only once, after it is created.
          </p>
          {kind === 'key' && (
            <>
              <ResourcePicker
                label="Organization (default: that of the account)"
                collections={['orgs']}
                value={orgId}
                onChange={(node) => setOrgId(node?.id)}
              />
              <CurlNote method="POST" path={`/security/accounts/${userId}/apiKeys`} body={{ orgId: orgId ?? home }} />
            </>
          )}
        </div>
      )}
    </Dialog>
  );
}

async function makeKey(userId: string, orgId: string | undefined): Promise<NewCredential> {
  const { apiKey, apiSecret } = await send('POST', '/inspect/access/keys', { userId, orgId });
  const curl = `curl -u '${apiKey}:${apiSecret}' ${location.origin}/meta/users/self`;
  return {
    note: 'The secret is shown only once: copy it now.',
    rows: [
      { name: 'Key', value: apiKey, copy: apiKey, isMono: true },
      { name: 'Secret', value: apiSecret, copy: apiSecret, isMono: true },
      { name: 'Try it', value: curl, copy: curl, isMono: true },
    ],
  };
}

async function makeToken(userId: string): Promise<NewCredential> {
  const { accessToken, expiresInS } = await send('POST', '/inspect/access/tokens', { userId });
  const curl = `curl -H 'Authorization: Bearer ${accessToken}' ${location.origin}/meta/users/self`;
  return {
    note: `The token is shown only once: copy it now. It is valid for ${durationText(expiresInS * MS)}.`,
    rows: [
      { name: 'Token', value: accessToken, copy: accessToken, isMono: true },
      { name: 'Try it', value: curl, copy: curl, isMono: true },
    ],
  };
}
