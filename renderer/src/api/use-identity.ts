import { queryClient } from './query-client.ts';
import type { AnswerAt } from './routes.ts';
import { readOptions, useRead } from './use-read.ts';

export const SESSION = '/inspect/session';
export const TOPIC = 'session';

export function useIdentity() {
  return useRead(TOPIC, SESSION);
}

/** The session as it was last read; undefined until it is known. */
export const knownSession = () =>
  queryClient.getQueryData<AnswerAt<'GET', typeof SESSION>>(readOptions(TOPIC, SESSION).queryKey);

/** Is root signed in? False until the session is known, and while root views as another user. */
export function isRoot(): boolean {
  const session = knownSession();
  return session?.user.isRoot === true && session.viewAs === undefined;
}
