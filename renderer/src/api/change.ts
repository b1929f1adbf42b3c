import { useMutation } from '@tanstack/react-query';
import { toast } from '../parts/toasts.tsx';
import { failureOf } from './failure.ts';
import { queryClient } from './query-client.ts';

export interface ChangeOptions<Result, Asked> {
  /** What is said once it is made. */
  said?: string | ((result: Result, asked: Asked) => string);
  /** What is read anew then, by the first word of its keys; default: everything. */
  topic?: string;
  /** Called as soon as it is made. */
  onDone?(result: Result, asked: Asked): void;
  onRefused?(thrown: unknown): void;
  /** Called once all that is seen shows it. */
  onShown?(result: Result, asked: Asked): void;
  /** There is no place for why it was refused: it is said in a message, after these words. */
  refusal?: string;
  /** How long what it answered is kept once nobody looks, ms. */
  gcTime?: number;
}

/**
 * A change that a person can make. Whatever comes of it, what one sees is read anew.
 *
 * @param make throws FailureError, as `send` does
 */
export function useChange<Result, Asked = void>(
  make: (asked: Asked) => Promise<Result>,
  { said, topic, onDone, onRefused, onShown, refusal, ...rest }: ChangeOptions<Result, Asked> = {},
) {
  const readAnew = () => queryClient.invalidateQueries(topic === undefined ? {} : { queryKey: [topic] });
  return useMutation({
    ...rest,
    mutationFn: make,
    onSuccess: (result, asked) => {
      if (said !== undefined) toast({ tone: 'ok', text: typeof said === 'string' ? said : said(result, asked) });
      onDone?.(result, asked);
    },
    onError: (thrown) => {
      onRefused?.(thrown);
      if (refusal !== undefined) toast({ tone: 'error', text: `${refusal}${failureOf(thrown).message}` });
    },
    onSettled: async (result, error, asked) => {
      const shown = readAnew();
      if (error !== null || !onShown) return;
      await shown;
      onShown(result as Result, asked); // there is one where there is no error
    },
  });
}
