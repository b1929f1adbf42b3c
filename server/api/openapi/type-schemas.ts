import { isJsonObject, type JsonObject } from '../../model/json.ts';
import { resourceTypes, typeOfWord } from '../../model/registry.ts';
import type { ResourceType } from '../../model/resource-type.ts';
import { hiddenProperties } from '../../model/rules/secrets.ts';
import { fullNameOf } from '../../model/type-names.ts';
import { isTypeWord } from '../../model/type-words.ts';
import { namingOf } from '../routes/type-naming.ts';
import { answeredSchema, jsonSchemaOf, listOf, ref } from './json-schema.ts';

/** The records and properties of each type, separately for responses and requests (D-022, D-028..D-030), made from those of any type. */
export function typeSchemas({
  Resource: answered = {},
  ResourceRequest: requested = {},
}: Readonly<Record<string, JsonObject>>): Record<string, JsonObject> {
  const schemas: Record<string, JsonObject> = {};
  for (const type of resourceTypes) {
    const { schema, requestSchema } = namingOf(type);
    const examples = type.subTypes?.map((name) => fullNameOf(name, 'Platform'));
    const resourceType = examples && { resource_type: { type: 'string', examples } };
    schemas[schema] = withMembers(answered, {
      description: type.summary,
      properties: { properties: ref(`${schema}Properties`), ...resourceType },
    });
    schemas[`${schema}Properties`] = answeredProperties(type);
    schemas[requestSchema] = withMembers(requested, {
      properties: { properties: ref(`${schema}PropertiesRequest`), ...resourceType, ...nameOf(type) },
      required: [
        ...(type.properties.safeParse({}).success ? [] : ['properties']),
        ...(type.subTypes ? ['resource_type'] : []),
      ],
    });
    schemas[`${schema}PropertiesRequest`] = requestedProperties(type);
  }
  return schemas;
}

function withMembers(
  common: JsonObject,
  { properties, required = [], ...rest }: JsonObject & { properties: JsonObject; required?: string[] },
): JsonObject {
  const names = Array.isArray(common.required) ? common.required : [];
  return {
    ...common,
    ...rest,
    properties: { ...Object(common.properties), ...properties },
    required: [...new Set([...names, ...required])],
  };
}

function nameOf({ nameRule }: ResourceType): JsonObject {
  if (!nameRule) return {};
  const { pattern, maxLength, hint } = nameRule;
  return { name: { type: 'string', pattern: pattern.source, maxLength, description: `Must ${hint}` } };
}

function answeredProperties(type: ResourceType): JsonObject {
  const { properties: written, ...rest } = Object(answeredSchema(jsonSchemaOf(type.properties)));
  const properties: JsonObject = { ...Object(written), parent: ref('Link') };
  const hidden = hiddenProperties(type);
  for (const name of type.serverSet.filter((property) => !hidden.includes(property))) {
    const schema = served[name];
    if (!schema) throw new Error(`the API document has no schema for the server-set property '${name}'`);
    properties[name] = schema;
  }
  for (const propertyName of Object.keys(type.embed ?? {})) {
    const embedded = embeddedIn(propertyName, properties[propertyName]);
    if (embedded) properties[propertyName] = embedded;
  }
  return { ...rest, properties };
}

/** A property as it is, or with the records that `embed` returns in its place: a list for a plural name, one for a singular name. */
function embeddedIn(propertyName: string, property: JsonObject[string] | undefined): JsonObject {
  const isList = isTypeWord(propertyName);
  const type = isList ? typeOfWord(propertyName) : resourceTypes.find(({ singular }) => singular === propertyName);
  if (!type)
    throw new Error(`'${propertyName}' is not the name of a type, so the API document has no schema for \`embed\``);
  const record = ref(namingOf(type).schema);
  const embedded = isList ? listOf(record) : record;
  if (!isJsonObject(property)) return { ...embedded, description: `Only with \`?embed=${propertyName}\`` };
  return { anyOf: [property, embedded], description: `Whole records with \`?embed=${propertyName}\`` };
}

/** The properties that a client can set. The server also accepts those that it sets itself, and ignores them (D-028). */
function requestedProperties(type: ResourceType): JsonObject {
  const ignored = [...type.serverSet, 'parent'].sort();
  return {
    ...jsonSchemaOf(type.properties),
    description: `The server sets ${ignored.map((name) => `\`${name}\``).join(', ')}, and ignores these members in requests`,
    'x-terrarium-server-set': ignored,
    ...(type.first && { 'x-terrarium-first': type.first }),
  };
}

const text: JsonObject = { type: 'string' };
const count: JsonObject = { type: 'integer', minimum: 0 };
const links = listOf(ref('Link'));

/** The properties that the server sets on any type (D-028). */
const served: Readonly<Record<string, JsonObject>> = {
  fqon: text,
  children: links,
  workspace: ref('Link'),
  external_id: text,
  age: { type: 'string', format: 'date-time' },
  status: text,
  status_detail: { type: ['string', 'object', 'null'] },
  tasks_running: count,
  tasks_healthy: count,
  tasks_unhealthy: count,
  tasks_staged: count,
  instances: listOf({ type: 'object' }),
  events: listOf({ type: 'object' }),
  service_addresses: listOf({ type: 'object' }),
  provider: { type: 'object', properties: { id: { type: 'string', format: 'uuid' } }, required: ['id'] },
  location_id: text,
  upstream_url: text,
  public_url: text,
  groups: links,
  rules: links,
  defined_at: ref('Link'),
  container: ref('Link'),
};
