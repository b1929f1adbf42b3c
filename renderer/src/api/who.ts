import { send } from './client.ts';
import { live } from './live.ts';
import { queryClient } from './query-client.ts';
import { readOptions, useRead } from './read.ts';

const SESSION = '/inspect/session';
const TOPIC = 'session';

/** Who is signed in, and with whose eyes root looks just now. */
export function useWho() {
  return useRead(TOPIC, SESSION);
}

/** Everything is asked for anew with another's eyes, or with one's own (null). */
export async function lookAs(userId: string | null): Promise<void> {
  const who = await send('PUT', `${SESSION}/eyes`, { userId });
  queryClient.setQueryData(readOptions(TOPIC, SESSION).queryKey, who);
  // What is told live is told to whoever looks now.
  live.stop();
  live.start();
  await queryClient.resetQueries({ predicate: ({ queryKey }) => queryKey[0] !== TOPIC });
}
