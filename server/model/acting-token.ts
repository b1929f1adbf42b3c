import type { Caller } from './caller.ts';
import type { Cause } from './commit.ts';

/** By which token a cause's actor was known. Neither kept with the commit nor told: it lasts as long as the cause. */
const tokens = new WeakMap<Cause, string>();

/** Notes on a cause the token that its actor used, if it was one. */
export function byToken(cause: Cause, { tokenId }: Caller): Cause {
  if (tokenId !== undefined) tokens.set(cause, tokenId);
  return cause;
}

/** What names the token by which a change was made, as `Credentials.tokens` does. */
export function actingToken(cause: Cause): string | undefined {
  return tokens.get(cause);
}
