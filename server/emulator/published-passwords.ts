import { randomBytes } from 'node:crypto';
import type { StoredResource } from '../model/record.ts';
import { USER } from '../model/type-names.ts';
import type { WorldView } from '../model/world-view.ts';
import { verifyPassword } from '../security/passwords.ts';
import { PUBLISHED } from '../security/published-hashes.ts';

/*
 * Passwords that everybody knows, since they come along with Terrarium. They make the demo easy on one's own machine; where
 * other machines are let in they open nothing, and whoever has one gets another.
 */

const PASSWORD_BYTES = 12;

/** Users who may have one: those that are called as in the demo. */
export function suspectsIn(view: WorldView): StoredResource[] {
  return PUBLISHED.flatMap(({ user }) => (user === undefined ? [] : view.named('users', user)));
}

/** A password of his own for a user who has the published one; undefined for everybody else. */
export async function replacementFor({ type, name, properties }: StoredResource): Promise<string | undefined> {
  const published = type === USER ? PUBLISHED.find(({ user }) => user === name) : undefined;
  if (!published || typeof properties.password !== 'string') return undefined;
  const isKnown = await verifyPassword(published.password, properties.password);
  return isKnown ? randomBytes(PASSWORD_BYTES).toString('base64url') : undefined;
}
