import { send } from './client.ts';
import { live } from './live.ts';
import { queryClient } from './query-client.ts';
import { SESSION, TOPIC } from './use-identity.ts';
import { readOptions } from './use-read.ts';

/** Everything is asked for again as another user, or with one's own (null). */
export async function lookAs(userId: string | null): Promise<void> {
  const identity = await send('PUT', `${SESSION}/view-as`, { userId });
  queryClient.setQueryData(readOptions(TOPIC, SESSION).queryKey, identity);
  // Live events follow the permissions of the new user.
  live.stop();
  live.start();
  await queryClient.resetQueries({ predicate: ({ queryKey }) => queryKey[0] !== TOPIC });
}
