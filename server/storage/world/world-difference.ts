import { isDeepStrictEqual } from 'node:util';
import type { StoredResource, Uuid } from '../../model/record.ts';
import { yieldingForEach } from '../files/yielding.ts';

type Resources = ReadonlyMap<Uuid, StoredResource>;

export interface WorldDifference {
  put: StoredResource[];
  remove: Uuid[];
}

/** The changes from one world to another. Nearly all records of a past world are the same objects, so this takes milliseconds. */
export function* changesBetween(from: Resources, to: Resources): Generator<undefined, WorldDifference> {
  const put: StoredResource[] = [];
  const remove: Uuid[] = [];
  for (const [id, record] of to) {
    yield;
    if (from.get(id) !== record) put.push(record);
  }
  for (const id of from.keys()) {
    yield;
    if (!to.has(id)) remove.push(id);
  }
  return { put, remove };
}

/** A world from a file in which equal records are replaced by the current ones, as `changesBetween` needs it. Yields to other tasks. */
export async function sharingRecords(world: Resources, present: Resources): Promise<Map<Uuid, StoredResource>> {
  const shared = new Map<Uuid, StoredResource>();
  await yieldingForEach(world, ([id, record]) => {
    const now = present.get(id);
    // Also reuses the own id: comparing identical strings is faster.
    shared.set(now?.id ?? id, now && isDeepStrictEqual(now, record) ? now : record);
  });
  return shared;
}
