import { isDeepStrictEqual } from 'node:util';
import type { Operation } from 'fast-json-patch';
import { decodeText } from '../../model/base64-text.ts';
import type { Json, JsonObject } from '../../model/json.ts';
import { memberOf } from '../../model/json.ts';
import { pointerTo } from '../../model/patch/pointer.ts';
import type { StoredResource } from '../../model/record.ts';
import { typeOf } from '../../model/registry.ts';
import { replaceReferences } from '../../model/rules/references.ts';
import type { SeedNode } from './seed-node.ts';

/**
 * The JSON Patch that makes of a stored record what a node says: each member that the node has becomes what it is there, the
 * properties as a whole; a member that it has not stays. Empty when that is so already.
 *
 * @param properties of the node, with ids in place of references; undefined when it has none
 */
export function operationsTo(
  stored: StoredResource,
  { name, record }: Pick<SeedNode, 'name' | 'record'>,
  properties: JsonObject | undefined,
): Operation[] {
  const { description, tags, variables } = record;
  const newMembers = Object.entries({ name, description, tags, variables });
  const members = newMembers.flatMap(([member, value]) =>
    value === undefined || isDeepStrictEqual(value, memberOf(stored, member)) ? [] : [add(value, member)],
  );
  return [...members, ...(properties ? propertyOperations(stored, properties) : [])];
}

function propertyOperations(stored: StoredResource, properties: JsonObject): Operation[] {
  const type = typeOf(stored);
  const fixed = ['parent', ...type.serverSet];
  const [before, after] = [stored.properties, properties].map((propertySet) => comparable(stored, propertySet));
  const names = new Set([...Object.keys(stored.properties), ...Object.keys(properties)]);
  return [...names].flatMap((name): Operation[] => {
    const value = memberOf(properties, name) ?? null;
    if (fixed.includes(name) || isDeepStrictEqual(memberOf(before, name), memberOf(after, name))) return [];
    // A member that is null counts as absent (D-030).
    if (value !== null) return [add(value, 'properties', name)];
    return Object.hasOwn(stored.properties, name) ? [{ op: 'remove', path: pointerTo(['properties', name]) }] : [];
  });
}

function add(value: Json, ...path: string[]): Operation {
  return { op: 'add', path: pointerTo(path), value };
}

/** Properties in which what means the same is the same: ids in lower case, code as source (D-056). */
function comparable(record: StoredResource, properties: JsonObject): JsonObject {
  const { collection } = typeOf(record);
  const copy = replaceReferences(collection, properties, (text) => text.toLowerCase());
  return collection === 'lambdas' && typeof copy.code === 'string' ? { ...copy, code: decodeText(copy.code) } : copy;
}
