import type { Operation } from 'fast-json-patch';
import type { Commit } from './commit.ts';
import { isJsonObject, type Json, type JsonObject, memberOf } from './json.ts';
import { segmentsOf } from './pointer.ts';
import { replaceWithin } from './property-places.ts';
import type { StoredResource } from './record.ts';
import { fullNamesOf, resourceTypes } from './registry.ts';
import type { ResourceType } from './resource-type.ts';
import { secretPlaces } from './secrets.ts';

/** Stands for a value that nobody may read: a password's hash, a secret's values, a provider's credentials (D-029, D-066). */
export const HIDDEN = '<hidden>';

/** Member names from a record down; `*` is every element. */
type Place = readonly string[];

function placesOf(type: ResourceType): Place[] {
  return secretPlaces(type).map(({ at }) => ['properties', ...at.map(String)]);
}

const placesByType = new Map(
  resourceTypes.flatMap((type) => fullNamesOf(type).map((name) => [name, placesOf(type)] as const)),
);
const allPlaces = resourceTypes.flatMap(placesOf);

/** What is hidden in records of a type; of a type that is not known, whatever any type hides. */
function hiddenIn(typeName: string | undefined): readonly Place[] {
  return placesByType.get(typeName ?? '') ?? allPlaces;
}

/** A record as it may be shown; the very same one when there is nothing to hide. */
export function maskedRecord(record: StoredResource): StoredResource {
  const hidden = hiddenIn(record.type);
  if (hidden.length === 0) return record;
  const properties = hidden.reduce<Json>((value, place) => hide(value, place.slice(1)), record.properties);
  return { ...record, properties: properties as JsonObject }; // hiding what is in an object leaves an object
}

/** A commit as it may be shown. That a hidden value was changed can be seen, what it was cannot. */
export function maskedCommit(commit: Commit, isSeen?: (id: string) => boolean): Commit {
  const typeNames = new Map(commit.resources.map(({ id, type }) => [id, type]));
  const masked = (operations: readonly Operation[]) => maskedOperations(operations, (id) => typeNames.get(id), isSeen);
  return { ...commit, ops: masked(commit.ops), inverse: masked(commit.inverse) };
}

/**
 * Operations on a world as they may be shown.
 *
 * @param typeNameOf the type of a resource, if it is known
 * @param isSeen may any value of that resource be read? Default: of all
 */
export function maskedOperations(
  operations: readonly Operation[],
  typeNameOf: (id: string) => string | undefined,
  isSeen: (id: string) => boolean = () => true,
): Operation[] {
  return operations.map((operation) => {
    if (!('value' in operation)) return operation;
    const [, id = '', ...segments] = segmentsOf(operation.path);
    if (!isSeen(id)) return { ...operation, value: HIDDEN };
    const value = hiddenIn(typeNameOf(id)).reduce<Json>(
      (at, place) => (leads(segments, place) ? hide(at, place.slice(segments.length)) : at),
      operation.value,
    );
    return { ...operation, value };
  });
}

/** Is the value at these segments what is at the place, above it, or within it? */
function leads(segments: readonly string[], place: Place): boolean {
  return segments.every((segment, at) => at >= place.length || place[at] === '*' || place[at] === segment);
}

/** Do the segments of a pointer into a record lead to, above or below a hidden place of any type? */
export function isHiddenPlace(segments: readonly string[]): boolean {
  return segments.length > 1 && allPlaces.some((place) => leads(segments, place));
}

/** A copy of a value in which what is at a place is hidden. */
function hide(value: Json, place: Place): Json {
  return replaceWithin(value, place, () => HIDDEN);
}

/** Does a record hold a value that was hidden from it? */
export function hasHidden(record: StoredResource): boolean {
  return hiddenIn(record.type).length > 0 && JSON.stringify(record.properties).includes(`"${HIDDEN}"`);
}

/** A record in which what was hidden is as in the stored one; what that does not have either stays hidden. */
export function unmaskedRecord(record: StoredResource, stored: StoredResource | undefined): StoredResource {
  if (!hasHidden(record)) return record;
  return { ...record, properties: reveal(record.properties, stored?.properties) as JsonObject }; // an object stays one
}

/** Elements of an array that have a `key` are known by it, others by their place. */
function reveal(value: Json, stored: Json | undefined): Json {
  if (value === HIDDEN) return stored ?? HIDDEN;
  if (Array.isArray(value)) {
    const others = Array.isArray(stored) ? stored : [];
    return value.map((element, at) => {
      const key = memberOf(element, 'key');
      return reveal(element, key === undefined ? others[at] : others.find((one) => memberOf(one, 'key') === key));
    });
  }
  if (!isJsonObject(value)) return value;
  const members = Object.entries(value).map(([name, member]) => [name, reveal(member, memberOf(stored, name))]);
  return Object.fromEntries(members);
}
