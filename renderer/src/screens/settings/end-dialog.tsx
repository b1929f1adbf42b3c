import { useChange } from '../../api/change.ts';
import { send } from '../../api/client.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { isToken, type KnownKey, type KnownToken } from './access-answers.ts';

export interface EndDialogProps {
  /** What is to be refused from now on. */
  known: KnownKey | KnownToken;
  onClose(): void;
}

/** Says what ending a key or token means, and ends it. */
export function EndDialog({ known, onClose }: EndDialogProps) {
  const { id, user } = known;
  const what = isToken(known) ? 'access token' : 'API key';
  const ended = useChange(
    () =>
      send('DELETE', isToken(known) ? `/inspect/access/tokens/${id}` : `/security/apiKeys/${encodeURIComponent(id)}`),
    { said: `The ${what} of ${user.name} is refused from now on.`, onDone: onClose },
  );
  return (
    <Dialog
      title={`End this ${what}`}
      isAlert
      onClose={onClose}
      action="End it"
      onAction={ended.mutate}
      look="destroy"
      making={ended}
    >
      <p>
        Programs of {user.name} that use <span className="mono break-all">{id}</span> are refused from now on. It cannot
        be brought back.
      </p>
      {isToken(known) && known.isOwn && (
        <p className="mt-2 text-warn">This window works with it: you will be asked to sign in again.</p>
      )}
      {!isToken(known) && known.isFirst && (
        <p className="mt-2 text-warn">
          It is the first key of the root user. The next start of the platform puts it in force again.
        </p>
      )}
    </Dialog>
  );
}
