import { isJsonObject } from '../../../../server/model/json.ts';
import { stepTo } from '../../../../server/model/patch/pointer.ts';

/** A place that two have changed in different ways. A side that has nothing there has no member of that name. */
export interface Conflict {
  /** JSON pointer, e.g. `/properties/env/NAME`. */
  pointer: string;
  base?: unknown;
  mine?: unknown;
  theirs?: unknown;
}

export interface Merge {
  /** The changes of both sides; for conflicts the chosen side, by default mine. */
  merged: unknown;
  conflicts: Conflict[];
}

type Choice = 'mine' | 'theirs';
type Choices = Readonly<Record<string, Choice>>;

/** Represents a missing member; undefined could be an existing one. */
const ABSENT = Symbol('absent');
type Side = unknown | typeof ABSENT;

/**
 * Puts together what two have made of one document. Objects are compared member by member; lists and everything else are one
 * piece: who moves and who changes an entry cannot both be right.
 *
 * @param chosen which side to keep in a conflict, by pointer
 */
export function mergeThreeWay(base: unknown, localValue: unknown, remoteValue: unknown, chosen: Choices = {}): Merge {
  const merge: Merge = { merged: undefined, conflicts: [] };
  merge.merged = mergeAt('', base, localValue, remoteValue, chosen, merge);
  return merge;
}

function mergeAt(pointer: string, base: Side, localValue: Side, remoteValue: Side, chosen: Choices, into: Merge): Side {
  if (isSame(localValue, remoteValue) || isSame(remoteValue, base)) return localValue;
  if (isSame(localValue, base)) return remoteValue;
  if (isJsonObject(localValue) && isJsonObject(remoteValue) && (isJsonObject(base) || base === ABSENT)) {
    const merged: [string, unknown][] = [];
    const from = isJsonObject(base) ? base : {};
    for (const name of new Set([...Object.keys(from), ...Object.keys(localValue), ...Object.keys(remoteValue)])) {
      const below = pointer + stepTo(name);
      const value = mergeAt(
        below,
        sideOf(from, name),
        sideOf(localValue, name),
        sideOf(remoteValue, name),
        chosen,
        into,
      );
      if (value !== ABSENT) merged.push([name, value]);
    }
    return Object.fromEntries(merged);
  }
  into.conflicts.push({
    pointer,
    ...(base !== ABSENT && { base }),
    ...(localValue !== ABSENT && { mine: localValue }),
    ...(remoteValue !== ABSENT && { theirs: remoteValue }),
  });
  return chosen[pointer] === 'theirs' ? remoteValue : localValue;
}

function sideOf(object: Readonly<Record<string, unknown>>, name: string): Side {
  return Object.hasOwn(object, name) ? object[name] : ABSENT;
}

/** Are two values the same JSON? The order of members does not matter. */
export function isSame(first: unknown, second: unknown): boolean {
  if (Object.is(first, second)) return true;
  if (typeof first !== 'object' || typeof second !== 'object' || first === null || second === null) return false;
  if (Array.isArray(first) || Array.isArray(second)) {
    return (
      Array.isArray(first) &&
      Array.isArray(second) &&
      first.length === second.length &&
      first.every((value, index) => isSame(value, second[index]))
    );
  }
  const [firstEntries, secondMembers] = [Object.entries(first), new Map(Object.entries(second))];
  return (
    firstEntries.length === secondMembers.size &&
    firstEntries.every(([name, value]) => secondMembers.has(name) && isSame(value, secondMembers.get(name)))
  );
}
