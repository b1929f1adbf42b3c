import { answered, ask } from './client.ts';
import { failureOf } from './failure.ts';
import { queryClient } from './query-client.ts';
import { keepSessionKey, makeSessionKey } from './session-key.ts';
import { sessionState } from './session-state.ts';

/** The credentials for a sign-in: the code of the opened address (valid once), or a user name and password. */
export type Credentials = { code: string } | { username: string; password: string };

const SESSION = '/inspect/session';
const RETRY_MS = 1500;

/** Finds out who looks, when the page opens: with the code in the address, else with the session there is. */
export async function openSession(): Promise<void> {
  const code = takeCode();
  const failure = code === undefined ? undefined : await signIn({ code }).then(() => undefined, failureOf);
  if (code !== undefined && failure === undefined) return;
  while ((await checkSession()) === 'gone') await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  // Who is signed in already need not care that the address was an old one.
  if (failure && sessionState.value.kind === 'signed-out') {
    sessionState.set({ kind: 'signed-out', reason: failure.message });
  }
}

/** Is the server reachable, and does a session exist? Opens or closes the gate accordingly, unless the server is gone. */
export async function checkSession(timeoutMs?: number): Promise<'there' | 'gone'> {
  const before = sessionState.value;
  const answer = await ask('GET', SESSION, { isSignIn: true, ...(timeoutMs !== undefined && { timeoutMs }) });
  const isBusy = !answer.ok && answer.failure.code === 503 && before.kind === 'unknown';
  if (isBusy || (!answer.ok && answer.failure.kind === 'offline')) return 'gone';
  // Meanwhile the user may have signed in or out.
  if (sessionState.value !== before) return 'there';
  if (answer.ok) {
    if (before.kind !== 'signed-in' || before.userId !== answer.value.user.id) enterAs(answer.value.user.id);
  } else if (answer.failure.kind === 'signed-out') sessionState.expire();
  else if (before.kind === 'unknown') sessionState.set({ kind: 'signed-out', reason: answer.failure.message });
  return 'there';
}

/** Throws FailureError. */
export async function signIn(credentials: Credentials): Promise<void> {
  const key = makeSessionKey();
  const { user } = answered(await ask('POST', SESSION, { body: { ...credentials, key }, isSignIn: true }));
  keepSessionKey(key);
  enterAs(user.id);
  // What was refused for want of a session is asked for again.
  void queryClient.invalidateQueries();
}

/** Another user must not see the data of the last one. */
function enterAs(userId: string): void {
  const session = sessionState.value;
  if (session.kind !== 'unknown' && session.userId !== userId) queryClient.clear();
  sessionState.enter(userId);
}

export async function signOut(): Promise<void> {
  await ask('DELETE', SESSION, { isSignIn: true });
  queryClient.clear();
  sessionState.set({ kind: 'signed-out' });
}

/** The one-time code of `/ui/?code=...`. It is removed from the address, so it is neither stored nor sent on. */
function takeCode(): string | undefined {
  const url = new URL(location.href);
  const code = url.searchParams.get('code');
  if (code === null) return undefined;
  url.searchParams.delete('code');
  history.replaceState(history.state, '', url);
  return code;
}
