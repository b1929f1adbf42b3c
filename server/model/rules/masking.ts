import type { Operation } from 'fast-json-patch';
import type { Commit } from '../commit.ts';
import { elementsOf, isJsonObject, type Json, type JsonObject, memberOf } from '../json.ts';
import { segmentsOf } from '../patch/pointer.ts';
import type { StoredResource } from '../record.ts';
import { fullNamesOf, resourceTypes } from '../registry.ts';
import type { ResourceType } from '../resource-type.ts';
import { replaceWithin } from './property-places.ts';
import { secretPlaces } from './secrets.ts';

/** Replacement for a secret value: the hash of a password, values of secrets, credentials of providers (D-029, D-066). */
export const HIDDEN = '<hidden>';

/** Member names from the record down; `*` is every element. */
type HiddenPath = readonly string[];

function placesOf(type: ResourceType): HiddenPath[] {
  return secretPlaces(type).map(({ at }) => ['properties', ...at.map(String)]);
}

const placesByType = new Map(
  resourceTypes.flatMap((type) => fullNamesOf(type).map((name) => [name, placesOf(type)] as const)),
);
const allPlaces = resourceTypes.flatMap(placesOf);

/** The hidden paths of records of a type; for an unknown type, those of all types. */
function hiddenIn(typeName: string | undefined): readonly HiddenPath[] {
  return placesByType.get(typeName ?? '') ?? allPlaces;
}

export function maskedRecord(record: StoredResource): StoredResource {
  const hidden = hiddenIn(record.type);
  if (hidden.length === 0) return record;
  const properties = hidden.reduce<Json>((value, hiddenPath) => hide(value, hiddenPath.slice(1)), record.properties);
  return { ...record, properties: properties as JsonObject }; // masking the content of an object returns an object
}

/** A commit with hidden values masked. The change of a hidden value stays visible. */
export function maskedCommit(commit: Commit, isSeen?: (id: string) => boolean): Commit {
  const typeNames = new Map(commit.resources.map(({ id, type }) => [id, type]));
  const masked = (operations: readonly Operation[]) => maskedOperations(operations, (id) => typeNames.get(id), isSeen);
  return { ...commit, ops: masked(commit.ops), inverse: masked(commit.inverse) };
}

/** Operations on a world with hidden values masked, and all values of resources that are not to be seen. */
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
      (at, hiddenPath) => (leads(segments, hiddenPath) ? hide(at, hiddenPath.slice(segments.length)) : at),
      operation.value,
    );
    return { ...operation, value };
  });
}

function leads(segments: readonly string[], hiddenPath: HiddenPath): boolean {
  return segments.every(
    (segment, at) => at >= hiddenPath.length || hiddenPath[at] === '*' || hiddenPath[at] === segment,
  );
}

/** True if the segments of a pointer into a record lead to, above or below a hidden path of any type. */
export function isHiddenPlace(segments: readonly string[]): boolean {
  return segments.length > 1 && allPlaces.some((hiddenPath) => leads(segments, hiddenPath));
}

function hide(value: Json, hiddenPath: HiddenPath): Json {
  return replaceWithin(value, hiddenPath, () => HIDDEN);
}

export function hasHidden(record: StoredResource): boolean {
  return hiddenIn(record.type).length > 0 && JSON.stringify(record.properties).includes(`"${HIDDEN}"`);
}

/** A record with masked values restored from the stored one; values missing there stay masked. */
export function unmaskedRecord(record: StoredResource, stored: StoredResource | undefined): StoredResource {
  if (!hasHidden(record)) return record;
  return { ...record, properties: reveal(record.properties, stored?.properties) as JsonObject }; // an object stays an object
}

/** Array elements with a `key` are identified by it, others by their index. */
function reveal(value: Json, stored: Json | undefined): Json {
  if (value === HIDDEN) return stored ?? HIDDEN;
  if (Array.isArray(value)) {
    const storedElements = elementsOf(stored);
    return value.map((element, at) => {
      const key = memberOf(element, 'key');
      return reveal(
        element,
        key === undefined
          ? storedElements[at]
          : storedElements.find((storedElement) => memberOf(storedElement, 'key') === key),
      );
    });
  }
  if (!isJsonObject(value)) return value;
  const members = Object.entries(value).map(([name, member]) => [name, reveal(member, memberOf(stored, name))]);
  return Object.fromEntries(members);
}
