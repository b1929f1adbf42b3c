import { z } from 'zod';
import { invalid, PlatformError } from './errors.ts';
import { isJsonObject, type Json, type JsonObject } from './json.ts';
import type { ResourceType } from './resource-type.ts';
import { parseWith } from './rules/validate.ts';
import { parseTypeName } from './type-names.ts';

const MAX_NAME = 255;

/** The members of a record that clients can write (D-030, D-031). Unknown and read-only ones are dropped. */
export const envelopeSchema = z.object({
  name: z
    .string('must be a string')
    .min(1, 'must not be empty')
    .max(MAX_NAME, `must have at most ${MAX_NAME} characters`)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are refused; `\\P{Cc}` is not known to all clients of the document
    .regex(/^[^\x00-\x1f\x7f-\x9f]*$/, 'must not contain control characters')
    .describe('Unique among siblings of its type'),
  description: z.string('must be a string').optional(),
  resource_type: z.string('must be a string').optional().describe('Full type name or type id; must match the route'),
  id: z.guid('must be a UUID').optional().describe('Optional on create; 409 if the id is taken'),
  properties: z.record(z.string(), z.json(), 'must be an object').optional(),
  tags: z.array(z.string('must be a string'), 'must be an array of strings').optional(),
  variables: z.record(z.string(), z.string('must be a string'), 'must be an object of strings').optional(),
});

/** An envelope whose properties are known to be JSON: the schema of the type validates them. */
const envelopeOfJson = envelopeSchema.extend({
  properties: z.record(z.string(), z.unknown(), 'must be an object').optional(),
});

export interface Envelope {
  name: string;
  description?: string;
  resource_type?: string;
  id?: string;
  properties: JsonObject;
  tags?: string[];
  variables?: Record<string, string>;
}

/** Is the value valid JSON, without infinite numbers and without prototype members? */
function isPlainJson(value: Json | undefined): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object' || value === null) return true;
  if (Array.isArray(value)) return value.every(isPlainJson);
  return Object.entries(value).every(([name, member]) => name !== '__proto__' && isPlainJson(member));
}

function withoutNulls(object: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== null));
}

/** Parses the body of a POST or PUT, or a patched document; throws 400 with pointers into it. */
export function parseEnvelope(body: Json | undefined, type: ResourceType): Envelope {
  if (!isJsonObject(body))
    throw new PlatformError(
      'invalid_body',
      `the body must be a JSON object that describes the ${type.singular}, with at least a name`,
    );
  const schema = isPlainJson(body.properties) ? envelopeOfJson : envelopeSchema;
  const { properties, ...members } = parseWith(schema, withoutNulls(body));
  if (type.nameRule && !(type.nameRule.pattern.test(members.name) && members.name.length <= type.nameRule.maxLength)) {
    throw invalid('/name', `must ${type.nameRule.hint}`);
  }
  const presentMembers = Object.entries(members).filter(([, value]) => value !== undefined);
  return {
    ...(Object.fromEntries(presentMembers) as Omit<Envelope, 'properties'>), // removed absent members
    // The schema ensures that the properties, if any, are an object of JSON values.
    properties: withoutNulls((properties ?? {}) as JsonObject),
  };
}

/** Validates the properties with the schema of the type: server-set ones are ignored (D-028), null ones are absent. */
export function parseProperties(type: ResourceType, properties: JsonObject): JsonObject {
  const ignored = new Set(['parent', ...type.serverSet]);
  const written = Object.fromEntries(Object.entries(properties).filter(([name]) => !ignored.has(name)));
  return parseWith(type.properties, written, '/properties') as JsonObject; // properties schemas are object schemas
}

/** The full type name of a record; a type in the body must match the route (D-032, D-064, D-077). */
export function typeNameIn({ resource_type: typeName }: Envelope, type: ResourceType): string {
  if (typeName === undefined && !type.subTypes) return type.name;
  const allowed = type.subTypes ?? [type.name];
  const name = typeName === undefined ? undefined : parseTypeName(typeName);
  if (name !== undefined && allowed.includes(name)) return name;
  const problem =
    typeName === undefined ? 'is required' : `'${typeName.slice(0, 64)}' is not a type of ${type.singular}`;
  const choice = allowed.map((allowedName) => `<prefix>::${allowedName}`).join(', ');
  throw new PlatformError(
    type.collection === 'rules' ? 'invalid_type' : 'invalid_body',
    `/resource_type ${problem}; valid values: ${choice}`,
    {
      details: [{ pointer: '/resource_type', message: `${problem}; valid values: ${choice}` }],
    },
  );
}
