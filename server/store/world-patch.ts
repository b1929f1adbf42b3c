import jsonPatch, { type Operation } from 'fast-json-patch';
import type { Change } from '../model/commit.ts';
import { PlatformError } from '../model/errors.ts';
import { isUuid, type Uuid } from '../model/ids.ts';
import { stepTo } from '../model/pointer.ts';
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
 * What a record becomes, and the operations to and fro: one walk through both, and a copy of nothing but what changes, so that the
 * rest stands where it stood and is shared. None of them may be changed afterwards.
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
  const difference = differenceBetween(before, wanted, path);
  if (!difference) return undefined;
  const { after, ops, inverse } = difference;
  if (after.id !== id) throw new PlatformError(422, `${path}/id must be ${id}`);
  return { change: { before, after }, ops, inverse };
}

/** What an object or an array becomes, and the operations to and fro, as `compare` finds them and in its order. */
interface Difference<T> {
  after: T;
  ops: Operation[];
  inverse: Operation[];
}

/** Most members stay what they are: nothing is made before something differs. */
function differenceBetween<T extends object>(before: T, wanted: T, path: string): Difference<T> | undefined {
  if (before === wanted) return undefined;
  const [had, has] = [before, wanted] as [Members, Members];
  let made: Made | undefined;
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
    made ??= beginFrom(had);
    if (below) {
      made.after[name] = below.after;
      made.ops.push(...below.ops);
      made.back.set(name, below.inverse);
    } else if (value === undefined) {
      if (Array.isArray(made.after)) made.after.length -= 1;
      else delete made.after[name];
      made.ops.push({ op: 'remove', path: at });
      made.gone.unshift({ op: 'add', path: at, value: old });
    } else {
      const copy = deepClone(value);
      made.after[name] = copy;
      made.ops.push({ op: 'replace', path: at, value: copy });
      made.back.set(name, [{ op: 'replace', path: at, value: old }]);
    }
  }
  for (const name of Object.keys(wanted)) {
    if (has[name] === undefined || Object.hasOwn(before, name)) continue;
    made ??= beginFrom(had);
    const copy = deepClone(has[name]);
    const at = path + stepTo(name);
    made.after[name] = copy;
    made.ops.push({ op: 'add', path: at, value: copy });
    made.back.set(name, [{ op: 'remove', path: at }]);
  }
  if (!made) return undefined;
  const { after, ops, back, gone } = made;
  const inverse: Operation[] = [];
  for (const name of Object.keys(after).reverse()) inverse.push(...(back.get(name) ?? []));
  inverse.push(...gone);
  return { after: after as T, ops, inverse };
}

type Members = Record<string, unknown>;

/** A difference while it is being found: what leads back to the members that are still there, and to those that are gone. */
interface Made {
  after: Members;
  ops: Operation[];
  back: Map<string, Operation[]>;
  gone: Operation[];
}

function beginFrom(before: Members): Made {
  const after = (Array.isArray(before) ? [...before] : { ...before }) as Members; // what it is a copy of
  return { after, ops: [], back: new Map(), gone: [] };
}

function isNode(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
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
