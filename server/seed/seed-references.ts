import { type JsonObject, memberOf } from '../model/json.ts';
import type { TypeWord } from '../model/type-words.ts';
import { type Place, place, replaceAt } from './property-places.ts';

/** A place in properties that names another resource, and what may stand there. */
interface ReferencePlace {
  at: Place;
  words: readonly TypeWord[];
}

function to(at: string, ...words: TypeWord[]): ReferencePlace {
  return { at: place(at), words };
}

const provider = to('provider.id', 'providers');
const mountedSecret = to('secrets.*.secret_id', 'secrets');
const container = [
  provider,
  mountedSecret,
  to('volumes.*.volume_id', 'volumes'),
  to('volumes.*.volume_resource.properties.provider.id', 'providers'),
];

const places: Partial<Record<TypeWord, readonly ReferencePlace[]>> = {
  containers: container,
  jobs: container,
  lambdas: [provider, mountedSecret],
  apis: [provider, to('provider.locations.*', 'providers')],
  apiendpoints: [to('plugins.*.users.*', 'users'), to('plugins.*.groups.*', 'groups')],
  providers: [
    to('linked_providers.*.id', 'providers'),
    to('services.*.container_spec.properties.provider.id', 'providers'),
  ],
  groups: [to('users.*', 'users')],
  rules: [to('lambda', 'lambdas')],
  secrets: [provider],
  volumes: [provider],
};

function placesIn(word: TypeWord, properties: JsonObject): readonly ReferencePlace[] {
  const known = places[word] ?? [];
  if (word !== 'apiendpoints') return known;
  const target = memberOf(properties, 'implementation_type') === 'container' ? 'containers' : 'lambdas';
  return [...known, to('implementation_id', target)];
}

/** The types that an identity of an entitlement may be of. */
export const identityWords: readonly TypeWord[] = ['groups', 'users'];

/**
 * A copy of a resource's properties in which each text that names another resource is replaced.
 *
 * @param replace gets the text, the types that may be meant, and its path in the properties
 */
export function replaceReferences(
  word: TypeWord,
  properties: JsonObject,
  replace: (text: string, words: readonly TypeWord[], path: readonly string[]) => string,
): JsonObject {
  return placesIn(word, properties).reduce<JsonObject>(
    (copy, { at, words }) =>
      replaceAt(copy, at, (value, path) => (typeof value === 'string' ? replace(value, words, path) : value)),
    properties,
  );
}
