import { isDeepStrictEqual } from 'node:util';
import type { Uuid } from '../model/ids.ts';
import type { StoredResource } from '../model/record.ts';
import { inTurns } from './turns.ts';

/** What makes one world of another. */
export interface WorldDifference {
  put: StoredResource[];
  remove: Uuid[];
}

/**
 * What makes the first world the second. Records that both share are the same: of a past world made from the present one
 * (`WorldHistory`) these are nearly all, so this takes milliseconds in any world and can be done at the moment of the commit.
 */
export function changesBetween(
  from: ReadonlyMap<Uuid, StoredResource>,
  to: ReadonlyMap<Uuid, StoredResource>,
): WorldDifference {
  const put: StoredResource[] = [];
  const remove: Uuid[] = [];
  for (const [id, record] of to) if (from.get(id) !== record) put.push(record);
  for (const id of from.keys()) if (!to.has(id)) remove.push(id);
  return { put, remove };
}

/** The same of worlds of which the first may change meanwhile; others have their turn. Whoever wants to rely on it looks whether it has. */
export async function changesInTurns(
  from: ReadonlyMap<Uuid, StoredResource>,
  to: ReadonlyMap<Uuid, StoredResource>,
): Promise<WorldDifference> {
  const put: StoredResource[] = [];
  const remove: Uuid[] = [];
  await inTurns(to, ([id, record]) => from.get(id) !== record && put.push(record));
  await inTurns(from.keys(), (id) => !to.has(id) && remove.push(id));
  return { put, remove };
}

/**
 * A world that was read from a file, with the present records in place of those that equal them: what `changesBetween`
 * wants. It takes its time, and lets others have their turn.
 */
export async function sharingRecords(
  world: ReadonlyMap<Uuid, StoredResource>,
  present: ReadonlyMap<Uuid, StoredResource>,
): Promise<Map<Uuid, StoredResource>> {
  const shared = new Map<Uuid, StoredResource>();
  await inTurns(world, ([id, record]) => {
    const now = present.get(id);
    // Its own id, too, where it is here: what is the same is found sooner than what only reads the same.
    shared.set(now?.id ?? id, now && isDeepStrictEqual(now, record) ? now : record);
  });
  return shared;
}
