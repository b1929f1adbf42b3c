import { z } from 'zod';
import { isJsonObject, type Json, type JsonObject } from '../../model/json.ts';
import { formFacts, referenceFacts, secretFacts } from '../../model/property-facts.ts';

export function ref(schema: string): JsonObject {
  return { $ref: `#/components/schemas/${schema}` };
}

export function listOf(items: JsonObject): JsonObject {
  return { type: 'array', items };
}

/** The JSON Schema of client input, as in the document (2020-12 is the dialect of OpenAPI 3.1). */
export function jsonSchemaOf(schema: z.ZodType): JsonObject {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, CONVERSION);
  return rest as JsonObject; // a JSON Schema is JSON
}

/** The schema of a response: without the values that responses never contain, and without the extensions for forms. */
export function answeredSchema(schema: Json): Json {
  if (Array.isArray(schema)) return schema.map(answeredSchema);
  if (!isJsonObject(schema)) return schema;
  const { properties, required, ...rest } = schema;
  const answered = Object.fromEntries(
    Object.entries(rest).flatMap(([name, member]) =>
      name.startsWith('x-terrarium-') ? [] : [[name, answeredSchema(member)]],
    ),
  );
  if (!isJsonObject(properties)) return answered;
  const visibleProperties = Object.entries(properties).filter(
    ([, property]) => !(isJsonObject(property) && property['x-terrarium-secret']),
  );
  const names = new Set(visibleProperties.map(([name]) => name));
  const needed = Array.isArray(required) ? required.filter((name) => names.has(String(name))) : [];
  return {
    ...answered,
    properties: Object.fromEntries(visibleProperties.map(([name, property]) => [name, answeredSchema(property)])),
    ...(needed.length > 0 && { required: needed }),
  };
}

/** The JSON Schemas of several schemas that refer to each other; references point to the component of that name. */
export function jsonSchemasOf(schemas: Readonly<Record<string, z.ZodType>>): Record<string, JsonObject> {
  const named = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(schemas)) named.add(schema, { id });
  const converted = z.toJSONSchema(named, { ...CONVERSION, uri: (id) => `#/components/schemas/${id}` });
  return Object.fromEntries(
    // With `$id` the component would be a separate document, in which references resolve differently.
    Object.entries(converted.schemas).map(([id, { $schema, $id, ...rest }]) => [id, rest as JsonObject]),
  );
}

/** Extensions of a property's schema: it cannot be read back, which type it refers to, how to show it in a form. */
function factsOf(schema: z.core.$ZodType): JsonObject {
  const { label, ...form } = formFacts.get(schema) ?? {};
  const reference = referenceFacts.get(schema);
  return {
    ...(label !== undefined && { title: label }),
    ...(secretFacts.get(schema)?.visibility === 'never' && { 'x-terrarium-secret': true }),
    ...(reference && !reference.isStoredOnly && { 'x-terrarium-reference': reference.to as unknown as JsonObject }), // plain data
    ...(Object.keys(form).length > 0 && { 'x-terrarium-form': form as JsonObject }), // likewise
  };
}

/** The formats of our schemas that JSON Schema defines. */
const FORMATS = ['uuid', 'uri', 'date-time', 'ipv4', 'ipv6'];

const CONVERSION = {
  io: 'input',
  unrepresentable: 'any',
  override({ zodSchema, jsonSchema }) {
    Object.assign(jsonSchema, factsOf(zodSchema));
    makePortable(jsonSchema);
    addRules(zodSchema, jsonSchema);
  },
} as const satisfies z.core.ToJSONSchemaParams;

/** Replaces what many generators of clients do not understand, or understand differently. */
function makePortable(schema: z.core.JSONSchema.BaseSchema): void {
  // A pattern is redundant for a well-known format and needed for a format that only zod defines.
  if (FORMATS.includes(schema.format ?? '')) delete schema.pattern;
  else if (schema.pattern !== undefined) delete schema.format;
  // A slash needs no escape outside of a JavaScript literal.
  if (schema.pattern !== undefined) schema.pattern = schema.pattern.replaceAll('\\/', '/');
  // Schemas of responses and requests are separate.
  delete schema.readOnly;
  // The bounds of JavaScript integers.
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  if (schema.const !== undefined) {
    schema.enum = [schema.const];
    delete schema.const;
  }
  if (schema.prefixItems) {
    const items = new Map(schema.prefixItems.map((item) => [JSON.stringify(item), item]));
    const [first = {}, ...otherItems] = items.values();
    Object.assign(schema, { items: otherItems.length > 0 ? { anyOf: [...items.values()] } : first });
    schema.minItems = schema.maxItems = schema.prefixItems.length;
    delete schema.prefixItems;
  }
  // Any value matches.
  if (schema.anyOf?.some((option) => Object.keys(option).length === 0)) delete schema.anyOf;
  if (Object.keys(Object(schema.propertyNames)).join() === 'type') delete schema.propertyNames;
  if (schema.default !== undefined) {
    // Generated types require properties with `default`, although a request can leave them out.
    if (!schema.description?.includes('(default')) describe(schema, `default: ${JSON.stringify(schema.default)}`);
    schema['x-terrarium-default'] = schema.default;
    delete schema.default;
  }
}

/** Adds the rules of a schema that JSON Schema cannot express to the description. */
function addRules({ _zod: { def } }: z.core.$ZodType, schema: z.core.JSONSchema.BaseSchema): void {
  for (const check of def.checks ?? []) {
    const { check: kind, error } = check._zod.def;
    if (kind !== 'custom' || !error) continue;
    // The error map of a custom check gets a custom issue.
    const text = (error as z.core.$ZodErrorMap)({ code: 'custom', input: undefined, path: [] });
    const message = typeof text === 'string' ? text : text?.message;
    if (message) describe(schema, message);
  }
}

function describe(schema: z.core.JSONSchema.BaseSchema, text: string): void {
  const sentence = text.charAt(0).toUpperCase() + text.slice(1);
  schema.description = schema.description === undefined ? sentence : `${schema.description} (${text})`;
}
