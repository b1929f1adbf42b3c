import { may } from '../contract/right.ts';
import type { JsonObject } from '../model/json.ts';
import { type Operation, ok, ref, rowsOf } from './operation.ts';

const gateway = rowsOf('Gateway');

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

/** What the gateway serves at `{gateway_url}`: its own routes, and the endpoints that users publish (sections 11 and 12). */
export const gatewayOperations: readonly Operation[] = [
  gateway('post /api/async', 'invokeAsync', 'Invoke a lambda without waiting for it', {
    right: may('lambda.invoke', 'lambdaId'),
    description: 'A public lambda needs no credentials. An endpoint `/async` of an API named `api` takes precedence.',
    body: { schema: ref('AsyncCall'), mediaTypes: ANY },
    success: { ...ok(ref('AsyncAcceptance'), 'Accepted'), headers: latency },
    errors: [403, 404, 429, 503],
  }),
  gateway('get /results/{result_id}', 'readResult', 'The result of an asynchronous invocation', {
    right: may('lambda.view', 'result_id'),
    description: 'While it is running: 404 with `Retry-After`. Basic authentication is not accepted here.',
    success: { ...ok(ref('AsyncResult')), headers: latency },
    errors: [400, 403, 404],
    security: ['bearer'],
  }),
  ...(['get', 'post', 'put', 'patch', 'delete'] as const).map((verb) =>
    gateway(`${verb} /{api_name}/{endpoint}`, `${verb}Endpoint`, `${verb.toUpperCase()} a published endpoint`, {
      description:
        'What is sent and answered is up to the lambda or container. `endpoint` may hold slashes. Whether credentials are needed is up to the endpoint.',
      right: may('apiendpoint.invoke', 'endpoint'),
      ...(verb !== 'get' && { body: { schema: {}, mediaTypes: ANY, optional: true } }),
      success: {
        status: 200,
        description: 'Whatever the lambda or container answers',
        schema: {},
        mediaTypes: ['*/*'],
        headers: { ...latency, ...limit },
      },
      errors: [403, 404, 405, 429, 500, 501, 502, 503, 504],
    }),
  ),
];
