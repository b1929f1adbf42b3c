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

/** The operation that a request is of: where several are, the one whose path leaves least open. */
function operationOf(method: string, address: string): DocumentedOperation | undefined {
  return documentedOperations
    .filter(({ verb, path }) => verb === method && path !== '/{api_name}/{endpoint}' && isOf(address, path)) // those answer what they like
    .toSorted((a, b) => opennessOf(a.path) - opennessOf(b.path))[0];
}

function isOf(address: string, path: string): boolean {
  const [sent, known] = [address.split('/'), path.split('/')];
  const isSame = (one: string, part: string) => {
    if (!part.startsWith('{')) return one === part;
    return wordsFor(part)?.includes(one) ?? true;
  };
  return sent.length === known.length && known.every((part, at) => isSame(sent[at] ?? '', part));
}

const opennessOf = (path: string) =>
  path.split('/').reduce((sum, part) => sum + (part.startsWith('{') ? (wordsFor(part) ? 1 : 2) : 0), 0);

/** A schema on its own. */
function standingAlone(described: object): Record<string, unknown> {
  return JSON.parse(JSON.stringify(described).replaceAll('#/components/schemas/', `${BASE}/schemas#/$defs/`));
}
