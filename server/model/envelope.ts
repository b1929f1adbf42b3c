import { z } from 'zod';
import { invalid, PlatformError } from './errors.ts';
import { isJsonObject, type Json, type JsonObject } from './json.ts';
import type { ResourceType } from './resource-type.ts';
import { parseTypeName } from './type-names.ts';
import { parseWith } from './validate.ts';

const MAX_NAME = 255;

/** The members of a record that a client writes (D-030, D-031). Unknown and read-only ones are dropped. */
export const envelopeSchema = z.object({
  name: z
    .string('must be a string')
    .min(1, 'must not be empty')
    .max(MAX_NAME, `must have at most ${MAX_NAME} characters`)
    .regex(/^\P{Cc}*$/u, 'must not hold control characters')
    .describe('Unique among siblings of its type'),
  description: z.string('must be a string').optional(),
  resource_type: z.string('must be a string').optional().describe('Full type name or type id; agrees with the route'),
  id: z.guid('must be a UUID').optional().describe('May be chosen; taken is 409'),
  properties: z.record(z.string(), z.json(), 'must be an object').optional(),
  tags: z.array(z.string('must be a string'), 'must be an array of strings').optional(),
  variables: z.record(z.string(), z.string('must be a string'), 'must be an object of strings').optional(),
});

/** The same for properties that are known to be JSON: the type's own schema looks at them. */
const envelopeOfJson = envelopeSchema.extend({
  properties: z.record(z.string(), z.unknown(), 'must be an object').optional(),
});

/** What a client wants a record to be, checked but for the type's own rules. */
export interface Envelope {
  name: string;
  description?: string;
  resource_type?: string;
  id?: string;
  properties: JsonObject;
  tags?: string[];
  variables?: Record<string, string>;
}

/** Is a value of a document what JSON can hold, so no number beyond all bounds, and without a member that is more than a member? */
function isPlainJson(value: Json | undefined): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object' || value === null) return true;
  if (Array.isArray(value)) return value.every(isPlainJson);
  return Object.entries(value).every(([name, member]) => name !== '__proto__' && isPlainJson(member));
}

/** A member that is null counts as absent (D-030). */
function withoutNulls(object: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== null));
}

/** Reads the body of a POST or PUT, or a patched document; throws 400 with pointers into it. */
export function parseEnvelope(body: Json | undefined, type: ResourceType): Envelope {
  if (!isJsonObject(body))
    throw new PlatformError(400, `send a JSON object with at least a name to describe the ${type.noun}`);
  const schema = isPlainJson(body.properties) ? envelopeOfJson : envelopeSchema;
  const { properties, ...members } = parseWith(schema, withoutNulls(body));
  if (type.nameRule && !(type.nameRule.pattern.test(members.name) && members.name.length <= type.nameRule.maxLength)) {
    throw invalid('/name', `must ${type.nameRule.hint}`);
  }
  const given = Object.entries(members).filter(([, value]) => value !== undefined);
  return {
    ...(Object.fromEntries(given) as Omit<Envelope, 'properties'>), // the absent members are what was taken out
    // The schema has shown that these are an object of JSON values, if there are any.
    properties: withoutNulls((properties ?? {}) as JsonObject),
  };
}

/** The properties a client may write, through the type's schema: server-set ones are ignored (D-028), null ones absent. */
export function parseProperties(type: ResourceType, properties: JsonObject): JsonObject {
  const ignored = new Set(['parent', ...type.serverSet]);
  const written = Object.fromEntries(Object.entries(properties).filter(([name]) => !ignored.has(name)));
  return parseWith(type.properties, written, '/properties') as JsonObject; // the schema of properties is one of objects
}

/** The full type name a record gets; what the body says must agree with the route (D-032, D-064, D-077). */
export function typeNameIn({ resource_type: given }: Envelope, type: ResourceType): string {
  if (given === undefined && !type.subTypes) return type.name;
  const allowed = type.subTypes ?? [type.name];
  const name = given === undefined ? undefined : parseTypeName(given);
  if (name !== undefined && allowed.includes(name)) return name;
  const problem = given === undefined ? 'is required' : `'${given.slice(0, 64)}' does not name a ${type.noun}`;
  const choice = allowed.map((one) => `<prefix>::${one}`).join(', ');
  throw new PlatformError(type.word === 'rules' ? 422 : 400, `/resource_type ${problem}; it can be ${choice}`, {
    details: [{ pointer: '/resource_type', message: `${problem}; it can be ${choice}` }],
  });
}
