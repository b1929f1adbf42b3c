import { ValueStore } from '../value-store.ts';

/** The state of the user's session: `unknown` until the server has reported it, then signed in or out. */
export type SessionView =
  | { kind: 'unknown' }
  | { kind: 'signed-in' }
  /** `reason` says why the sign-in is asked for again; absent at the first time. */
  | { kind: 'signed-out'; reason?: string };

class SessionState extends ValueStore<SessionView> {
  /** The server rejected the session with 401. */
  expire(): void {
    if (this.value.kind === 'signed-out') return;
    const wasSignedIn = this.value.kind === 'signed-in';
    this.set({
      kind: 'signed-out',
      ...(wasSignedIn && { reason: 'Your session has ended. Sign in to continue where you were.' }),
    });
  }

  enter(): void {
    this.set({ kind: 'signed-in' });
  }
}

export const sessionState = new SessionState({ kind: 'unknown' });
