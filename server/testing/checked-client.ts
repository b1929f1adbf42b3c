import { appendFileSync } from 'node:fs';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { inject } from 'vitest';
import { BASE, countedOperations, type DocumentedOperation, responseOf, schemas, wordsFor } from './api-document.ts';
import { type Reply, send as sendAnything } from './client.ts';
import { lineOf } from './validated-operations.ts';

export { type Authorization, basic, bearer, type Reply } from './client.ts';

/**
 * A client whose `send` checks all responses of the platform against the API document, with a validator other than zod. A response that
 * does not match its route fails in whichever test gets it.
 */

const ajv = addFormats.default(new Ajv2020({ strict: false }));
ajv.addSchema(standingAlone({ $id: `${BASE}/schemas`, $defs: schemas }));
const validators = new WeakMap<object, ValidateFunction>();
const validated = new Set<DocumentedOperation>();

/** Like `send`; throws if a response does not match its route. */
export async function send(...[method, url, options]: Parameters<typeof sendAnything>): Promise<Reply> {
  const reply = await sendAnything(method, url, options);
  check(method, url, reply);
  return reply;
}

/** Returns a stream of events when its head has arrived; throws if that does not match its route. */
export async function follow(url: string, authorization: string): Promise<Response> {
  const response = await fetch(url, { headers: { authorization } });
  if (!response.ok) throw new Error(`GET ${url} is ${response.status}: ${await response.text()}`);
  check('GET', url, { status: response.status, headers: response.headers, body: '' });
  return response;
}

function check(method: string, url: string, reply: Reply): void {
  const { pathname } = new URL(url);
  const operation = operationOf(method, pathname.replace(/(?<=.)\/$/, ''));
  if (!operation) return;
  const violation = violationIn(operation.responses[reply.status], reply);
  if (violation !== undefined)
    throw new Error(
      `${method} ${url}: ${reply.status} does not match the description of ${operation.path}: ${violation}`,
    );
  if (reply.status < 400) noteValidated(operation);
}

/** Notes an operation that has succeeded with a valid response (`validated-operations.ts`). */
function noteValidated(operation: DocumentedOperation): void {
  const file = inject('validatedFile');
  if (file === undefined || validated.has(operation)) return;
  validated.add(operation);
  appendFileSync(file, `${lineOf(operation)}\n`);
}

function violationIn(
  documented: DocumentedOperation['responses'][string] | undefined,
  reply: Reply,
): string | undefined {
  if (!documented) return 'the status is not in the document';
  const { content } = responseOf(documented);
  if (!content) return reply.body === '' ? undefined : 'the document has no body for it';
  const [mediaType = ''] = (reply.headers.get('content-type') ?? '').split(';');
  const schema = content[mediaType]?.schema;
  if (!schema) return `the content type is not ${mediaType}`;
  if (mediaType !== 'application/json') return undefined;
  const validate = validators.get(schema) ?? ajv.compile(standingAlone(schema));
  validators.set(schema, validate);
  return validate(reply.body) ? undefined : ajv.errorsText(validate.errors);
}

/** Number of parameters in a path. */
const opennessOf = (parts: readonly string[]) =>
  parts.reduce((sum, part) => sum + (part.startsWith('{') ? (wordsFor(part) ? 1 : 2) : 0), 0);

/** Each operation with its path segments, specific ones first. */
const operations = countedOperations
  .map((operation) => ({ operation, parts: operation.path.split('/') }))
  .toSorted((a, b) => opennessOf(a.parts) - opennessOf(b.parts));

/** The operation for a request: the most specific one that matches. */
function operationOf(method: string, address: string): DocumentedOperation | undefined {
  const segments = address.split('/');
  const isSame = (segment: string, part: string) =>
    part.startsWith('{') ? (wordsFor(part)?.includes(segment) ?? true) : segment === part;
  return operations.find(
    ({ operation, parts }) =>
      operation.verb === method &&
      parts.length === segments.length &&
      parts.every((part, at) => isSame(segments[at] ?? '', part)),
  )?.operation;
}

/** A standalone schema. */
function standingAlone(described: object): Record<string, unknown> {
  return JSON.parse(JSON.stringify(described).replaceAll('#/components/schemas/', `${BASE}/schemas#/$defs/`));
}
