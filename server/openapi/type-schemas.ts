import { namingOf } from '../contract/type-naming.ts';
import { envelopeSchema } from '../model/envelope.ts';
import { isJsonObject, type JsonObject } from '../model/json.ts';
import { resourceTypes, typeOfWord } from '../model/registry.ts';
import type { ResourceType } from '../model/resource-type.ts';
import { hiddenProperties } from '../model/secrets.ts';
import { fullNameOf } from '../model/type-names.ts';
import { isTypeWord } from '../model/type-words.ts';
import { jsonSchemaOf, listOf, ref } from './json-schema.ts';
import { servedProperty } from './served-properties.ts';

/**
 * For each type of the registry its record and its properties, both for what is sent and for what is answered: server-set
 * members are read-only, hidden ones write-only (D-022, D-028, D-029).
 *
 * @param typePrefix first segment of type names (D-080)
 */
export function typeSchemas(typePrefix: string): Record<string, JsonObject> {
  const schemas: Record<string, JsonObject> = {
    Envelope: envelope(),
    Record: record({ properties: { properties: { type: 'object' } } }),
  };
  for (const type of resourceTypes) {
    const { schema } = namingOf(type);
    schemas[schema] = {
      description: type.summary,
      ...record(ownMembers(type, ref(`${schema}Properties`), typePrefix)),
    };
    schemas[`${schema}Properties`] = propertiesSchema(type);
  }
  return schemas;
}

/** A record: what all have, and what its type adds. */
function record(own: JsonObject): JsonObject {
  return { allOf: [ref('Envelope'), { type: 'object', ...own }] };
}

/** The properties of a type, and where it has sub-types the name of one (D-032). */
function ownMembers(type: ResourceType, properties: JsonObject, typePrefix: string): JsonObject {
  const needed = type.properties.safeParse({}).success ? [] : ['properties'];
  if (!type.subTypes) return { properties: { properties }, ...(needed.length > 0 && { required: needed }) };
  const examples = type.subTypes.map((name) => fullNameOf(name, typePrefix));
  return {
    properties: { properties, resource_type: { type: 'string', examples } },
    required: [...needed, 'resource_type'],
  };
}

/** The members that all records have around their properties (D-022, D-030). */
function envelope(): JsonObject {
  const readOnly = (schema: JsonObject) => ({ ...schema, readOnly: true });
  const { properties, ...rest } = jsonSchemaOf(envelopeSchema.omit({ properties: true }));
  const fromServer = {
    resource_state: readOnly({ type: 'string', description: 'Full name of its state, e.g. ...::State::Active' }),
    org: readOnly(ref('Link')),
    owner: readOnly(ref('Link')),
    created: readOnly(ref('Created')),
    modified: readOnly(ref('Modified')),
  };
  return { ...rest, properties: { ...(isJsonObject(properties) && properties), ...fromServer } };
}

/** What has to be sent with a new record and is in no answer. */
function unanswered(type: ResourceType): string[] {
  const { required } = jsonSchemaOf(type.properties);
  return Array.isArray(required) ? hiddenProperties(type).filter((name) => required.includes(name)) : [];
}

function propertiesSchema(type: ResourceType): JsonObject {
  const { properties: written, required, ...rest } = jsonSchemaOf(type.properties);
  const hiddenOnes = unanswered(type);
  const answered = Array.isArray(required) ? required.filter((name) => !hiddenOnes.includes(String(name))) : [];
  const properties: JsonObject = isJsonObject(written) ? { ...written } : {};
  const hidden = hiddenProperties(type);
  for (const name of type.serverSet) if (!hidden.includes(name)) properties[name] = servedProperty(name);
  for (const word of Object.keys(type.embed ?? {})) {
    if (!isTypeWord(word) || Object.hasOwn(properties, word)) continue;
    const { schema } = namingOf(typeOfWord(word));
    properties[word] = { ...listOf(ref(schema)), readOnly: true, description: `Only with \`?embed=${word}\`` };
  }
  const members = { ...properties, parent: { ...ref('Link'), readOnly: true } };
  return {
    ...rest,
    properties: members,
    ...(answered.length > 0 && { required: answered }),
    ...(type.first && { 'x-terrarium-first': type.first }),
  };
}
