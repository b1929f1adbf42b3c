import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { z } from 'zod';
import { openApiDocument } from '../server/openapi/document.ts';
import { type Reply, send as sendAnything } from './client.ts';

/**
 * `send` that holds every answer of the platform against its row, by way of the document that is made of the rows and of a validator
 * that knows nothing of zod. An answer that fits its row no more fails whichever test met it.
 */

type JsonObject = Record<string, unknown>;

const BASE = 'http://base';
const schema = z.record(z.string(), z.unknown());
const response = z.object({ content: z.record(z.string(), z.object({ schema })).optional() });
const operationSchema = z.object({
  responses: z.record(z.string(), z.union([z.object({ $ref: z.string() }), response])),
});
const document = z
  .object({
    paths: z.record(z.string(), z.record(z.string(), z.unknown())),
    components: z.object({
      schemas: z.record(z.string(), schema),
      parameters: z.record(z.string(), z.object({ schema: z.object({ enum: z.array(z.string()).optional() }) })),
      responses: z.record(z.string(), response),
    }),
  })
  .parse(openApiDocument({ version: '0', typePrefix: 'Platform', baseUrl: BASE, gatewayUrl: 'http://gateway' }));

/** Published endpoints answer what they like. */
const paths = Object.keys(document.paths).filter((path) => path !== '/{api_name}/{endpoint}');
const ajv = addFormats.default(new Ajv2020({ strict: false }));
ajv.addSchema(standingAlone({ $id: `${BASE}/schemas`, $defs: document.components.schemas }));

/** As `send`; throws where the answer is not as its row says. */
export async function send(...[method, url, options]: Parameters<typeof sendAnything>): Promise<Reply> {
  const reply = await sendAnything(method, url, options);
  const path = pathOf(new URL(url).pathname);
  const documented = path === undefined ? undefined : document.paths[path]?.[method.toLowerCase()];
  if (documented === undefined) return reply;
  const offence = offenceOf(operationSchema.parse(documented).responses[reply.status], reply);
  if (offence === undefined) return reply;
  throw new Error(`${method} ${url}: ${reply.status} is not as the row of ${path} says: ${offence}`);
}

function offenceOf(said: z.infer<typeof operationSchema>['responses'][string] | undefined, reply: Reply) {
  if (!said) return 'it has no such status';
  const { content } = '$ref' in said ? (document.components.responses[lastOf(said.$ref)] ?? {}) : said;
  if (!content) return reply.body === '' ? undefined : 'it has no body';
  const [mediaType = ''] = (reply.headers.get('content-type') ?? '').split(';');
  const wanted = content[mediaType]?.schema;
  if (!wanted) return `it is no ${mediaType}`;
  if (mediaType !== 'application/json') return undefined;
  const validate = ajv.compile(standingAlone(wanted));
  return validate(reply.body) ? undefined : ajv.errorsText(validate.errors);
}

/** The path of the document that an address is of: where several are, the one that leaves least open. */
function pathOf(address: string): string | undefined {
  const found = paths.filter((path) => isOf(address, path));
  return found.toSorted((a, b) => opennessOf(a) - opennessOf(b))[0];
}

function isOf(address: string, path: string): boolean {
  const [sent, known] = [address.split('/'), path.split('/')];
  const isSame = (one: string, part: string) => {
    if (!part.startsWith('{')) return one === part;
    return wordsFor(part)?.includes(one) ?? true;
  };
  return sent.length === known.length && known.every((part, at) => isSame(sent[at] ?? '', part));
}

/** The words that a parameter of a path can be; undefined for one that can be any. */
const wordsFor = (part: string) => document.components.parameters[part.slice(1, -1)]?.schema.enum;
const opennessOf = (path: string) =>
  path.split('/').reduce((sum, part) => sum + (part.startsWith('{') ? (wordsFor(part) ? 1 : 2) : 0), 0);
const lastOf = (reference: string) => reference.split('/').at(-1) ?? '';

/** A schema on its own. */
function standingAlone(schemas: JsonObject): JsonObject {
  return JSON.parse(JSON.stringify(schemas).replaceAll('#/components/schemas/', `${BASE}/schemas#/$defs/`));
}
