import { isJsonObject, type Json, type JsonObject, memberOf } from '../model/json.ts';
import type { TypeWord } from '../model/type-words.ts';

/** A place in properties that names another resource (`*` is every member or element), and what may stand there. */
interface ReferencePlace {
  at: readonly string[];
  words: readonly TypeWord[];
}

function place(at: string, ...words: TypeWord[]): ReferencePlace {
  return { at: at.split('.'), words };
}

const provider = place('provider.id', 'providers');
const mountedSecret = place('secrets.*.secret_id', 'secrets');
const container = [
  provider,
  mountedSecret,
  place('volumes.*.volume_id', 'volumes'),
  place('volumes.*.volume_resource.properties.provider.id', 'providers'),
];

const places: Partial<Record<TypeWord, readonly ReferencePlace[]>> = {
  containers: container,
  jobs: container,
  lambdas: [provider, mountedSecret],
  apis: [provider, place('provider.locations.*', 'providers')],
  apiendpoints: [place('plugins.*.users.*', 'users'), place('plugins.*.groups.*', 'groups')],
  providers: [
    place('linked_providers.*.id', 'providers'),
    place('services.*.container_spec.properties.provider.id', 'providers'),
  ],
  groups: [place('users.*', 'users')],
  rules: [place('lambda', 'lambdas')],
  secrets: [provider],
  volumes: [provider],
};

function placesIn(word: TypeWord, properties: JsonObject): readonly ReferencePlace[] {
  const known = places[word] ?? [];
  if (word !== 'apiendpoints') return known;
  const target = memberOf(properties, 'implementation_type') === 'container' ? 'containers' : 'lambdas';
  return [...known, place('implementation_id', target)];
}

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
    (copy, { at, words }) => mapMembers(copy, at, [], (text, path) => replace(text, words, path)),
    properties,
  );
}

type ReplaceText = (text: string, path: readonly string[]) => string;

function mapMembers(
  value: JsonObject,
  at: readonly string[],
  path: readonly string[],
  replace: ReplaceText,
): JsonObject {
  const [part, ...rest] = at;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      part === '*' || part === name ? mapText(member, rest, [...path, name], replace) : member,
    ]),
  );
}

function mapText(value: Json, at: readonly string[], path: readonly string[], replace: ReplaceText): Json {
  if (at.length === 0) return typeof value === 'string' ? replace(value, path) : value;
  if (isJsonObject(value)) return mapMembers(value, at, path, replace);
  if (!Array.isArray(value) || at[0] !== '*') return value;
  return value.map((element, index) => mapText(element, at.slice(1), [...path, String(index)], replace));
}
