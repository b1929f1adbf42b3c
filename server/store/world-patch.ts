import jsonPatch, { type Operation } from 'fast-json-patch';
import type { Change } from '../model/commit.ts';
import { PlatformError } from '../model/errors.ts';
import { isUuid, type Uuid } from '../model/ids.ts';
import { segmentsOf } from '../model/pointer.ts';
import type { StoredResource } from '../model/record.ts';

const { applyPatch, compare, deepClone, JsonPatchError } = jsonPatch;

const ROOT = '/resources/';

/** The operations on the world that turn one state of a resource into another; undefined stands for "not there". */
export function operationsBetween(
  id: Uuid,
  before: StoredResource | undefined,
  after: StoredResource | undefined,
): Operation[] {
  const path = ROOT + id;
  if (before && after) {
    return compare(before, after).map((operation) => ({ ...operation, path: path + operation.path }));
  }
  if (after) return [{ op: 'add', path, value: deepClone(after) }];
  return before ? [{ op: 'remove', path }] : [];
}

/**
 * What a record becomes, and the operations to and fro: one compare each way, and a copy of nothing but what changes, so that the
 * rest stands where it stood and is shared. Neither may be changed afterwards.
 *
 * @returns undefined when nothing changes
 */
export function changeBetween(
  id: Uuid,
  before: StoredResource | undefined,
  wanted: StoredResource | undefined,
): { change: Change; ops: Operation[]; inverse: Operation[] } | undefined {
  const path = ROOT + id;
  if (!before) {
    if (!wanted) return undefined;
    const after = deepClone(wanted);
    return { change: { after }, ops: [{ op: 'add', path, value: after }], inverse: [{ op: 'remove', path }] };
  }
  if (!wanted)
    return { change: { before }, ops: [{ op: 'remove', path }], inverse: [{ op: 'add', path, value: before }] };
  const within = compare(before, wanted);
  if (within.length === 0) return undefined;
  const after = patched(before, within);
  if (after.id !== id) throw new PlatformError(422, `${path}/id must be ${id}`);
  const below = (operations: readonly Operation[]) =>
    operations.map((operation) => ({ ...operation, path: path + operation.path }));
  return { change: { before, after }, ops: below(within), inverse: below(compare(after, before)) };
}

/** A record after operations of `compare`: add, replace and remove of places that are there. */
function patched(record: StoredResource, operations: readonly Operation[]): StoredResource {
  const own = new Set<object>();
  const copied = <T extends object>(value: T): T => {
    if (own.has(value)) return value;
    const copy = (Array.isArray(value) ? [...value] : { ...value }) as T; // what it is a copy of
    own.add(copy);
    return copy;
  };
  const after = copied(record);
  for (const operation of operations) {
    const segments = segmentsOf(operation.path);
    const last = segments.pop() ?? '';
    let at = after as unknown as Record<string, unknown>; // a record is JSON, and so is all in it
    for (const segment of segments) {
      const below = copied(at[segment] as Record<string, unknown>);
      at[segment] = below;
      at = below;
    }
    if (operation.op === 'remove') {
      if (Array.isArray(at)) at.splice(Number(last), 1);
      else delete at[last];
    } else if ('value' in operation) {
      if (operation.op === 'add' && Array.isArray(at)) at.splice(Number(last), 0, operation.value);
      else at[last] = operation.value;
    }
  }
  return after;
}

/**
 * What operations would do to the world, without doing it. Neither the present records nor the operations' values are
 * touched or shared: each resource that is named is copied, and the patch is applied to the copies.
 *
 * @returns one change for each resource that is different afterwards, and the operations that undo them all: the last
 *   one first, so that what was removed comes back after its parent
 * @throws PlatformError 422 when an operation does not fit the present world or reaches outside its resources
 */
export function tryOperations(
  resources: ReadonlyMap<Uuid, StoredResource>,
  operations: readonly Operation[],
): { changes: Change[]; inverse: Operation[] } {
  const ids = new Set(operations.flatMap(idsNamedIn));
  const copies: Record<Uuid, StoredResource> = {};
  for (const id of ids) {
    const record = resources.get(id);
    if (record) copies[id] = deepClone(record);
  }
  try {
    applyPatch({ resources: copies }, deepClone(operations), true);
  } catch (error) {
    throw notApplicable(error);
  }
  const changes: Change[] = [];
  const inverse: Operation[] = [];
  for (const id of ids) {
    const before = resources.get(id);
    const after = copies[id];
    const back = operationsBetween(id, after, before);
    if (back.length === 0) continue;
    if (after && after.id !== id) throw new PlatformError(422, `${ROOT}${id}/id must be ${id}`);
    changes.push({ ...(before && { before }), ...(after && { after }) });
    inverse.unshift(...back);
  }
  return { changes, inverse };
}

/** Makes changes in the world's resources. Records are replaced, never changed in place. */
export function applyChanges(resources: Map<Uuid, StoredResource>, changes: readonly Change[]): void {
  for (const { before, after } of changes) {
    if (after) resources.set(after.id, after);
    else if (before) resources.delete(before.id);
  }
}

function idsNamedIn(operation: Operation): Uuid[] {
  const pointers = 'from' in operation ? [operation.path, operation.from] : [operation.path];
  return pointers.map((pointer) => {
    const id = pointer.startsWith(ROOT) ? pointer.slice(ROOT.length).split('/', 1)[0] : undefined;
    if (isUuid(id)) return id;
    throw new PlatformError(422, `a commit changes only what is below ${ROOT}<id>, not '${pointer.slice(0, 200)}'`);
  });
}

function notApplicable(error: unknown): PlatformError {
  // Its message carries the whole document; name, index and path say enough.
  const reason =
    error instanceof JsonPatchError
      ? `operation ${error.index} (${error.operation?.op} ${error.operation?.path}): ${error.name}`
      : String(error);
  return new PlatformError(422, `the operations do not fit the present world, ${reason}`, { cause: error });
}
