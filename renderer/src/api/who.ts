import { useQuery } from '@tanstack/react-query';
import { load, send } from './client.ts';
import { live } from './live.ts';
import { queryClient } from './query-client.ts';

const SESSION = '/inspect/session';
const KEY = ['session'];

/** Who is signed in, and with whose eyes root looks just now. */
export function useWho() {
  return useQuery({ queryKey: KEY, queryFn: ({ signal }) => load(SESSION, {}, signal) });
}

/** Everything is asked for anew with another's eyes, or with one's own (null). */
export async function lookAs(userId: string | null): Promise<void> {
  const who = await send('PUT', `${SESSION}/eyes`, { userId });
  queryClient.setQueryData(KEY, who);
  // What is told live is told to whoever looks now.
  live.stop();
  live.start();
  await queryClient.resetQueries({ predicate: ({ queryKey }) => queryKey[0] !== KEY[0] });
}
