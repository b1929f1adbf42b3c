import { isDeepStrictEqual } from 'node:util';
import jsonPatch, { type Operation } from 'fast-json-patch';
import type { Commit } from '../../model/commit.ts';
import type { ErrorDetail } from '../../model/errors.ts';
import { isJsonObject, memberOf } from '../../model/json.ts';
import { segmentsOf, valueAt } from '../../model/patch/pointer.ts';
import type { ResourcesById, StoredResource, WorldView } from '../../model/record.ts';
import { tryOperations, type WorldDifference } from './world-patch.ts';

const { applyPatch, compare, deepClone } = jsonPatch;

/** The plan to undo one commit in the current world, or the later changes that prevent it. */
export interface RevertPlan extends WorldDifference {
  /** Pointers into the world; the plan is valid only if there are none. */
  conflicts: ErrorDetail[];
}

/**
 * Returns whether a commit can still be undone, or is undone already, from its operations alone: `planRevert` needs the
 * world after the commit, which takes long to restore for an old one. The time of the last change does not count.
 */
export function revertState(
  { ops, inverse }: Pick<Commit, 'ops' | 'inverse'>,
  present: Pick<WorldView, 'find'>,
): 'undoable' | 'undone' | 'changed-since' {
  const areInPlace = (operations: readonly Operation[]) =>
    operations.every(({ path, ...operation }) => {
      const [, id = '', ...segments] = segmentsOf(path);
      if (segments[0] === 'modified') return true;
      const value = valueAt(present.find(id), segments);
      return isDeepStrictEqual(value, 'value' in operation ? operation.value : undefined);
    });
  return areInPlace(inverse) ? 'undone' : areInPlace(ops) ? 'undoable' : 'changed-since';
}

/** Plans to undo an older commit: its changes must still be as in `resourcesAfter`, the world right after it. An array counts as one value. */
export function planRevert(
  commit: Pick<Commit, 'inverse'>,
  resourcesAfter: ResourcesById,
  present: ResourcesById,
): RevertPlan {
  const plan: RevertPlan = { put: [], remove: [], conflicts: [] };
  for (const { before: after, after: before } of tryOperations(resourcesAfter, commit.inverse)) {
    const id = (after ?? before)?.id ?? '';
    const now = present.get(id);
    if (isDeepStrictEqual(now, before)) continue;
    if (isDeepStrictEqual(now, after)) {
      if (before) plan.put.push(before);
      else plan.remove.push(id);
    } else if (after && now) {
      const { record, conflicts } = before
        ? merged(before, after, now)
        : { record: now, conflicts: pathsOf(after, now) };
      if (before) plan.put.push(record);
      const since = conflicts.map((path) => ({ pointer: `/resources/${id}${path}`, message: 'was changed since' }));
      plan.conflicts.push(...since);
    } else {
      const message = now ? 'was created again since' : 'was removed since';
      plan.conflicts.push({ pointer: `/resources/${id}`, message });
    }
  }
  return plan;
}

/** The current record with the changes of a commit undone, and the pointers to values that were changed since. */
function merged(
  before: StoredResource,
  after: StoredResource,
  now: StoredResource,
): { record: StoredResource; conflicts: string[] } {
  // The author of the last change belongs to the current record.
  const restored = { ...before, modified: after.modified };
  const operations = compare(after, restored).filter(({ path }) => !isSameAt(restored, now, path));
  const conflicts = operations.map(({ path }) => path).filter((path) => !isSameAt(after, now, path));
  const record = deepClone(now);
  if (conflicts.length === 0) applyPatch(record, deepClone(operations));
  return { record, conflicts };
}

const pathsOf = (before: object, after: object) => compare(before, after).map(({ path }) => path);

/** Are two documents equal in everything that an operation at the pointer depends on? */
function isSameAt(a: unknown, b: unknown, pointer: string): boolean {
  let [x, y]: unknown[] = [a, b];
  for (const segment of segmentsOf(pointer)) {
    if (!isJsonObject(x) || !isJsonObject(y)) break;
    [x, y] = [memberOf(x, segment), memberOf(y, segment)];
  }
  return isDeepStrictEqual(x, y);
}
