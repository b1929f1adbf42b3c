import { z } from 'zod';

const schemas = new Map<string, z.ZodType>();

/** Names a schema in the API document; the document refers to it by that name. */
export function named<Schema extends z.ZodType>(name: string, schema: Schema): Schema {
  if (schemas.has(name)) throw new Error(`two schemas have the name ${name}`);
  schemas.set(name, schema);
  return schema;
}

export const object = <Shape extends z.core.$ZodLooseShape>(name: string, shape: Shape) => named(name, z.object(shape));

export const strictObject = <Shape extends z.core.$ZodLooseShape>(name: string, shape: Shape) =>
  named(name, z.strictObject(shape));

export const looseObject = <Shape extends z.core.$ZodLooseShape>(name: string, shape: Shape) =>
  named(name, z.looseObject(shape));

export function namedSchemas(): ReadonlyMap<string, z.ZodType> {
  return schemas;
}

/** An id in a response: any UUID version of RFC 9562 or none, because clients can choose ids (D-030). */
export const id = z.guid();
export const time = z.iso.datetime();
export const traceId = z
  .string()
  .regex(/^[0-9a-f]{32}$/)
  .describe('ID of the trace (W3C trace context)');
export const count = z.int().min(0);

export const A_LAMBDA = { id: 'lambda_id', types: ['lambdas'] } as const;
/** Types with instances. */
export const A_WORKLOAD = { id: 'container_id', types: ['containers', 'jobs'] } as const;

/** RFC 6902. */
export const patchOperations = z.array(z.object({ op: z.string(), path: z.string(), value: z.unknown().optional() }));

/** Code that runs because of a change of the world (D-215). */
export const codeToRun = z.object({
  type: z.string().describe('Plural name of the type, such as `lambdas`'),
  path: z.string().describe('Names from the root organization down'),
  reasons: z.array(z.string()).describe('What triggers the code, such as `endpoint /acme/site/hello`'),
});

export const logLine = z.object({
  at: time,
  stream: z.enum(['stdout', 'stderr']),
  text: z.string(),
  executionId: id.optional(),
  instance: z.string().optional().describe('Container ID of the replica that wrote the line'),
});
export type LineView = z.output<typeof logLine>;

/** A recorded body: text, or base64 if it is not text. */
export const recordedBody = z.object({
  sizeBytes: z.int(),
  isCut: z.boolean().optional().describe('Only the beginning was recorded'),
  text: z.string().optional(),
  base64: z.string().optional(),
});
export type RecordedBody = z.output<typeof recordedBody>;

/** A new API key (D-173). */
export const apiKey = object('ApiKey', {
  apiKey: id.describe('User name for Basic authentication'),
  apiSecret: z.string().describe('Password for Basic authentication; returned only here'),
  accountId: id,
  disabled: z.boolean(),
});
