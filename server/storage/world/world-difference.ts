import { isDeepStrictEqual } from 'node:util';
import type { StoredResource, Uuid } from '../../model/record.ts';
import { yieldingForEach } from '../files/yielding.ts';

export interface WorldDifference {
  put: StoredResource[];
  remove: Uuid[];
}

/** The changes from one world to another. Nearly all records of a past world are the same objects, so this takes milliseconds. */
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

/** The same for worlds of which the first can change meanwhile; yields to other tasks. The caller must check whether it has changed. */
export async function changesInTurns(
  from: ReadonlyMap<Uuid, StoredResource>,
  to: ReadonlyMap<Uuid, StoredResource>,
): Promise<WorldDifference> {
  const put: StoredResource[] = [];
  const remove: Uuid[] = [];
  await yieldingForEach(to, ([id, record]) => from.get(id) !== record && put.push(record));
  await yieldingForEach(from.keys(), (id) => !to.has(id) && remove.push(id));
  return { put, remove };
}

/** A world from a file in which equal records are replaced by the current ones, as `changesBetween` needs it. Yields to other tasks. */
export async function sharingRecords(
  world: ReadonlyMap<Uuid, StoredResource>,
  present: ReadonlyMap<Uuid, StoredResource>,
): Promise<Map<Uuid, StoredResource>> {
  const shared = new Map<Uuid, StoredResource>();
  await yieldingForEach(world, ([id, record]) => {
    const now = present.get(id);
    // Also reuses the own id: comparing identical strings is faster.
    shared.set(now?.id ?? id, now && isDeepStrictEqual(now, record) ? now : record);
  });
  return shared;
}
