import { isDeepStrictEqual } from 'node:util';
import jsonPatch, { type Operation } from 'fast-json-patch';
import type { Change } from '../../model/commit.ts';
import { PlatformError } from '../../model/errors.ts';
import { partCopier } from '../../model/patch/patch.ts';
import { isUuid, type ResourcesById, type StoredResource, type Uuid } from '../../model/record.ts';

const { applyOperation, applyPatch, compare, deepClone, JsonPatchError } = jsonPatch;

const ROOT = '/resources/';

/**
 * The change of a resource from one state to another, with the operations on the world. A state is undefined if the resource does not exist,
 * and the change if there is none. Unchanged parts are shared, so none may be changed afterwards.
 */
export function changeBetween(
  id: Uuid,
  before: StoredResource | undefined,
  next: StoredResource | undefined,
): { change: Change; ops: Operation[]; inverse: Operation[] } | undefined {
  const path = ROOT + id;
  if (!before) {
    if (!next) return undefined;
    const after = deepClone(next);
    return { change: { after }, ops: [{ op: 'add', path, value: after }], inverse: [{ op: 'remove', path }] };
  }
  if (!next)
    return { change: { before }, ops: [{ op: 'remove', path }], inverse: [{ op: 'add', path, value: before }] };
  const operations = compare(before, next);
  if (operations.length === 0) return undefined;
  const after = { ...before };
  const copySharedParts = partCopier(after);
  for (const operation of operations) {
    copySharedParts(operation.path);
    applyOperation(after, operation, false, true, false);
  }
  if (after.id !== id) throw new PlatformError('patch_not_applicable', `${path}/id must be ${id}`);
  const below = (operation: Operation) => ({ ...operation, path: path + operation.path });
  return { change: { before, after }, ops: operations.map(below), inverse: compare(after, before).map(below) };
}

/** Computes the changes that operations make, on copies. Throws 422 if an operation does not apply. */
export function tryOperations(resources: ResourcesById, operations: readonly Operation[]): Change[] {
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
  return [...ids].flatMap((id) => {
    const before = resources.get(id);
    const after = copies[id];
    if (isDeepStrictEqual(before, after)) return [];
    if (after && after.id !== id) throw new PlatformError('patch_not_applicable', `${ROOT}${id}/id must be ${id}`);
    return { ...(before && { before }), ...(after && { after }) };
  });
}

/** Applies changes to the resources of the world. Records are replaced and never changed in place. */
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
    throw new PlatformError(
      'patch_not_applicable',
      `a commit can only change values below ${ROOT}<id>; '${pointer.slice(0, 200)}' is not`,
    );
  });
}

function notApplicable(error: unknown): PlatformError {
  // Its message contains the whole document; name, index and path are sufficient.
  const reason =
    error instanceof JsonPatchError
      ? `operation ${error.index ?? 0} (${error.operation?.op} ${error.operation?.path}): ${error.name}`
      : String(error);
  return new PlatformError('patch_not_applicable', `the operations do not apply to the current world, ${reason}`, {
    cause: error,
  });
}

export interface WorldDifference {
  put: StoredResource[];
  remove: Uuid[];
}

/** The changes from one world to another. Records that are the same objects, as nearly all of a past world are, take no time. */
export function changesBetween(from: ResourcesById, to: ResourcesById): WorldDifference {
  return {
    put: [...to.values()].filter((record) => !isDeepStrictEqual(from.get(record.id), record)),
    remove: [...from.keys()].filter((id) => !to.has(id)),
  };
}
