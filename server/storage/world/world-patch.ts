import { isDeepStrictEqual } from 'node:util';
import jsonPatch, { type Operation } from 'fast-json-patch';
import type { Change } from '../../model/commit.ts';
import { PlatformError } from '../../model/errors.ts';
import { stepTo } from '../../model/patch/pointer.ts';
import { isUuid, type StoredResource, type Uuid } from '../../model/record.ts';

const { applyPatch, deepClone, JsonPatchError } = jsonPatch;

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
  const difference = differenceBetween(before, next, path);
  if (!difference) return undefined;
  const { after, ops, inverse } = difference;
  if (after.id !== id) throw new PlatformError('patch_not_applicable', `${path}/id must be ${id}`);
  return { change: { before, after }, ops, inverse };
}

/** The new object or array, and the operations in both directions, like those of `compare` and in its order. */
interface Difference<T> {
  after: T;
  ops: Operation[];
  inverse: Operation[];
}

/** Most members are unchanged, so nothing is created before the first difference. */
function differenceBetween<T extends object>(before: T, next: T, path: string): Difference<T> | undefined {
  if (before === next) return undefined;
  const [had, has] = [before, next] as [Members, Members];
  let draft: DifferenceDraft | undefined;
  const names = Object.keys(before);
  for (let i = names.length - 1; i >= 0; i--) {
    const name = names[i] as string; // one of them
    const old = had[name];
    const value = Object.hasOwn(has, name) ? has[name] : undefined;
    if (old === value) continue;
    const at = path + stepTo(name);
    const isWithin = isNode(old) && isNode(value) && Array.isArray(old) === Array.isArray(value);
    const below = isWithin ? differenceBetween(old, value, at) : undefined;
    if (isWithin && !below) continue;
    draft ??= beginFrom(had);
    if (below) {
      draft.after[name] = below.after;
      draft.ops.push(...below.ops);
      draft.back.set(name, below.inverse);
    } else if (value === undefined) {
      if (Array.isArray(draft.after)) draft.after.length -= 1;
      else delete draft.after[name];
      draft.ops.push({ op: 'remove', path: at });
      draft.removals.unshift({ op: 'add', path: at, value: old });
    } else {
      const copy = deepClone(value);
      draft.after[name] = copy;
      draft.ops.push({ op: 'replace', path: at, value: copy });
      draft.back.set(name, [{ op: 'replace', path: at, value: old }]);
    }
  }
  for (const name of Object.keys(next)) {
    if (has[name] === undefined || Object.hasOwn(before, name)) continue;
    draft ??= beginFrom(had);
    const copy = deepClone(has[name]);
    const at = path + stepTo(name);
    draft.after[name] = copy;
    draft.ops.push({ op: 'add', path: at, value: copy });
    draft.back.set(name, [{ op: 'remove', path: at }]);
  }
  if (!draft) return undefined;
  const { after, ops, back, removals } = draft;
  const inverse: Operation[] = [];
  for (const name of Object.keys(after).reverse()) inverse.push(...(back.get(name) ?? []));
  inverse.push(...removals);
  return { after: after as T, ops, inverse };
}

type Members = Record<string, unknown>;

/** A difference in progress: the inverse operations for existing members and for removed ones. */
interface DifferenceDraft {
  after: Members;
  ops: Operation[];
  back: Map<string, Operation[]>;
  removals: Operation[];
}

function beginFrom(before: Members): DifferenceDraft {
  const after = (Array.isArray(before) ? [...before] : { ...before }) as Members; // the original of the copy
  return { after, ops: [], back: new Map(), removals: [] };
}

function isNode(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/** Computes the changes that operations make, on copies. Throws 422 if an operation does not apply. */
export function tryOperations(resources: Resources, operations: readonly Operation[]): Change[] {
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

type Resources = ReadonlyMap<Uuid, StoredResource>;

export interface WorldDifference {
  put: StoredResource[];
  remove: Uuid[];
}

/** The changes from one world to another. Records that are the same objects, as nearly all of a past world are, take no time. */
export function changesBetween(from: Resources, to: Resources): WorldDifference {
  return {
    put: [...to.values()].filter((record) => !isDeepStrictEqual(from.get(record.id), record)),
    remove: [...from.keys()].filter((id) => !to.has(id)),
  };
}
