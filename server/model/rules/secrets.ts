import { isJsonObject, type Json, type JsonObject } from '../json.ts';
import { MASK, secretFacts } from '../property-facts.ts';
import type { StoredResource } from '../record.ts';
import { typeOf } from '../registry.ts';
import type { ResourceType } from '../resource-type.ts';
import { locate, type PropertyPath, registeredPlaces, replaceAt } from './property-places.ts';

export const secretPlaces = registeredPlaces(secretFacts);

/** Names of the properties that responses never contain: secrets of the writer and of the server (D-029). */
export function hiddenProperties(type: ResourceType): string[] {
  const never = secretPlaces(type).filter(({ at, fact }) => at.length === 1 && fact.visibility === 'never');
  return [...never.map(({ at }) => String(at[0])), ...(type.hidden ?? [])];
}

export function hashedProperties(type: ResourceType): string[] {
  return secretPlaces(type).flatMap(({ at, fact }) => (fact.isHashed ? [String(at[0])] : []));
}

/** A copy of the properties with each secret value replaced. @param replace gets the value and its path in the properties */
export function replaceSecrets(
  type: ResourceType,
  properties: JsonObject,
  replace: (value: Json, path: readonly string[]) => Json,
): JsonObject {
  return secretPlaces(type).reduce((copy, { at }) => replaceAt(copy, at, replace), properties);
}

/** The properties of a record for a response. @param showMasked can this reader see masked values? */
export function withoutSecrets(
  record: Pick<StoredResource, 'type'>,
  properties: JsonObject,
  showMasked: () => boolean,
): JsonObject {
  const type = typeOf(record);
  const answered = secretPlaces(type).reduce((copy, { at, fact }) => {
    if (fact.visibility === 'never') return withoutMember(copy, at);
    return locate(copy, at).length > 0 && !showMasked() ? replaceAt(copy, at, () => MASK) : copy;
  }, properties);
  const visibleEntries = Object.entries(answered).filter(([name]) => !type.hidden?.includes(name));
  return Object.fromEntries(visibleEntries);
}

function withoutMember(properties: JsonObject, at: PropertyPath): JsonObject {
  const name = at.at(-1);
  return replaceAt(properties, at.slice(0, -1), (holder) =>
    isJsonObject(holder) ? Object.fromEntries(Object.entries(holder).filter(([member]) => member !== name)) : holder,
  );
}
