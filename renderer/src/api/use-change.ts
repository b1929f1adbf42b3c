import { useMutation } from '@tanstack/react-query';
import { toast } from '../components/toasts.tsx';
import { recordingSend, type Send } from './client.ts';
import { failureOf } from './failure.ts';
import { queryClient } from './query-client.ts';
import { toastWithUndo } from './undo.ts';

export interface ChangeOptions<Result, Asked> {
  /** The message once the change is made; for root it offers Undo. Undefined: no message. */
  message?: string | ((result: Result, input: Asked) => string | undefined);
  /** The first word of the query keys that are read again after the change. Default: all keys. */
  topic?: string;
  /** Called as soon as the change is made. */
  onDone?(result: Result, input: Asked): void;
  onRefused?(thrown: unknown): void;
  /** Called once all that is seen shows it. */
  onShown?(result: Result, input: Asked): void;
  /** Without a place for the error it is shown in a message, after this text. */
  refusal?: string;
  /** The time to keep the response when no component shows it, in ms. */
  gcTime?: number;
}

/**
 * A change that a user makes. Afterwards the window reads its data again.
 *
 * @param make throws FailureError; changes resources by the `send` that it receives, which notes the commits to undo
 */
export function useChange<Result, Asked = void>(
  make: (input: Asked, send: Send) => Promise<Result>,
  { message, topic, onDone, onRefused, onShown, refusal, ...rest }: ChangeOptions<Result, Asked> = {},
) {
  const readAgain = () => queryClient.invalidateQueries(topic === undefined ? {} : { queryKey: [topic] });
  return useMutation({
    ...rest,
    mutationFn: async (input: Asked) => {
      const commits: number[] = [];
      const result = await make(input, recordingSend(commits));
      const text = typeof message === 'function' ? message(result, input) : message;
      if (text !== undefined) toastWithUndo(text, commits);
      return result;
    },
    onSuccess: (result, input) => onDone?.(result, input),
    onError: (thrown) => {
      onRefused?.(thrown);
      if (refusal !== undefined) toast({ tone: 'error', text: `${refusal}${failureOf(thrown).message}` });
    },
    onSettled: async (result, error, input) => {
      const invalidation = readAgain();
      if (error !== null || !onShown) return;
      await invalidation;
      onShown(result as Result, input); // there is one where there is no error
    },
  });
}
