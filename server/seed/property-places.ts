import { isJsonObject, type Json, type JsonObject } from '../model/json.ts';

/** Member names and indices from a resource's properties down; `*` is every member or element. */
export type Place = readonly string[];

/** The place written with dots, e.g. `users.*`. */
export function place(at: string): Place {
  return at.split('.');
}

/**
 * A copy of a resource's properties in which what stands at a place is replaced; nothing happens where there is nothing.
 *
 * @param replace gets the value and its path in the properties
 */
export function replaceAt(
  properties: JsonObject,
  at: Place,
  replace: (value: Json, path: readonly string[]) => Json,
  path: readonly string[] = [],
): JsonObject {
  const [part, ...rest] = at;
  return Object.fromEntries(
    Object.entries(properties).map(([name, member]) => [
      name,
      part === '*' || part === name ? replaceWithin(member, rest, replace, [...path, name]) : member,
    ]),
  );
}

function replaceWithin(
  value: Json,
  at: Place,
  replace: (value: Json, path: readonly string[]) => Json,
  path: readonly string[],
): Json {
  if (at.length === 0) return replace(value, path);
  if (isJsonObject(value)) return replaceAt(value, at, replace, path);
  if (!Array.isArray(value) || at[0] !== '*') return value;
  return value.map((element, index) => replaceWithin(element, at.slice(1), replace, [...path, String(index)]));
}
