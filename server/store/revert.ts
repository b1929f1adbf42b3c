import { isDeepStrictEqual } from 'node:util';
import jsonPatch from 'fast-json-patch';
import type { Commit } from '../model/commit.ts';
import type { ErrorDetail } from '../model/errors.ts';
import type { Uuid } from '../model/ids.ts';
import { segmentsOf } from '../model/pointer.ts';
import type { StoredResource } from '../model/record.ts';
import { operationsBetween, tryOperations } from './world-patch.ts';

const { applyPatch, deepClone } = jsonPatch;

/** What undoes one commit in the present world, or what later commits have put in its way. */
export interface RevertPlan {
  put: StoredResource[];
  remove: Uuid[];
  /** Pointers into the world; the plan holds only if there are none. */
  conflicts: ErrorDetail[];
}

/**
 * Plans to undo one commit where it is not the last: what it changed has to be as it left it, whatever else has changed.
 * Elements of an array are known by their place, so an array counts as one value.
 *
 * @param left the world right after the commit
 */
export function planRevert(
  commit: Pick<Commit, 'inverse'>,
  left: ReadonlyMap<Uuid, StoredResource>,
  present: ReadonlyMap<Uuid, StoredResource>,
): RevertPlan {
  const plan: RevertPlan = { put: [], remove: [], conflicts: [] };
  for (const { before: after, after: before } of tryOperations(left, commit.inverse).changes) {
    const id = (after ?? before)?.id ?? '';
    const now = present.get(id);
    if (isDeepStrictEqual(now, before)) continue;
    if (isDeepStrictEqual(now, after)) {
      if (before) plan.put.push(before);
      else plan.remove.push(id);
    } else if (after && now) {
      const { record, conflicts } = before ? merged(before, after, now) : { record: now, conflicts: [] };
      if (before) plan.put.push(record);
      const since = before ? conflicts : operationsBetween(id, after, now).map(({ path }) => path);
      plan.conflicts.push(...since.map((pointer) => ({ pointer, message: 'was changed since' })));
    } else {
      const message = now ? 'was created again since' : 'was removed since';
      plan.conflicts.push({ pointer: `/resources/${id}`, message });
    }
  }
  return plan;
}

/** The present record with what a commit changed as it was before, and the pointers where that was changed since. */
function merged(
  before: StoredResource,
  after: StoredResource,
  now: StoredResource,
): { record: StoredResource; conflicts: string[] } {
  const base = `/resources/${now.id}`;
  // Who changed it last is a fact about the present record.
  const operations = operationsBetween(now.id, after, { ...before, modified: after.modified });
  const inRecord = operations.map((operation) => ({ ...operation, path: operation.path.slice(base.length) }));
  const conflicts = inRecord.flatMap(({ path }) => (isSameAt(after, now, path) ? [] : [base + path]));
  const record = deepClone(now);
  if (conflicts.length === 0) applyPatch(record, deepClone(inRecord));
  return { record, conflicts };
}

/** Do two documents agree on what an operation at the pointer stands on? */
function isSameAt(a: unknown, b: unknown, pointer: string): boolean {
  const segments = segmentsOf(pointer);
  let [x, y]: unknown[] = [a, b];
  for (const segment of segments) {
    if (Array.isArray(x) || !isObject(x) || !isObject(y) || Array.isArray(y)) break;
    x = Object.hasOwn(x, segment) ? x[segment] : undefined;
    y = Object.hasOwn(y, segment) ? y[segment] : undefined;
  }
  return isDeepStrictEqual(x, y);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
