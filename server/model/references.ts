import type { z } from 'zod';
import { isUuid, type Uuid } from './ids.ts';
import { type Json, type JsonObject, memberOf } from './json.ts';
import { pointerTo } from './pointer.ts';
import { locate, type Place, placesOf, replaceAt, withoutEntries } from './property-places.ts';
import type { StoredResource } from './record.ts';
import {
  type ReferenceFact,
  type ReferenceTarget,
  referenceFacts,
  spellings,
  type WhenGone,
} from './reference-facts.ts';
import { typeOf, typeOfWord } from './registry.ts';
import type { ResourceType } from './resource-type.ts';
import type { TypeWord } from './type-words.ts';

/** One mention of another resource in a record's properties. */
export interface Reference {
  id: Uuid;
  /** JSON Pointer into the record. */
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

function innermost(schema: z.core.$ZodType): z.core.$ZodType {
  const { innerType } = schema._zod.def as { innerType?: z.core.$ZodType };
  return innerType ? innermost(innerType) : schema;
}

function targetOf({ to }: ReferenceFact, properties: JsonObject): ReferenceTarget | undefined {
  return 'word' in to ? to : to.targets[String(memberOf(properties, to.decidedBy))];
}

/** Everything that a record names in its properties, but for what is only stored. */
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

/** The ids of the resources that a record names in its properties. */
export function referencesOf(record: Properties): Uuid[] {
  const { properties } = record;
  return referencePlaces(typeOf(record)).flatMap(({ at, fact }) =>
    fact.isStoredOnly
      ? []
      : locate(properties, at).flatMap(({ value }) => (isUuid(value) ? [value.toLowerCase()] : [])),
  );
}

/**
 * What a record that names a resource means for its deletion; undefined when the record does not name it. `follows` and
 * `unmounted` keep it from being deleted unless that is forced.
 */
export function whenGone(record: Properties, gone: Uuid): WhenGone | undefined {
  const found = new Set(referencesIn(record).flatMap(({ id, fact }) => (id === gone ? fact.whenGone : [])));
  return (['follows', 'unmounted', 'forgets', 'keeps'] as const).find((one) => found.has(one));
}

/** The properties of a record without any mention that it forgets of a resource that is being deleted; undefined when there is none. */
export function withoutMention(record: Properties, gone: Uuid): JsonObject | undefined {
  const forgotten = referencesIn(record).some(
    ({ id, fact }) => id === gone && (fact.whenGone === 'forgets' || fact.whenGone === 'unmounted'),
  );
  if (!forgotten) return undefined;
  const isGone = (value: Json) => typeof value === 'string' && value.toLowerCase() === gone;
  return referencePlaces(typeOf(record)).reduce(
    (properties, { at, fact: { whenGone: fate } }) =>
      fate === 'forgets' || fate === 'unmounted' ? withoutEntries(properties, at, isGone) : properties,
    record.properties,
  );
}

/**
 * A copy of properties in which each text that stands where another resource is named is replaced.
 *
 * @param replace gets the text, the types that may be meant, and its path in the properties
 */
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

/** The ids that a record names: in its properties, and as identities of its entitlements. */
export function namedBy(record: StoredResource): Uuid[] {
  const grants = Object.values(record.grants ?? {});
  return [...referencesOf(record), ...grants.flatMap(({ add = [], remove = [] }) => [...add, ...remove])];
}
