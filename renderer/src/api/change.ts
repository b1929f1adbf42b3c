import { useMutation } from '@tanstack/react-query';
import { toast } from '../components/toasts.tsx';
import { recordingSend, type Send } from './client.ts';
import { failureOf } from './failure.ts';
import { queryClient } from './query-client.ts';
import { toastWithUndo } from './undo.ts';

export interface ChangeOptions<Result, Asked> {
  /** The message once the change is made; for root it offers Undo. Undefined: no message. */
  said?: string | ((result: Result, asked: Asked) => string | undefined);
  /** What is read again then, by the first word of its keys; default: everything. */
  topic?: string;
  /** Called as soon as the change is made. */
  onDone?(result: Result, asked: Asked): void;
  onRefused?(thrown: unknown): void;
  /** Called once all that is seen shows it. */
  onShown?(result: Result, asked: Asked): void;
  /** Without a place for the error it is shown in a message, after this text. */
  refusal?: string;
  /** How long to keep the response when no component shows it, in ms. */
  gcTime?: number;
}

/**
 * A change that a user makes. Afterwards the window reads its data again.
 *
 * @param make throws FailureError; changes resources by the `send` that it receives, which notes the commits to undo
 */
export function useChange<Result, Asked = void>(
  make: (asked: Asked, send: Send) => Promise<Result>,
  { said, topic, onDone, onRefused, onShown, refusal, ...rest }: ChangeOptions<Result, Asked> = {},
) {
  const readAgain = () => queryClient.invalidateQueries(topic === undefined ? {} : { queryKey: [topic] });
  return useMutation({
    ...rest,
    mutationFn: async (asked: Asked) => {
      const commits: number[] = [];
      const result = await make(asked, recordingSend(commits));
      const text = typeof said === 'function' ? said(result, asked) : said;
      if (text !== undefined) toastWithUndo(text, commits);
      return result;
    },
    onSuccess: (result, asked) => onDone?.(result, asked),
    onError: (thrown) => {
      onRefused?.(thrown);
      if (refusal !== undefined) toast({ tone: 'error', text: `${refusal}${failureOf(thrown).message}` });
    },
    onSettled: async (result, error, asked) => {
      const shown = readAgain();
      if (error !== null || !onShown) return;
      await shown;
      onShown(result as Result, asked); // there is one where there is no error
    },
  });
}
