import { z } from 'zod';
import type { JsonObject } from '../json.ts';
import { aProvider, formFacts, idOf } from '../property-facts.ts';

/** Represents the id of an existing resource in the example of a type. */
export const EXAMPLE_ID = '5b0c7c3e-6f0a-4c58-9d0e-2a1f4b8d9c61';

export const stringMap = z.record(z.string(), z.string());

export const VARIABLE_NAME = /^[A-Za-z_][A-Za-z0-9_.-]*$/;
export const variableNameHint = `is not a valid name of an environment variable (${VARIABLE_NAME.source.slice(1, -1)})`;

export const ENV_LABEL = 'Environment variables';

export const envMap = z.record(z.string().regex(VARIABLE_NAME, variableNameHint), z.string());

/** Environment variables of an organization, workspace or environment. @param order position in the form */
export function variablesInside(order = 1) {
  return envMap
    .optional()
    .describe('Environment variables of all workloads inside')
    .register(formFacts, { label: ENV_LABEL, order });
}

/** Reference to the provider that runs a workload (D-129). Further members are stored as sent. @param kind of provider */
export function runBy(kind: string) {
  const id = idOf({ to: aProvider(kind), onDelete: 'follows', missing: 404 });
  return z.looseObject({ id, locations: z.array(z.unknown()).optional() });
}

/** One of the values, ignoring case, or of the aliases, such as their ids; stored as sent (D-027). In JSON Schema, the values are an enum. */
export function caseInsensitiveEnum(values: readonly string[], aliases: readonly string[] = []): z.ZodType<string> {
  const inAnyCase = [...values, ...aliases].map((value) =>
    value.replace(/[a-z]/gi, (letter) => `[${letter.toLowerCase()}${letter.toUpperCase()}]`),
  );
  const message = `must be one of ${values.join(', ')}`;
  return z.union([z.enum(values), z.string().regex(new RegExp(`^(?:${inAnyCase.join('|')})$`), message)], {
    error: ({ input }) => (input === undefined ? undefined : 'must be a string'),
  });
}

/** The typed view of properties that the schema has parsed, as all stored records have been. */
export function typed<T extends z.ZodType>(_schema: T, record: { properties: JsonObject }): z.output<T> {
  // Already parsed, as described above.
  return record.properties as z.output<T>;
}

/** Names as in DNS labels: containers, jobs, secrets, volumes (D-053, D-079). */
export const dnsName = {
  pattern: /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/,
  maxLength: 63,
  hint: 'consist of lower-case letters, digits and inner hyphens, at most 63 characters',
};

export function shapeOf(schema: z.ZodType): Readonly<Record<string, z.ZodType>> {
  return schema instanceof z.ZodObject ? (schema.shape as Record<string, z.ZodType>) : {}; // the schemas of the types are classic zod types
}

/** Keys that mean `plugins.platformSecurity` of an endpoint, whatever the brand (D-083). */
export const SECURITY_KEY = /^[a-z]+Security$/;

/** Keys that mean `platform_home` of a user, whatever the brand (D-083). */
export const HOME_KEY = /^[a-z]+_home$/;

/** The keys of an object that are spellings of a brand key. A valid object has at most one. */
export function brandKeys(object: object, pattern: RegExp): string[] {
  return Object.keys(object).filter((key) => pattern.test(key));
}
