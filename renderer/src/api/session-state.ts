import { ValueStore } from '../value-store.ts';

/** The state of the user's session: `unknown` until the server has reported it, then signed in or out. */
export type SessionView =
  | { kind: 'unknown' }
  | { kind: 'signed-in'; userId: string }
  /** `reason` says why a sign-in is needed again. `userId`: the user whose session ended, and who can continue. */
  | { kind: 'signed-out'; reason?: string; userId?: string };

class SessionState extends ValueStore<SessionView> {
  /** The server rejected the session with 401. */
  expire(): void {
    if (this.value.kind === 'signed-out') return;
    this.set({
      kind: 'signed-out',
      ...(this.value.kind === 'signed-in' && {
        reason: 'Your session has ended. Sign in to continue where you were.',
        userId: this.value.userId,
      }),
    });
  }

  enter(userId: string): void {
    this.set({ kind: 'signed-in', userId });
  }

  /** Calls `forget` when the user signs out or another one signs in, not when the same user continues an ended session. */
  whenUserLeaves(forget: () => void): void {
    const currentId = () => (this.value.kind === 'unknown' ? undefined : this.value.userId);
    let userId = currentId();
    this.watch(() => {
      if (currentId() === userId) return;
      userId = currentId();
      forget();
    });
  }
}

export const sessionState = new SessionState({ kind: 'unknown' });
