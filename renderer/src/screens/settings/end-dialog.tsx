import { useChange } from '../../api/change.ts';
import { send } from '../../api/client.ts';
import { Dialog } from '../../components/dialog.tsx';
import { isToken, type KnownKey, type KnownToken } from './access-answers.ts';

export interface EndDialogProps {
  /** The key or token to revoke. */
  known: KnownKey | KnownToken;
  onClose(): void;
}

/** Asks before it revokes a key or token. */
export function EndDialog({ known, onClose }: EndDialogProps) {
  const { id, user } = known;
  const what = isToken(known) ? 'access token' : 'API key';
  const ended = useChange(
    () =>
      send('DELETE', isToken(known) ? `/inspect/access/tokens/${id}` : `/security/apiKeys/${encodeURIComponent(id)}`),
    { said: `The ${what} of ${user.name} was revoked.`, onDone: onClose },
  );
  return (
    <Dialog
      title={`Revoke this ${what}`}
      isAlert
      onClose={onClose}
      action={`Revoke ${what}`}
      onAction={ended.mutate}
      look="destroy"
      making={ended}
    >
      <p>
        Revoke <span className="mono break-all">{id}</span>? Programs of {user.name} that use it can no longer sign in.
        This cannot be undone.
      </p>
      {isToken(known) && known.isOwn && (
        <p className="mt-2 text-warn">This window uses it: you will have to sign in again.</p>
      )}
      {!isToken(known) && known.isFirst && (
        <p className="mt-2 text-warn">
          This is root's first API key. It becomes valid again the next time the platform starts.
        </p>
      )}
    </Dialog>
  );
}
