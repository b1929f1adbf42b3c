import { isDeepStrictEqual } from 'node:util';
import type { StoredResource, Uuid } from '../../model/record.ts';

type Resources = ReadonlyMap<Uuid, StoredResource>;

export interface WorldDifference {
  put: StoredResource[];
  remove: Uuid[];
}

/** The changes from one world to another. Nearly all records of a past world are the same objects, so this takes milliseconds. */
export function changesBetween(from: Resources, to: Resources): WorldDifference {
  return {
    put: [...to].flatMap(([id, record]) => (from.get(id) === record ? [] : [record])),
    remove: [...from.keys()].filter((id) => !to.has(id)),
  };
}

/** A world from a file in which equal records are replaced by the current ones, as `changesBetween` needs it. */
export function sharingRecords(world: Resources, present: Resources): Map<Uuid, StoredResource> {
  const shared = new Map<Uuid, StoredResource>();
  for (const [id, record] of world) {
    const now = present.get(id);
    shared.set(id, now && isDeepStrictEqual(now, record) ? now : record);
  }
  return shared;
}
