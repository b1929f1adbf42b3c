import type { Json, JsonObject } from '../../model/json.ts';
import type { Grant, Uuid } from '../../model/record.ts';
import type { TypeWord } from '../../model/type-words.ts';
import { grantOf } from '../security/entitlements.ts';

export const identityWords: readonly TypeWord[] = ['groups', 'users'];

/** The identities that are added to and removed from the entitlements of one resource, by action (D-115). */
export type Grants = Readonly<Record<string, Grant>>;

/** An entry of a document whose references to identities lead to something. */
export interface GrantEntry<Identity = Uuid> {
  actions: readonly string[];
  add: readonly Identity[];
  remove: readonly Identity[];
  value: Json | undefined;
}

/** Combines the grants of entries: identities of the same action add up, and the last value applies. */
export function grantsOf(entries: readonly GrantEntry[]): Grants {
  const grants: Record<string, Grant> = {};
  for (const { actions, add, remove, value } of entries) {
    for (const action of actions) {
      const before = grants[action];
      grants[action] = {
        ...before,
        add: [...(before?.add ?? []), ...add],
        remove: [...(before?.remove ?? []), ...remove],
        ...(value !== undefined && { value }),
      };
    }
  }
  return plainGrants(grants);
}

/** Returns the grants without parts that have no effect: empty lists, repeated identities, actions with neither. */
export function plainGrants(grants: Grants = {}): Grants {
  const plain = Object.entries(grants).flatMap(([action, { add, remove, value }]) => {
    const grant = grantOf({ add: [...new Set(add)], remove: [...new Set(remove)], value });
    return grant ? [[action, grant] as const] : [];
  });
  return Object.fromEntries(plain);
}

/** Grants as a document writes them: actions that are granted alike in one entry, in the order of their names. */
export function entriesOf(grants: Grants | undefined, refer: (id: Uuid) => string): JsonObject[] {
  const entries = new Map<string, JsonObject & { actions: string[] }>();
  const byAction = Object.entries(plainGrants(grants)).sort(([a], [other]) => (a < other ? -1 : 1));
  for (const [action, { add, remove, value }] of byAction) {
    const rest = {
      ...(add && { identities: add.map(refer) }),
      ...(remove && { without: remove.map(refer) }),
      ...(value !== undefined && { value }),
    };
    const alike = JSON.stringify(rest);
    const entry = entries.get(alike);
    if (entry) entry.actions.push(action);
    else entries.set(alike, { actions: [action], ...rest });
  }
  return [...entries.values()];
}
