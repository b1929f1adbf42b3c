import { randomUUID } from 'node:crypto';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { Router } from 'express';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { typeOfWord } from '../server/model/registry.ts';
import { openApiDocument } from '../server/openapi/document.ts';
import { resourceRoutes } from '../server/resources/routes.ts';
import { securityRoutes } from '../server/security/routes.ts';
import { basic, send } from './client.ts';
import { type Platform, startPlatform } from './platform.ts';

/** The API document against the platform: it tells of every route that there is, of no other, and of what they really answer. */

type JsonObject = Record<string, unknown>;

const schema = z.record(z.string(), z.unknown());
const content = z.record(z.string(), z.object({ schema }));
const body = z.object({ content: content.optional() });
const operationSchema = z.object({
  verb: z.string(),
  path: z.string(),
  servers: z.array(z.object({ url: z.string() })).optional(),
  requestBody: body.optional(),
  responses: z.record(z.string(), z.union([z.object({ $ref: z.string() }), body])),
});
type Operation = z.infer<typeof operationSchema>;

const BASE = 'http://base';
const GATEWAY = 'http://gateway';
const document = z
  .object({
    paths: z.record(z.string(), z.record(z.string(), z.unknown())),
    components: z.object({
      schemas: z.record(z.string(), schema),
      parameters: z.record(z.string(), z.object({ schema: z.object({ enum: z.array(z.string()).optional() }) })),
      responses: z.record(z.string(), body),
    }),
  })
  .parse(openApiDocument({ version: '0', typePrefix: 'Platform', baseUrl: BASE, gatewayUrl: GATEWAY }));

const operations = Object.entries(document.paths).flatMap(([path, { servers, ...verbs }]) =>
  Object.entries(verbs).map(([verb, operation]) =>
    operationSchema.parse({ verb, path, servers, ...Object(operation) }),
  ),
);

describe('of the routes of the services', () => {
  /** They can't but refuse: a list is no document that could be patched (D-090), and types are given (D-211). */
  const refusing = /^patch .meta.(orgs|users|rules|:fqon.:word)$|^(post|patch|delete) .meta.:fqon.resourcetypes/;

  // Tables are made without a look at what their handlers will use, so next to nothing is enough here.
  const resources = resourceRoutes({ service: {}, status: {} } as never);
  const security = securityRoutes({ limits: {}, prefix: '' } as never);
  const routes = [...routesOf(resources, '/meta'), ...routesOf(security, '/security')];

  it.each(routes.filter((route) => !refusing.test(route)))('%s is in the document', (route) => {
    const [verb, path = ''] = route.split(' ');
    expect(operations.filter((one) => one.verb === verb && isSamePath(path, one.path))).not.toEqual([]);
  });
});

/** The routes of an Express router and of the routers in it, such as `get /meta/:fqon`. */
function routesOf(router: Router, base: string): string[] {
  return router.stack.flatMap(({ route, handle }) => {
    if (route)
      return [route.path].flat().flatMap((path) => route.stack.map(({ method }) => `${method} ${base}${path}`));
    return 'stack' in handle ? routesOf(handle as Router, base) : []; // what has a stack is a router
  });
}

/** Can a path of Express be that of the document? Only words are parameters in the one and may be literal in the other. */
function isSamePath(route: string, documented: string): boolean {
  const [ours, theirs] = [route.split('/'), documented.split('/')];
  const isSame = (mine: string, its: string) => {
    const values = document.components.parameters[its.slice(1, -1)]?.schema.enum;
    if (mine.startsWith(':')) return its.startsWith('{') || /word$/i.test(mine);
    return mine === its || values?.includes(mine);
  };
  return ours.length === theirs.length && ours.every((mine, at) => isSame(mine, theirs[at] ?? ''));
}

describe('of the operations of the document', () => {
  let platform: Platform;
  let auth: string;
  /** Values of path parameters: ids of what there is, one below the other where that can be. */
  const known = new Map([
    ['fqon', 'root'],
    ['word', 'resources'],
    ['child_word', 'resources'],
    ['listed_word', 'datafeeds'],
    ['reference_word', 'resourcetypes'],
    ['type_id', typeOfWord('lambdas').id],
    ['api_key', 'none'],
    ['token', 'none'],
  ]);

  beforeAll(async () => {
    platform = await startPlatform({ seed: 'demo' });
    const { root, emulator } = platform;
    auth = basic(emulator.rootCredentials.apiKey, emulator.rootCredentials.apiSecret ?? '');
    const first = async (path: string, name?: string) =>
      (await root.get(path)).body.find((one: { name: string }) => !name || one.name === name);

    const provider = await first('/root/providers', 'default-docker');
    const endpoint = await first('/demo/apiendpoints?expand=true');
    const api = (await root.get(`/root/resources/${endpoint.properties.parent.id}`)).body;
    const environment = (await root.get(`/root/resources/${api.properties.parent.id}`)).body;
    const below = `/demo/environments/${environment.id}`;
    const lambda = await first(`${below}/lambdas`);
    const uses = { provider: { id: provider.id } };
    const volume = await root.create(`${below}/volumes`, { name: 'v', properties: { ...uses, type: 'empty_dir' } });
    const secret = { name: 's', properties: { ...uses, items: [{ key: 'k', value: 'hidden' }] } };
    const workload = { name: 'c', properties: { ...uses, container_type: 'DOCKER', image: 'nginx' } };
    const policy = await root.create(`${below}/policies`, { name: 'p' });
    const rule = {
      name: 'r',
      resource_type: 'Platform::Resource::Rule::Event',
      properties: { match_actions: [{ action: 'lambda.create.post' }], lambda: lambda.id },
    };
    const ids = {
      org: (await root.get('/demo')).body.id,
      workspace: environment.properties.workspace.id,
      environment: environment.id,
      container: (await root.create(`${below}/containers`, workload)).id,
      job: (await root.create(`${below}/jobs`, workload)).id,
      lambda: lambda.id,
      api: api.id,
      apiendpoint: endpoint.id,
      provider: provider.id,
      user: (await root.get('/users/self')).body.id,
      group: (await first('/demo/groups')).id,
      policy: policy.id,
      rule: (await root.create(`/demo/policies/${policy.id}/rules`, rule)).id,
      secret: (await root.create(`${below}/secrets`, secret)).id,
      volume: volume.id,
      entitlement: (await first(`${below}/entitlements`)).id,
      directory: (await send('GET', `${emulator.securityUrl}/root/directories`, { auth })).body[0].id,
    };
    for (const [noun, id] of Object.entries({ ...ids, account: ids.user })) known.set(`${noun}_id`, id);
    known.set('resource_id', environment.id).set('child_id', lambda.id);
  });
  afterAll(() => platform?.stop());

  const addressOf = ({ path, servers }: Operation, value: (name: string) => string) => {
    const base = servers?.[0]?.url === GATEWAY ? platform.emulator.gatewayUrl : platform.emulator.baseUrl;
    return base + path.replace(/\{([^}]+)\}/g, (_, name: string) => encodeURIComponent(value(name)));
  };
  /** Sends a request and holds the answer against the document. */
  const expectAsDocumented = async (operation: Operation, url: string, sent: { body?: unknown } = {}) => {
    const reply = await send(operation.verb.toUpperCase(), url, { auth, ...sent });
    const said = JSON.stringify(reply.body);
    expect(said).not.toContain('no route');
    expect(said).not.toContain('unknown resource type');
    expect(Object.keys(operation.responses), said).toContain(String(reply.status));
    const response = responseOf(operation, reply.status);
    const answered = response.content?.['application/json']?.schema;
    if (answered) expect(offences(answered, reply.body)).toEqual([]);
    else expect(reply.body).toBe('');
    return reply;
  };

  const platforms = operations.filter(({ path }) => path !== '/{api_name}/{endpoint}' && path !== '/openapi.json');
  const named = (some: Operation[]) => some.map((one) => [`${one.verb.toUpperCase()} ${one.path}`, one] as const);
  const reading = platforms.filter(({ verb }) => verb === 'get');
  const lists = reading.filter(({ path }) => /s$/.test(path) && path.startsWith('/meta'));
  const patching = platforms.filter(({ verb, path }) => verb === 'patch' && path.startsWith('/meta'));

  it.each(named(reading))('%s answers as documented', async (_, operation) => {
    await expectAsDocumented(
      operation,
      addressOf(operation, (name) => known.get(name) ?? randomUUID()),
    );
  });

  it.each(named(lists))('%s with expand answers as documented', async (_, operation) => {
    const url = addressOf(operation, (name) => (name === 'fqon' ? 'demo' : (known.get(name) ?? randomUUID())));
    await expectAsDocumented(operation, `${url}?expand=true`);
  });

  it.each(named(patching))('%s without operations answers as documented', async (_, operation) => {
    const url = addressOf(operation, (name) => known.get(name) ?? randomUUID());
    await expectAsDocumented(operation, url, { body: [] });
  });

  it.each(named(platforms.filter(({ verb }) => verb !== 'get')))(
    '%s of what is unknown answers as documented',
    async (_, operation) => {
      const url = addressOf(operation, (name) => (name.endsWith('_id') ? randomUUID() : (known.get(name) ?? 'none')));
      const isForm = operation.requestBody?.content?.['application/x-www-form-urlencoded'];
      const asJson = operation.verb === 'patch' ? [] : {};
      await expectAsDocumented(
        operation,
        url,
        operation.requestBody ? { body: isForm ? new URLSearchParams() : asJson } : {},
      );
    },
  );
});

function responseOf(operation: Operation, status: number): z.infer<typeof body> {
  const response = operation.responses[status] ?? {};
  if (!('$ref' in response)) return response;
  return document.components.responses[response.$ref.split('/').at(-1) ?? ''] ?? {};
}

/** What is wrong with a value by a schema of the document. */
function offences(wanted: JsonObject, value: unknown): unknown[] {
  const validate = ajv.compile(forAnswers(wanted));
  return validate(value) ? [] : (validate.errors ?? []);
}

const ajv = addFormats.default(new Ajv2020({ strict: false }));
ajv.addSchema(forAnswers({ $id: `${BASE}/schemas`, $defs: document.components.schemas }));

/** A schema as it holds for answers, on its own: what is only ever sent is not required. */
function forAnswers(schemas: JsonObject): JsonObject {
  const text = JSON.stringify(schemas).replaceAll('#/components/schemas/', `${BASE}/schemas#/$defs/`);
  return JSON.parse(text, (_, value) => {
    if (!Array.isArray(value?.required)) return value;
    return { ...value, required: value.required.filter((name: string) => !value.properties?.[name]?.writeOnly) };
  });
}
