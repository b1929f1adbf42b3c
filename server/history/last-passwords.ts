import { isDeepStrictEqual } from 'node:util';
import type { Uuid } from '../model/ids.ts';
import { memberOf } from '../model/json.ts';
import type { StoredResource } from '../model/record.ts';
import { USER } from '../model/type-names.ts';
import type { WorldStore } from '../store/world-store.ts';

/** Stored as a password it is nobody's: where the history does not know any more which one was the last. */
const NOBODYS = 'none';

/**
 * Records that are to be brought back, users with the password that they have, or had last: one that was replaced never comes back
 * (D-216). Without those that would be changed in nothing else.
 */
export async function withLastPasswords(
  { world, history }: Pick<WorldStore, 'world' | 'history'>,
  put: readonly StoredResource[],
): Promise<StoredResource[]> {
  const present = world.resources;
  const gone = put.filter(({ id, type }) => type === USER && !present.has(id));
  const last = await lastPasswordsOf(gone, history);
  return put.flatMap((record) => {
    if (record.type !== USER) return [record];
    const now = present.get(record.id);
    const password = now ? now.properties.password : (last.get(record.id) ?? NOBODYS);
    if (password === record.properties.password) return [record];
    const kept = { ...record, properties: { ...record.properties, ...(password !== undefined && { password }) } };
    return now && isDeepStrictEqual({ ...kept, modified: now.modified }, now) ? [] : [kept];
  });
}

/** Of accounts that are gone: the passwords with which they went, as far as the history is kept. */
async function lastPasswordsOf(
  users: readonly StoredResource[],
  history: WorldStore['history'],
): Promise<Map<Uuid, string>> {
  const found = new Map<Uuid, string>();
  const wanted = new Set(users.map(({ id }) => `/resources/${id}`));
  if (wanted.size === 0) return found;
  for await (const { inverse } of history.commits()) {
    for (const operation of inverse) {
      if (operation.op !== 'add' || !wanted.delete(operation.path)) continue;
      const password = memberOf(memberOf(operation.value, 'properties'), 'password');
      if (typeof password === 'string') found.set(operation.path.slice('/resources/'.length), password);
    }
    if (wanted.size === 0) break;
  }
  return found;
}
