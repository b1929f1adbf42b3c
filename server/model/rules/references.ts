import type { z } from 'zod';
import { invalid, PlatformError } from '../errors.ts';
import { type Json, type JsonObject, memberOf } from '../json.ts';
import { pointerTo } from '../patch/pointer.ts';
import {
  type OnDelete,
  type ReferenceFact,
  type ReferenceTarget,
  referenceFacts,
  spellings,
} from '../property-facts.ts';
import { isUuid, type StoredResource, type Uuid, type WorldView } from '../record.ts';
import { typeOf, typeOfWord } from '../registry.ts';
import type { ResourceType } from '../resource-type.ts';
import type { TypeWord } from '../type-words.ts';
import { locate, registeredPlaces, replaceAt, withoutEntries } from './property-places.ts';

interface Reference {
  id: Uuid;
  pointer: string;
  target: ReferenceTarget;
  fact: ReferenceFact;
}

type Properties = Pick<StoredResource, 'type' | 'properties'>;

const referencePlaces = registeredPlaces(referenceFacts, (name, schema) => {
  const spelling = spellings.get(innermost(schema));
  return spelling ? new RegExp(spelling.pattern) : name;
});

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

/** The effect on a record when a resource that it refers to is deleted. `follows` and `unmounted` block an unforced deletion. */
export function onDelete(record: Properties, deletedId: Uuid): OnDelete | undefined {
  const found = new Set(referencesIn(record).flatMap(({ id, fact }) => (id === deletedId ? fact.onDelete : [])));
  return (['follows', 'unmounted', 'forgets', 'keeps'] as const).find((effect) => found.has(effect));
}

/** The properties of a record without the references that `forget` a deleted resource; undefined if there are none. */
export function withoutReference(record: Properties, deletedId: Uuid): JsonObject | undefined {
  const forgotten = referencesIn(record).some(
    ({ id, fact }) => id === deletedId && (fact.onDelete === 'forgets' || fact.onDelete === 'unmounted'),
  );
  if (!forgotten) return undefined;
  const isGone = (value: Json) => typeof value === 'string' && value.toLowerCase() === deletedId;
  return referencePlaces(typeOf(record)).reduce(
    (properties, { at, fact: { onDelete } }) =>
      onDelete === 'forgets' || onDelete === 'unmounted' ? withoutEntries(properties, at, isGone) : properties,
    record.properties,
  );
}

export function replaceReferences(
  collection: TypeWord,
  properties: JsonObject,
  replace: (text: string, collections: readonly TypeWord[], path: readonly string[]) => string,
): JsonObject {
  return referencePlaces(typeOfWord(collection)).reduce((copy, { at, fact }) => {
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
  const ids = referencesIn(record).map(({ id }) => id);
  return [...ids, ...grants.flatMap(({ add = [], remove = [] }) => [...add, ...remove])];
}

/** The keys by which `WorldView.referrers` finds a record: the ids that it refers to, and those that its type defines. */
export function foundBy(record: StoredResource): string[] {
  return [...namedBy(record), ...(typeOf(record).keys?.(record) ?? [])];
}

/** New references of a record; unchanged ones may lead to deleted targets (D-096). Throws 400, 404 or 422, as the property defines. */
export function newlyNamed(
  view: WorldView,
  record: Properties,
  before?: Properties,
  mayBeGone: (reference: Reference) => boolean = () => false,
): { reference: Reference; resource: StoredResource }[] {
  const previousKeys = new Set(before && referencesIn(before).map(keyOf));
  return referencesIn(record).flatMap((reference) => {
    if (previousKeys.has(keyOf(reference))) return [];
    if (mayBeGone(reference) && !view.find(reference.id)) return [];
    const resource = present(view, reference);
    return resource ? { reference, resource } : [];
  });
}

function keyOf({ id, target: { word: collection, right } }: Reference): string {
  return `${collection} ${right} ${id}`;
}

/** `<id> is the id of an environment` */
export function describeKind(found: Pick<StoredResource, 'id' | 'type'>): string {
  const { singular } = typeOf(found);
  return `${found.id} is the id of ${/^[aeiou](?!ser)/.test(singular) ? 'an' : 'a'} ${singular}`;
}

/** The target; undefined if any value is allowed. Throws if no resource of that type has the id. */
function present(
  view: WorldView,
  { id, pointer, target: { word: collection }, fact }: Reference,
): StoredResource | undefined {
  const found = view.find(id);
  if (found && typeOf(found).collection === collection) return found;
  if (fact.missing === undefined) return undefined;
  const { singular } = typeOfWord(collection);
  const description = found ? describeKind(found) : id;
  if (fact.missing === 400)
    throw invalid(pointer, `is not the id of an existing ${singular}: ${description}`, 'reference_not_found');
  const message = found ? `${singular} ${id} not found: ${description}` : `${singular} ${id} not found`;
  throw new PlatformError(
    fact.missing === 422 ? 'parent_not_found' : 'not_found',
    fact.missing === 422 ? `${pointer}: ${message}` : message,
    {
      details: [{ pointer, message }],
    },
  );
}
