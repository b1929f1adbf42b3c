import { z } from 'zod';
import { formFacts } from '../model/form-facts.ts';
import type { JsonObject } from '../model/json.ts';
import { referenceFacts } from '../model/reference-facts.ts';
import { secretFacts } from '../model/secret-facts.ts';

/** A reference to one of `components.schemas`. */
export function ref(schema: string): JsonObject {
  return { $ref: `#/components/schemas/${schema}` };
}

/** The schema of an array. */
export function listOf(items: JsonObject): JsonObject {
  return { type: 'array', items };
}

/** The JSON Schema of what a client may send, as it stands in the document (2020-12 is OpenAPI 3.1's own dialect). */
export function jsonSchemaOf(schema: z.ZodType): JsonObject {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, CONVERSION);
  return rest as JsonObject; // a JSON Schema is JSON
}

/** The JSON Schemas of several that mention each other; a mention becomes a reference to the component of that name. */
export function jsonSchemasOf(schemas: Readonly<Record<string, z.ZodType>>): Record<string, JsonObject> {
  const named = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(schemas)) named.add(schema, { id });
  const converted = z.toJSONSchema(named, { ...CONVERSION, uri: (id) => `#/components/schemas/${id}` });
  return Object.fromEntries(
    // `$id` would make the component a document of its own, in which references lead elsewhere.
    Object.entries(converted.schemas).map(([id, { $schema, $id, ...rest }]) => [id, rest as JsonObject]),
  );
}

/** What stands on a property besides its schema: that nobody reads it back, what it names, what a form has to know. */
function factsOf(schema: z.core.$ZodType): JsonObject {
  const { label, ...form } = formFacts.get(schema) ?? {};
  const reference = referenceFacts.get(schema);
  return {
    ...(label !== undefined && { title: label }),
    ...(secretFacts.has(schema) && { writeOnly: true }),
    ...(reference && !reference.isStoredOnly && { 'x-terrarium-reference': reference.to as unknown as JsonObject }), // plain data
    ...(Object.keys(form).length > 0 && { 'x-terrarium-form': form as JsonObject }), // likewise
  };
}

/** Formats that JSON Schema itself knows, of those that our schemas use. */
const FORMATS = ['uuid', 'uri', 'date-time', 'ipv4', 'ipv6'];

const CONVERSION = {
  io: 'input',
  unrepresentable: 'any',
  // A pattern says nothing beside a format that everybody knows, and all beside one that is zod's own.
  // Nobody gains from the bounds that any whole number has in JavaScript.
  override({ zodSchema, jsonSchema }) {
    Object.assign(jsonSchema, factsOf(zodSchema));
    if (FORMATS.includes(jsonSchema.format ?? '')) delete jsonSchema.pattern;
    else if (jsonSchema.pattern !== undefined) delete jsonSchema.format;
    if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
    if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
  },
} as const satisfies z.core.ToJSONSchemaParams;
