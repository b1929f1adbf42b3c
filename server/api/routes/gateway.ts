import { z } from 'zod';
import type { JsonObject } from '../../model/json.ts';
import { EXAMPLE_ID } from '../../model/types/schema-parts.ts';
import { id, named, object } from '../schemas/parts.ts';
import { type Answer, defineRoutes, json, ok, ownBody, permission, type Route, type Routes, route } from './route.ts';

const ANY = ['application/json', '*/*'];

const integer = (description: string) => ({ description, schema: { type: 'integer' } });

/** Headers of every response of the gateway (D-157). */
const latency: JsonObject = {
  'X-Terrarium-Proxy-Latency': integer('Time in the gateway in milliseconds'),
  'X-Terrarium-Upstream-Latency': integer('Time in the lambda or container in milliseconds'),
};

const limit: JsonObject = {
  'X-RateLimit-Limit-Minute': integer('For an endpoint with a rate limit: calls per minute'),
  'X-RateLimit-Remaining-Minute': integer('For an endpoint with a rate limit: calls left'),
};

const asyncCall = named(
  'AsyncCall',
  z.looseObject({ lambdaId: id.toLowerCase() }).describe('The event; `lambdaId` is the id of the lambda'),
);

/** Routes that the gateway handles itself (D-164..D-169). */
export const builtInRoutes = defineRoutes('Gateway', {
  invokeAsync: route('post /api/async', permission('lambda.invoke', 'lambdaId'), {
    areCredentialsOptional: true,
    summary: 'Invoke a lambda without waiting for it',
    description:
      'A public lambda needs no credentials. An endpoint `/async` of an API named `api` gets only requests whose body names no ' +
      'existing lambda.',
    body: {
      ...json(asyncCall, { lambdaId: EXAMPLE_ID, greeting: 'hello' }),
      mediaTypes: ANY,
    },
    answer: {
      ...ok(
        object('AsyncAcceptance', { lambdaId: id.describe('ID of this invocation, for `/results/{result_id}`') }),
        'Accepted',
      ),
      headers: {
        ...latency,
        'X-Terrarium-Target': {
          description: '`lambda ID` for this route, `endpoint ID` if an endpoint with this path has answered',
          schema: { type: 'string' },
        },
      },
    },
    errors: [404, 429],
  }),
  readResult: route('get /results/{result_id}', permission('lambda.view', 'result_id'), {
    summary: 'The result of an asynchronous invocation',
    description:
      'Returns 404 with `Retry-After` while the invocation is running. Basic authentication is not accepted.',
    answer: {
      ...ok(
        object('AsyncResult', {
          contentType: z.string(),
          executionId: id,
          executionTime: z.int().describe('End of the invocation in milliseconds since 1970'),
          lambdaId: id,
          result: z.string(),
          isBase64Encoded: z.literal(true).optional().describe('`result` is base64; only if the result is binary'),
          error: z.string().optional().describe('Only for a failed invocation'),
        }),
      ),
      headers: latency,
    },
    security: ['bearer'],
  }),
});

const published: Answer = {
  status: 200,
  description: 'The response of the lambda or container',
  schema: z.unknown(),
  mediaTypes: ['*/*'],
  headers: { ...latency, ...limit },
  isAnyStatus: true,
};

/** Endpoints that users publish (section 11): all methods of all paths. */
export const endpointRoutes: Routes = defineRoutes(
  'Gateway',
  Object.fromEntries(
    (['get', 'post', 'put', 'patch', 'delete'] as const).map((verb): [string, Omit<Route, 'tag'>] => [
      `${verb}Endpoint`,
      route(`${verb} /{api_name}/{endpoint}`, permission('apiendpoint.invoke', 'endpoint'), {
        summary: `${verb.toUpperCase()} a published endpoint`,
        description:
          'The lambda or container defines the request and the response. `endpoint` can contain slashes, as they are or as `%2F`. The endpoint defines ' +
          'whether credentials are required.',
        ...(verb !== 'get' && {
          body: { ...ownBody(z.unknown(), ...ANY), isOptional: true, example: { greeting: 'hello' } },
        }),
        areCredentialsOptional: true,
        answer: published,
        errors: [405, 429, 500, 501, 502, 503, 504],
      }),
    ]),
  ),
);
