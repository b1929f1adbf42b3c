import { useChange } from '../../api/change.ts';
import { send } from '../../api/client.ts';
import { Dialog } from '../../parts/dialog.tsx';

/** What is to be refused from now on. */
export type Ending =
  | { kind: 'key'; id: string; userName: string; isFirst: boolean }
  | { kind: 'token'; id: string; userName: string; isOwn: boolean };

export interface EndDialogProps {
  ending: Ending;
  onClose(): void;
}

/** Says what ending a key or token means, and ends it. */
export function EndDialog({ ending, onClose }: EndDialogProps) {
  const { kind, id, userName } = ending;
  const what = kind === 'key' ? 'API key' : 'access token';
  const ended = useChange(
    () =>
      send('DELETE', kind === 'key' ? `/security/apiKeys/${encodeURIComponent(id)}` : `/inspect/access/tokens/${id}`),
    { said: `The ${what} of ${userName} is refused from now on.`, onDone: onClose },
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
        Programs of {userName} that use <span className="mono break-all">{id}</span> are refused from now on. It cannot
        be brought back.
      </p>
      {ending.kind === 'token' && ending.isOwn && (
        <p className="mt-2 text-warn">This window works with it: you will be asked to sign in again.</p>
      )}
      {ending.kind === 'key' && ending.isFirst && (
        <p className="mt-2 text-warn">
          It is the first key of the root user. The next start of the platform puts it in force again.
        </p>
      )}
    </Dialog>
  );
}
