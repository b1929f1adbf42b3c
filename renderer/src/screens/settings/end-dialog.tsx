import { useChange } from '../../api/change.ts';
import { send } from '../../api/client.ts';
import { Dialog } from '../../components/dialog.tsx';
import { isToken, type KnownKey, type KnownToken } from './access-answers.ts';

export interface EndDialogProps {
  /** The key or token to revoke. */
  credential: KnownKey | KnownToken;
  onClose(): void;
}

/** Asks before it revokes a key or token. */
export function EndDialog({ credential, onClose }: EndDialogProps) {
  const { id, user } = credential;
  const label = isToken(credential) ? 'access token' : 'API key';
  const ended = useChange(
    () =>
      send(
        'DELETE',
        isToken(credential) ? `/inspect/access/tokens/${id}` : `/security/apiKeys/${encodeURIComponent(id)}`,
      ),
    { message: `The ${label} of ${user.name} was revoked.`, onDone: onClose },
  );
  return (
    <Dialog
      title={`Revoke this ${label}`}
      isAlert
      onClose={onClose}
      action={`Revoke ${label}`}
      onAction={ended.mutate}
      look="destroy"
      making={ended}
    >
      <p>
        Revoke <span className="mono break-all">{id}</span>? Programs of {user.name} that use it can no longer sign in.
        This cannot be undone.
      </p>
      {isToken(credential) && credential.isOwn && (
        <p className="mt-2 text-warn">This window uses it: you will have to sign in again.</p>
      )}
      {!isToken(credential) && credential.isFirst && (
        <p className="mt-2 text-warn">
          This is root's first API key. It becomes valid again the next time the platform starts.
        </p>
      )}
    </Dialog>
  );
}
