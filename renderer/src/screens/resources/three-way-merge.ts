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
export function mergeThreeWay(base: unknown, mine: unknown, theirs: unknown, chosen: Choices = {}): Merge {
  const merge: Merge = { merged: undefined, conflicts: [] };
  merge.merged = mergeAt('', base, mine, theirs, chosen, merge);
  return merge;
}

function mergeAt(pointer: string, base: Side, mine: Side, theirs: Side, chosen: Choices, into: Merge): Side {
  if (isSame(mine, theirs) || isSame(theirs, base)) return mine;
  if (isSame(mine, base)) return theirs;
  if (isJsonObject(mine) && isJsonObject(theirs) && (isJsonObject(base) || base === ABSENT)) {
    const merged: [string, unknown][] = [];
    const from = isJsonObject(base) ? base : {};
    for (const name of new Set([...Object.keys(from), ...Object.keys(mine), ...Object.keys(theirs)])) {
      const below = pointer + stepTo(name);
      const value = mergeAt(below, sideOf(from, name), sideOf(mine, name), sideOf(theirs, name), chosen, into);
      if (value !== ABSENT) merged.push([name, value]);
    }
    return Object.fromEntries(merged);
  }
  into.conflicts.push({
    pointer,
    ...(base !== ABSENT && { base }),
    ...(mine !== ABSENT && { mine }),
    ...(theirs !== ABSENT && { theirs }),
  });
  return chosen[pointer] === 'theirs' ? theirs : mine;
}

function sideOf(object: Readonly<Record<string, unknown>>, name: string): Side {
  return Object.hasOwn(object, name) ? object[name] : ABSENT;
}

/** Are two values the same JSON? The order of members does not matter. */
export function isSame(one: unknown, other: unknown): boolean {
  if (Object.is(one, other)) return true;
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false;
  if (Array.isArray(one) || Array.isArray(other)) {
    return (
      Array.isArray(one) &&
      Array.isArray(other) &&
      one.length === other.length &&
      one.every((value, index) => isSame(value, other[index]))
    );
  }
  const [mine, theirs] = [Object.entries(one), new Map(Object.entries(other))];
  return (
    mine.length === theirs.size && mine.every(([name, value]) => theirs.has(name) && isSame(value, theirs.get(name)))
  );
}
