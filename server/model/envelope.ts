import { z } from 'zod';
import { invalid, PlatformError } from './errors.ts';
import { isJsonObject, type Json, type JsonObject } from './json.ts';
import type { ResourceType } from './resource-type.ts';
import { parseWith } from './rules/validate.ts';
import { fullNameOf, parseTypeName } from './type-names.ts';

const MAX_NAME = 255;
const NOT_PLAIN = 'must not contain __proto__ or an infinite number';

/** Is a parsed value JSON, without infinite numbers and prototype members? */
function isPlainJson(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object' || value === null) return true;
  return Object.entries(value).every(([name, member]) => name !== '__proto__' && isPlainJson(member));
}

/** The members of a record that clients can write (D-030, D-031). Unknown and read-only ones are dropped. */
export const envelopeSchema = z.object({
  name: z
    .string('must be a string')
    .min(1, 'must not be empty')
    .max(MAX_NAME, `must have at most ${MAX_NAME} characters`)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are refused; `\\P{Cc}` is not known to all clients of the document
    .regex(/^[^\x00-\x1f\x7f-\x9f]*$/, 'must not contain control characters')
    .describe('Unique among siblings of its type'),
  description: z.string('must be a string').exactOptional(),
  resource_type: z
    .string('must be a string')
    .exactOptional()
    .describe('Full type name or type id; must match the route'),
  id: z.guid('must be a UUID').exactOptional().describe('Optional on create; 409 if the id is taken'),
  properties: z.record(z.string(), z.custom<Json>(isPlainJson, NOT_PLAIN), 'must be an object').exactOptional(),
  tags: z.array(z.string('must be a string'), 'must be an array of strings').exactOptional(),
  variables: z.record(z.string(), z.string('must be a string'), 'must be an object of strings').exactOptional(),
});

export type Envelope = z.output<typeof envelopeSchema> & { properties: JsonObject };

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
  // A record schema would drop this member without an error.
  const unsafe = ['properties', 'variables'].find((name) => Object.hasOwn(Object(body[name]), '__proto__'));
  if (unsafe) throw invalid(`/${unsafe}`, NOT_PLAIN);
  const { properties, ...members } = parseWith(envelopeSchema, withoutNulls(body));
  if (type.nameRule && !(type.nameRule.pattern.test(members.name) && members.name.length <= type.nameRule.maxLength)) {
    throw invalid('/name', `must ${type.nameRule.hint}`);
  }
  return { ...members, properties: withoutNulls(properties ?? {}) };
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
  // Every prefix is accepted (D-080): these values work as they are.
  const choice = allowed.map((allowedName) => fullNameOf(allowedName, 'Platform')).join(', ');
  const reason = type.collection === 'rules' ? 'invalid_type' : 'invalid_body';
  throw invalid('/resource_type', `${problem}; valid values: ${choice}`, reason);
}
