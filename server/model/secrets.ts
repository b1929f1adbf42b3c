import type { Json, JsonObject } from './json.ts';
import { locate, type Place, placesOf, replaceAt } from './property-places.ts';
import type { StoredResource } from './record.ts';
import { typeOf } from './registry.ts';
import type { ResourceType } from './resource-type.ts';
import { MASK, type SecretFact, secretFacts } from './secret-facts.ts';

interface SecretPlace {
  at: Place;
  fact: SecretFact;
}

const known = new Map<ResourceType, readonly SecretPlace[]>();

/** Where a type has values that nobody reads back, from its properties down. */
export function secretPlaces(type: ResourceType): readonly SecretPlace[] {
  let places = known.get(type);
  if (!places) {
    places = placesOf(type.properties, secretFacts, (name) => name);
    known.set(type, places);
  }
  return places;
}

/** Names of the properties that no answer has: what only its writer knows, and what the server keeps to itself (D-029). */
export function hiddenProperties(type: ResourceType): string[] {
  const never = secretPlaces(type).filter(({ at, fact }) => at.length === 1 && fact.shown === 'never');
  return [...never.map(({ at }) => String(at[0])), ...(type.hidden ?? [])];
}

/** Names of the properties that are stored as a one-way hash. */
export function hashedProperties(type: ResourceType): string[] {
  return secretPlaces(type).flatMap(({ at, fact }) => (fact.isHashed ? [String(at[0])] : []));
}

/**
 * A copy of a resource's properties in which each value that nobody reads back is replaced.
 *
 * @param replace gets the value and its path in the properties
 */
export function replaceSecrets(
  type: ResourceType,
  properties: JsonObject,
  replace: (value: Json, path: readonly string[]) => Json,
): JsonObject {
  return secretPlaces(type).reduce((copy, { at }) => replaceAt(copy, at, replace), properties);
}

/** The properties of a record as they may be answered. @param showMasked may this reader see what is masked otherwise? */
export function withoutSecrets(
  record: Pick<StoredResource, 'type'>,
  properties: JsonObject,
  showMasked: () => boolean,
): JsonObject {
  const type = typeOf(record);
  const answered = secretPlaces(type).reduce((copy, { at, fact }) => {
    if (fact.shown === 'never') return withoutMember(copy, at);
    return locate(copy, at).length > 0 && !showMasked() ? replaceAt(copy, at, () => MASK) : copy;
  }, properties);
  const kept = Object.entries(answered).filter(([name]) => !type.hidden?.includes(name));
  return Object.fromEntries(kept);
}

function withoutMember(properties: JsonObject, at: Place): JsonObject {
  const name = at.at(-1);
  return replaceAt(properties, at.slice(0, -1), (holder) =>
    typeof holder === 'object' && holder !== null && !Array.isArray(holder)
      ? Object.fromEntries(Object.entries(holder).filter(([member]) => member !== name))
      : holder,
  );
}
