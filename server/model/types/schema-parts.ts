import { z } from 'zod';
import { formFacts } from '../form-facts.ts';
import type { JsonObject } from '../json.ts';
import { aProvider, idOf } from '../reference-facts.ts';

/** A map of strings. */
export const stringMap = z.record(z.string(), z.string());

/** How an environment variable may be called (D-110). */
export const VARIABLE_NAME = /^[A-Za-z_][A-Za-z0-9_.-]*$/;
export const variableNameHint = `is not a name for an environment variable (${VARIABLE_NAME.source.slice(1, -1)})`;

export const ENV_LABEL = 'Environment variables';

/** Environment variables (D-110). */
export const envMap = z.record(z.string().regex(VARIABLE_NAME, variableNameHint), z.string());

/** Environment variables of an organization, workspace or environment. @param order of it in the form */
export function variablesInside(order = 1) {
  return envMap
    .optional()
    .describe('Environment variables of all workloads inside')
    .register(formFacts, { label: ENV_LABEL, order });
}

/** Names the provider that a workload is run by (D-129); further members are kept as sent. @param kind of those that can */
export function runBy(kind: string) {
  const id = idOf({ to: aProvider(kind), whenGone: 'follows', missing: 404 });
  return z.looseObject({ id, locations: z.array(z.unknown()).optional() });
}

/** A string that must be one of the values in any letter case; it is kept as sent (D-027). */
export function anyCaseOf(...values: string[]): z.ZodString {
  const known = new Set(values.map((value) => value.toLowerCase()));
  return z
    .string()
    .refine((text) => known.has(text.toLowerCase()), `must be one of ${values.join(', ')}`)
    .meta({ examples: values });
}

/**
 * The typed view of properties that have passed `schema`: whatever reaches a type's hooks has been parsed with the
 * type's own schema, and so has whatever is stored.
 */
export function typed<T extends z.ZodType>(_schema: T, record: { properties: JsonObject }): z.output<T> {
  // Parsed before: see above.
  return record.properties as z.output<T>;
}

/** Names as in DNS labels: containers, jobs, secrets, volumes (D-053, D-079). */
export const dnsName = {
  pattern: /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/,
  maxLength: 63,
  hint: 'consist of lower-case letters, digits and inner hyphens, at most 63 characters',
};

/** The members of an object's schema; none of another one. */
export function shapeOf(schema: z.ZodType): Readonly<Record<string, z.ZodType>> {
  return schema instanceof z.ZodObject ? (schema.shape as Record<string, z.ZodType>) : {}; // members of ours are classic types
}
