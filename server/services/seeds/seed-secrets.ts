import { type Json, type JsonObject, memberOf } from '../../model/json.ts';

/** Placeholder in a document for a value that cannot be read; applying it keeps the stored value. A new user gets a random password. */
export const NOT_EXPORTED = '<not exported>';

/**
 * The stored value that the one at a path in other properties of that resource would take the place of: an item of a secret is known
 * by its key, at any position.
 */
export function storedSecret(stored: JsonObject, properties: JsonObject, path: readonly string[]): Json | undefined {
  const at = (properties: JsonObject, ...names: readonly string[]) =>
    names.reduce<Json | undefined>(
      (value, name) => (Array.isArray(value) ? value[Number(name)] : memberOf(value, name)),
      properties,
    );
  const [list, index, ...rest] = path;
  if (list !== 'items' || index === undefined) return at(stored, ...path);
  const { items } = stored;
  const key = at(properties, list, index, 'key');
  const item = Array.isArray(items) ? items.find((candidate) => memberOf(candidate, 'key') === key) : undefined;
  return item && at({ item }, 'item', ...rest);
}
