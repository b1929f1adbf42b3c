import type { z } from 'zod';
import { type Json, type JsonObject, memberOf } from '../json.ts';
import { pointerTo } from '../patch/pointer.ts';
import {
  type OnDelete,
  type ReferenceFact,
  type ReferenceTarget,
  referenceFacts,
  spellings,
} from '../property-facts.ts';
import { isUuid, type StoredResource, type Uuid } from '../record.ts';
import { typeOf, typeOfWord } from '../registry.ts';
import type { ResourceType } from '../resource-type.ts';
import type { TypeWord } from '../type-words.ts';
import { locate, type Place, placesOf, replaceAt, withoutEntries } from './property-places.ts';

export interface Reference {
  id: Uuid;
  pointer: string;
  target: ReferenceTarget;
  fact: ReferenceFact;
}

type Properties = Pick<StoredResource, 'type' | 'properties'>;

const known = new Map<ResourceType, { at: Place; fact: ReferenceFact }[]>();

function referencePlaces(type: ResourceType): { at: Place; fact: ReferenceFact }[] {
  let places = known.get(type);
  if (!places) {
    places = placesOf(type.properties, referenceFacts, (name, schema) => {
      const spelling = spellings.get(innermost(schema));
      return spelling ? new RegExp(spelling.pattern) : name;
    });
    known.set(type, places);
  }
  return places;
}

/** Names of the properties that are the id of an existing resource, or a link to one. */
export function idProperties(type: ResourceType): string[] {
  const links = referencePlaces(type).filter(({ at, fact }) => {
    return fact.missing !== undefined && (at.length === 1 || (at.length === 2 && at[1] === 'id'));
  });
  return links.map(({ at }) => String(at[0]));
}

function innermost(schema: z.core.$ZodType): z.core.$ZodType {
  const { innerType } = schema._zod.def as { innerType?: z.core.$ZodType };
  return innerType ? innermost(innerType) : schema;
}

function targetOf({ to }: ReferenceFact, properties: JsonObject): ReferenceTarget | undefined {
  return 'word' in to ? to : to.targets[String(memberOf(properties, to.decidedBy))];
}

/** All references in the properties of a record, except for unused ones (`isStoredOnly`). */
export function referencesIn(record: Properties): Reference[] {
  const { properties } = record;
  return referencePlaces(typeOf(record)).flatMap(({ at, fact }) => {
    const target = fact.isStoredOnly ? undefined : targetOf(fact, properties);
    if (!target) return [];
    return locate(properties, at).flatMap(({ value, path }) =>
      isUuid(value) ? [{ id: value.toLowerCase(), pointer: pointerTo(path, '/properties'), target, fact }] : [],
    );
  });
}

export function referencesOf(record: Properties): Uuid[] {
  const { properties } = record;
  return referencePlaces(typeOf(record)).flatMap(({ at, fact }) =>
    fact.isStoredOnly
      ? []
      : locate(properties, at).flatMap(({ value }) => (isUuid(value) ? [value.toLowerCase()] : [])),
  );
}

/** What a reference does when its target is deleted. `follows` and `unmounted` block an unforced deletion. */
export function onDelete(record: Properties, gone: Uuid): OnDelete | undefined {
  const found = new Set(referencesIn(record).flatMap(({ id, fact }) => (id === gone ? fact.onDelete : [])));
  return (['follows', 'unmounted', 'forgets', 'keeps'] as const).find((one) => found.has(one));
}

/** The properties of a record without the references that `forget` a deleted resource; undefined if there are none. */
export function withoutReference(record: Properties, gone: Uuid): JsonObject | undefined {
  const forgotten = referencesIn(record).some(
    ({ id, fact }) => id === gone && (fact.onDelete === 'forgets' || fact.onDelete === 'unmounted'),
  );
  if (!forgotten) return undefined;
  const isGone = (value: Json) => typeof value === 'string' && value.toLowerCase() === gone;
  return referencePlaces(typeOf(record)).reduce(
    (properties, { at, fact: { onDelete } }) =>
      onDelete === 'forgets' || onDelete === 'unmounted' ? withoutEntries(properties, at, isGone) : properties,
    record.properties,
  );
}

export function replaceReferences(
  word: TypeWord,
  properties: JsonObject,
  replace: (text: string, words: readonly TypeWord[], path: readonly string[]) => string,
): JsonObject {
  return referencePlaces(typeOfWord(word)).reduce((copy, { at, fact }) => {
    const target = targetOf(fact, properties);
    if (!target) return copy;
    return replaceAt(copy, at, (value, path) =>
      typeof value === 'string' ? replace(value, [target.word], path) : value,
    );
  }, properties);
}

/** The ids that a record refers to: in its properties, and as identities of its entitlements. */
export function namedBy(record: StoredResource): Uuid[] {
  const grants = Object.values(record.grants ?? {});
  return [...referencesOf(record), ...grants.flatMap(({ add = [], remove = [] }) => [...add, ...remove])];
}

/** What `WorldView.referrers` finds a record by: the ids that it refers to, and its keys. */
export function foundBy(record: StoredResource): string[] {
  return [...namedBy(record), ...(typeOf(record).keys?.(record) ?? [])];
}
