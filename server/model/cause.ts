import type { Caller } from './caller.ts';
import type { Cause } from './commit.ts';

/** By which token a cause's actor was known. Neither kept with the commit nor told: it lasts as long as the cause. */
const tokens = new WeakMap<Cause, string>();

/** What a commit keeps of who acts, and through what. */
export function causeOf(
  { caller, via, requestId }: { caller: Caller; via: Cause['via']; requestId?: string },
  action: string,
  note?: string,
): Cause {
  const cause: Cause = {
    actor: { id: caller.userId, name: caller.name },
    via,
    ...(requestId !== undefined && { requestId }),
    action,
    ...(note !== undefined && { note }),
  };
  if (caller.tokenId !== undefined) tokens.set(cause, caller.tokenId);
  return cause;
}

/** What names the token by which a change was made, as `Credentials.tokens` does. */
export function actingToken(cause: Cause): string | undefined {
  return tokens.get(cause);
}
