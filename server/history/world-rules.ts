import { isDeepStrictEqual } from 'node:util';
import { type ErrorDetail, PlatformError } from '../model/errors.ts';
import type { Uuid } from '../model/ids.ts';
import type { StoredResource } from '../model/record.ts';
import { namedBy } from '../model/references.ts';
import { typeOf } from '../model/registry.ts';
import type { WriteLaws } from '../model/resource-type.ts';
import type { WorldView } from '../model/world-view.ts';
import { ChangedView } from './changed-view.ts';

/**
 * Why changes would leave no valid world: a parent, a named resource or a free name is missing, something would be left
 * without what it stands on, or the rules of its type refuse a record. Nothing is found when they can be made.
 */
export function offencesOf(
  view: WorldView,
  laws: WriteLaws,
  changes: { put: readonly StoredResource[]; remove: readonly Uuid[] },
): ErrorDetail[] {
  const after = new ChangedView(view, changes);
  return [
    ...changes.remove.flatMap((id) => offencesOfRemoval(view, after, id)),
    ...changes.put.flatMap((record) => offencesOfRecord(record, { previous: view.find(record.id), after, laws })),
  ];
}

function offencesOfRemoval(view: WorldView, after: WorldView, id: Uuid): ErrorDetail[] {
  const pointer = `/resources/${id}`;
  if (id === view.root.id || id === view.root.owner) {
    return [{ pointer, message: 'is the root organization or the root user, without which there is no platform' }];
  }
  const name = (one: StoredResource) => `${typeOf(one).noun} '${one.name}'`;
  return [
    ...after.children(id).map((one) => ({ pointer, message: `${name(one)} stands below it` })),
    ...after.referrers(id).map((one) => ({ pointer, message: `${name(one)} names it` })),
  ];
}

function offencesOfRecord(
  record: StoredResource,
  { previous, after, laws }: { previous: StoredResource | undefined; after: WorldView; laws: WriteLaws },
): ErrorDetail[] {
  const pointer = `/resources/${record.id}`;
  const type = typeOf(record);
  const offences: ErrorDetail[] = [];

  const parent = after.find(record.parent ?? '');
  if (!parent && record.parent !== null) {
    return [{ pointer: `${pointer}/parent`, message: `its parent ${record.parent} does not exist` }];
  }
  const scope = type.nameScope === 'world' ? undefined : (record.parent ?? undefined);
  const namesakes = after.named(type.word, record.name, scope).filter(({ id }) => id !== record.id);
  if (namesakes.length > 0) {
    offences.push({
      pointer: `${pointer}/name`,
      message: `the name '${record.name}' is taken by another ${type.noun}`,
    });
  }
  const named = new Set(previous && namedBy(previous));
  const missing = namedBy(record).filter((id) => !named.has(id) && !after.find(id));
  for (const id of new Set(missing)) offences.push({ pointer, message: `it names ${id}, which does not exist` });
  if (offences.length > 0 || !parent) return offences;

  if (previous && isDeepStrictEqual(previous.properties, record.properties) && previous.name === record.name) return [];
  try {
    type.admit?.(record, { ...laws, view: after, parent, ...(previous && { previous }) });
    return [];
  } catch (error) {
    if (error instanceof PlatformError) return [{ pointer, message: error.message }];
    throw error;
  }
}
