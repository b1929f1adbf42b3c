import { z } from 'zod';
import { openApiDocument } from '../api/openapi/document.ts';

/** The API document for tests: loaded once, and validated with a schema of the members that tests use. */

export const BASE = 'http://base';
export const GATEWAY = 'http://gateway';

const schema = z.record(z.string(), z.unknown());
const content = z.record(z.string(), z.object({ schema: schema.optional(), example: z.unknown().optional() }));
const reference = z.object({ $ref: z.string() });
const response = z.object({ content: content.optional() });
const parameter = z.object({
  name: z.string(),
  in: z.string(),
  required: z.boolean().optional(),
  schema: z.object({ enum: z.array(z.string()).optional() }),
});
const operationSchema = z.object({
  /** `GET` and the like. */
  verb: z.string().toUpperCase(),
  path: z.string(),
  /** Only for operations that are not at the base address. */
  servers: z.array(z.object({ url: z.string() })).optional(),
  /** All operations declare the permission that they require. */
  'x-terrarium-right': z.union([
    z.enum(['none', 'caller', 'root']),
    z.array(z.object({ action: z.string(), on: z.string() })).min(1),
  ]),
  parameters: z.array(z.union([reference, parameter])).default([]),
  requestBody: z.object({ content }).optional(),
  responses: z.record(z.string(), z.union([reference, response])),
  security: z.array(z.record(z.string(), z.unknown())).optional(),
});

/** One operation of the document with its position. */
export type DocumentedOperation = z.infer<typeof operationSchema>;

const documentSchema = z.object({
  paths: z.record(z.string(), z.record(z.string(), z.unknown())),
  components: z.object({
    schemas: z.record(z.string(), schema),
    parameters: z.record(z.string(), parameter),
    responses: z.record(z.string(), response),
  }),
});
const options = { version: '0', typePrefix: 'Platform', baseUrl: BASE, gatewayUrl: GATEWAY };
const contract = documentSchema.parse(openApiDocument(options));
const inspect = documentSchema.parse(openApiDocument(options, 'inspect'));
/** Parts with one name are made from one schema. */
const components = {
  parameters: { ...contract.components.parameters, ...inspect.components.parameters },
  responses: { ...contract.components.responses, ...inspect.components.responses },
};

export const schemas = { ...contract.components.schemas, ...inspect.components.schemas };

/** All operations of the document. */
export const documentedOperations: readonly DocumentedOperation[] = Object.entries({
  ...contract.paths,
  ...inspect.paths,
}).flatMap(([path, { servers, ...verbs }]) =>
  Object.entries(verbs).map(([verb, operation]) =>
    operationSchema.parse({ verb, path, servers, ...Object(operation) }),
  ),
);

/** The operations whose responses tests validate: endpoints can return anything, and a WebSocket has no response. */
export const countedOperations = documentedOperations.filter(
  ({ path, responses }) => path !== '/{api_name}/{endpoint}' && responses[101] === undefined,
);

/** Resolves a parameter, which can be a reference to a shared one. */
export function parameterOf(declared: DocumentedOperation['parameters'][number]): z.infer<typeof parameter> {
  return '$ref' in declared ? shared(components.parameters, declared.$ref) : declared;
}

/** Resolves a response, which can be a reference to a shared one. */
export function responseOf(declared: DocumentedOperation['responses'][string]): z.infer<typeof response> {
  return '$ref' in declared ? shared(components.responses, declared.$ref) : declared;
}

/** The accepted values of a path parameter such as `{word}`; undefined if it accepts any. */
export function wordsFor(part: string): readonly string[] | undefined {
  return components.parameters[part.slice(1, -1)]?.schema.enum;
}

function shared<T>(all: Readonly<Record<string, T>>, reference: string): T {
  const found = all[reference.split('/').at(-1) ?? ''];
  if (found) return found;
  throw new Error(`the document has no ${reference}`);
}
