import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { BASE, type DocumentedOperation, documentedOperations, responseOf, schemas, wordsFor } from './api-document.ts';
import { type Reply, send as sendAnything } from './client.ts';

export { type Authorization, basic, bearer, type Reply } from './client.ts';

/**
 * `send` that holds every answer of the platform against its row, by way of the document that is made of the rows and of a validator
 * that knows nothing of zod. An answer that fits its row no more fails whichever test met it.
 */

const ajv = addFormats.default(new Ajv2020({ strict: false }));
ajv.addSchema(standingAlone({ $id: `${BASE}/schemas`, $defs: schemas }));
const validators = new WeakMap<object, ValidateFunction>();

/** As `send`; throws where the answer is not as its row says. */
export async function send(...[method, url, options]: Parameters<typeof sendAnything>): Promise<Reply> {
  const reply = await sendAnything(method, url, options);
  // So long an address is refused before any row is looked for (D-185).
  if (reply.status === 414) return reply;
  const { pathname, searchParams } = new URL(url);
  // With whole records in place of what names them (D-037) an answer is as the row's description says, not its schema.
  if (searchParams.has('embed')) return reply;
  const operation = operationOf(method, pathname.replace(/(?<=.)\/$/, ''));
  const offence = operation && offenceOf(operation.responses[reply.status], reply);
  if (offence === undefined) return reply;
  throw new Error(`${method} ${url}: ${reply.status} is not as the row of ${operation?.path} says: ${offence}`);
}

function offenceOf(said: DocumentedOperation['responses'][string] | undefined, reply: Reply): string | undefined {
  if (!said) return 'it has no such status';
  const { content } = responseOf(said);
  if (!content) return reply.body === '' ? undefined : 'it has no body';
  const [mediaType = ''] = (reply.headers.get('content-type') ?? '').split(';');
  const wanted = content[mediaType]?.schema;
  if (!wanted) return `it is no ${mediaType}`;
  if (mediaType !== 'application/json') return undefined;
  const validate = validators.get(wanted) ?? ajv.compile(standingAlone(wanted));
  validators.set(wanted, validate);
  return validate(reply.body) ? undefined : ajv.errorsText(validate.errors);
}

/** How much of a path is left open. */
const opennessOf = (parts: readonly string[]) =>
  parts.reduce((sum, part) => sum + (part.startsWith('{') ? (wordsFor(part) ? 1 : 2) : 0), 0);

/** Each operation with the parts of its path, those that leave least open first. */
const known = documentedOperations
  .filter(({ path }) => path !== '/{api_name}/{endpoint}') // those answer what they like
  .map((operation) => ({ operation, parts: operation.path.split('/') }))
  .toSorted((a, b) => opennessOf(a.parts) - opennessOf(b.parts));

/** The operation that a request is of: where several are, the one whose path leaves least open. */
function operationOf(method: string, address: string): DocumentedOperation | undefined {
  const sent = address.split('/');
  const isSame = (one: string, part: string) =>
    part.startsWith('{') ? (wordsFor(part)?.includes(one) ?? true) : one === part;
  return known.find(
    ({ operation, parts }) =>
      operation.verb === method &&
      parts.length === sent.length &&
      parts.every((part, at) => isSame(sent[at] ?? '', part)),
  )?.operation;
}

/** A schema on its own. */
function standingAlone(described: object): Record<string, unknown> {
  return JSON.parse(JSON.stringify(described).replaceAll('#/components/schemas/', `${BASE}/schemas#/$defs/`));
}
