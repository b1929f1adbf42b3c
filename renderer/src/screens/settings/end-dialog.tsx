import { useMutation } from '@tanstack/react-query';
import { send } from '../../api/client.ts';
import { failureOf } from '../../api/failure.ts';
import { Confirm } from '../../parts/dialog.tsx';
import { FailureNote } from '../../parts/empty-state.tsx';
import { toast } from '../../parts/toasts.tsx';

/** What is to be refused from now on. */
export type Ending =
  | { kind: 'key'; id: string; userName: string; isFirst: boolean }
  | { kind: 'token'; id: string; userName: string; isOwn: boolean };

export interface EndDialogProps {
  ending: Ending;
  onClose(): void;
  onEnded(): void;
}

/** Says what ending a key or token means, and ends it. */
export function EndDialog({ ending, onClose, onEnded }: EndDialogProps) {
  const { kind, id, userName } = ending;
  const what = kind === 'key' ? 'API key' : 'access token';
  const running = useMutation({
    mutationFn: () =>
      send('DELETE', kind === 'key' ? `/security/apiKeys/${encodeURIComponent(id)}` : `/inspect/access/tokens/${id}`),
    onSuccess: () => {
      toast({ tone: 'ok', text: `The ${what} of ${userName} is refused from now on.` });
      onClose();
      onEnded();
    },
  });
  return (
    <Confirm
      title={`End this ${what}`}
      isOpen
      onClose={onClose}
      deed="End it"
      isDanger
      isPending={running.isPending}
      onConfirm={() => running.mutate()}
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
      {running.error && (
        <div className="mt-2">
          <FailureNote failure={failureOf(running.error)} />
        </div>
      )}
    </Confirm>
  );
}
