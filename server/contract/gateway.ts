import { z } from 'zod';
import { PlatformError } from '../model/errors.ts';
import { isUuid, type Uuid } from '../model/ids.ts';
import { isJsonObject, type Json, type JsonObject, memberOf } from '../model/json.ts';
import { named } from './named.ts';
import { id } from './parts.ts';
import { may } from './right.ts';
import { type Answer, ok, ownBody, type Row, type Rows, readJson, rowsOf } from './row.ts';

/** No content type is refused. */
const ANY = ['application/json', '*/*'];

const integer = (description: string) => ({ description, schema: { type: 'integer' } });

/** Headers of every answer of the gateway (D-157). */
const latency: JsonObject = {
  'X-Terrarium-Proxy-Latency': integer('Milliseconds spent in the gateway'),
  'X-Terrarium-Upstream-Latency': integer('Milliseconds spent in the lambda or container'),
};

const limit: JsonObject = {
  'X-RateLimit-Limit-Minute': integer('Of a limited endpoint: calls per minute'),
  'X-RateLimit-Remaining-Minute': integer('Of a limited endpoint: calls left'),
};

/** Throws 400 for what names no lambda. */
function readAsyncCall(event: Json | undefined): { lambdaId: Uuid } {
  const lambdaId = memberOf(event, 'lambdaId');
  if (isUuid(lambdaId)) return { lambdaId: lambdaId.toLowerCase() };
  const pointer = isJsonObject(event) ? '/lambdaId' : '/';
  throw new PlatformError(400, "the body must be a JSON object whose 'lambdaId' is a UUID", {
    details: [{ pointer, message: 'must name the lambda to invoke' }],
  });
}

/** What the gateway answers itself (D-164..D-169). */
export const builtInRows = rowsOf('Gateway', {
  invokeAsync: {
    route: 'post /api/async',
    summary: 'Invoke a lambda without waiting for it',
    description: 'A public lambda needs no credentials. An endpoint `/async` of an API named `api` takes precedence.',
    right: may('lambda.invoke', 'lambdaId'),
    body: {
      ...readJson(
        named('AsyncCall', z.looseObject({ lambdaId: id }).describe('The event; `lambdaId` names the lambda')),
        readAsyncCall,
      ),
      mediaTypes: ANY,
    },
    answer: {
      ...ok(
        named(
          'AsyncAcceptance',
          z.object({ lambdaId: id.describe('Id of this invocation, for `/results/{result_id}`') }),
        ),
        'Accepted',
      ),
      headers: latency,
    },
    errors: [404, 429, 503],
  },
  readResult: {
    route: 'get /results/{result_id}',
    summary: 'The result of an asynchronous invocation',
    description: 'While it is running: 404 with `Retry-After`. Basic authentication is not accepted here.',
    right: may('lambda.view', 'result_id'),
    answer: {
      ...ok(
        named(
          'AsyncResult',
          z.object({
            contentType: z.string(),
            executionId: id,
            executionTime: z.int().describe('When it ended, milliseconds since 1970'),
            lambdaId: id,
            result: z.string(),
            error: z.string().optional().describe('Only of a failed execution'),
          }),
        ),
      ),
      headers: latency,
    },
    errors: [400, 404],
    security: ['bearer'],
  },
});

const published: Answer = {
  status: 200,
  description: 'Whatever the lambda or container answers',
  schema: z.unknown(),
  mediaTypes: ['*/*'],
  headers: { ...latency, ...limit },
};

/** Endpoints that users publish (section 11): every method of every path. */
export const endpointRows: Rows = rowsOf(
  'Gateway',
  Object.fromEntries(
    (['get', 'post', 'put', 'patch', 'delete'] as const).map((verb): [string, Omit<Row, 'tag'>] => [
      `${verb}Endpoint`,
      {
        route: `${verb} /{api_name}/{endpoint}`,
        summary: `${verb.toUpperCase()} a published endpoint`,
        description:
          'What is sent and answered is up to the lambda or container. `endpoint` may hold slashes. Whether credentials are needed is up to the endpoint.',
        right: may('apiendpoint.invoke', 'endpoint'),
        ...(verb !== 'get' && { body: { ...ownBody(z.unknown(), ...ANY), isOptional: true } }),
        answer: published,
        errors: [403, 404, 405, 429, 500, 501, 502, 503, 504],
      },
    ]),
  ),
);
