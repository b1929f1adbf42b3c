import { useMutation } from '@tanstack/react-query';
import { ask, DEBUGGED_TIMEOUT_MS } from '../../api/client.ts';
import { FailureError, failureOf } from '../../api/failure.ts';
import { toast } from '../../components/toasts.tsx';
import { useSearch } from '../../url.ts';
import { statusOf } from './invocation-words.ts';
import type { InvocationDetail } from './use-invocations.ts';

/** Replays an invocation, with its event or another one, and opens the new invocation. */
export function useReplay(
  { executionId, lambdaName }: InvocationDetail,
  { onDone, isDebugged = false }: { onDone?(): void; isDebugged?: boolean } = {},
) {
  const [, change] = useSearch();
  const running = useMutation({
    mutationFn: async (event: unknown) => {
      const answer = await ask('POST', `/inspect/invocations/${executionId}/replay`, {
        body: { ...(event !== undefined && { event }), ...(isDebugged && { stopsFirst: true }) },
        ...(isDebugged && { timeoutMs: DEBUGGED_TIMEOUT_MS }),
      });
      if (!answer.ok) throw new FailureError(answer.failure);
      return answer.value;
    },
    onSuccess: (invocation) => {
      toast({
        tone: invocation.outcome.ok ? 'ok' : 'error',
        text: `${lambdaName} was replayed: ${statusOf(invocation)}.`,
      });
      change({ sel: invocation.executionId, with: executionId }, { isNewStep: true });
      onDone?.();
    },
    onError: (error) => toast({ tone: 'error', text: failureOf(error).message }),
  });
  const { isPending, error } = running;
  return { run: (event?: unknown) => running.mutate(event), isPending, error };
}
