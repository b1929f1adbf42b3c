import type { z } from 'zod';

const schemas = new Map<string, z.ZodType>();

/** Gives a schema its name in the API document: wherever it stands there it is mentioned by that. */
export function named<Schema extends z.ZodType>(name: string, schema: Schema): Schema {
  if (schemas.has(name)) throw new Error(`two schemas of the contract are called ${name}`);
  schemas.set(name, schema);
  return schema;
}

/** All that have a name, by it. */
export function namedSchemas(): ReadonlyMap<string, z.ZodType> {
  return schemas;
}
