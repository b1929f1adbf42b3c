import { randomUUID } from 'node:crypto';
import type { Router } from 'express';
import { beforeAll, describe, expect, it } from 'vitest';
import { openRoutes } from '../server/api/routes/meta-open.ts';
import { referringRoutes, refusedRoutes, typeChangeRoutes } from '../server/api/routes/meta-refused.ts';
import { controlPlaneTables } from '../server/api/routes/tables.ts';
import { routesOf as mountedIn } from '../server/api/server/mount-routes.ts';
import { typeIdOf } from '../server/model/type-names.ts';
import { EXAMPLE_ID } from '../server/model/types/schema-parts.ts';
import { startEmulator } from '../server/platform/emulator.ts';
import { accountChanges } from '../server/services/resources/account-routes.ts';
import { resourceRouter } from '../server/services/resources/routes.ts';
import { securityRouter } from '../server/services/security/routes.ts';
import { securityParts } from '../server/services/security/security-parts.ts';
import { rootPairOf } from '../server/testing/account.ts';
import { type DocumentedOperation, documentedOperations, GATEWAY, wordsFor } from '../server/testing/api-document.ts';
import { send } from '../server/testing/checked-client.ts';
import { type Platform, sharedPlatform, startPlatform } from '../server/testing/platform.ts';
import { restoreWorldAfterEach } from '../server/testing/restore-world-after-each.ts';

/** The API document compared with the platform: it lists all routes and no others, with their real responses. */

describe('of the routes of the services', async () => {
  /** Routes that always fail are not in the document. */
  const refusing = new Set(
    [openRoutes, refusedRoutes, referringRoutes, typeChangeRoutes, ...controlPlaneTables]
      .flatMap((table) => Object.values(table))
      .filter(({ answer }) => !answer)
      .map(({ route }) => expressed(route)),
  );

  // Tables are made without a look at what their handlers will use.
  const stub: () => unknown = new Proxy(() => undefined, {
    get: (_, name) => (name === Symbol.toPrimitive ? () => 'http://localhost' : stub),
    apply: () => stub,
  });
  const resources = resourceRouter(stub as never);
  const security = securityRouter(stub as never);
  const platform = await startEmulator({ seed: 'empty', containers: { engine: 'none' } });
  const ofPlugins = (await platform.testService.routes()).map(expressed);
  await platform.stop();
  const routes = [
    ...routesOf(resources, '/meta'),
    ...routesOf(security, '/security'),
    ...routesOf(accountChanges(stub as never, securityParts(stub as never)), '/security'),
    ...ofPlugins,
  ];

  it('every route of the services is in the document', () => {
    const undocumented = routes.filter((route) => {
      if (refusing.has(route)) return false;
      const [verb, path = ''] = route.split(' ');
      return !documentedOperations.some((operation) => operation.verb === verb && isSamePath(path, operation.path));
    });
    expect(undocumented).toEqual([]);
  });
});

/** `GET /meta/:fqon` for `get /meta/{fqon}`. */
const expressed = (route: string) => route.replace(/^\w+/, (verb) => verb.toUpperCase()).replace(/\{(\w+)\}/g, ':$1');

/** The routes of an Express router and of the routers in it, such as `GET /meta/:fqon`. */
function routesOf(router: Router, base: string): string[] {
  if (mountedIn(router).length > 0) return mountedIn(router).map(expressed);
  return router.stack.flatMap(({ route, handle }) => {
    const paths = [route?.path ?? []].flat();
    if (route)
      return paths.flatMap((path) => route.stack.map(({ method }) => `${method.toUpperCase()} ${base}${path}`));
    return 'stack' in handle ? routesOf(handle as Router, base) : []; // what has a stack is a router
  });
}

/** Can a path of Express be that of the document? Only words are parameters in the one and may be literal in the other. */
function isSamePath(route: string, documented: string): boolean {
  const [routeSegments, documentedSegments] = [route.split('/'), documented.split('/')];
  const isSame = (segment: string, documentedSegment: string) => {
    if (segment.startsWith(':')) return documentedSegment.startsWith('{') || /word$/i.test(segment);
    return segment === documentedSegment || wordsFor(documentedSegment)?.includes(segment);
  };
  return (
    routeSegments.length === documentedSegments.length &&
    routeSegments.every((segment, at) => isSame(segment, documentedSegments[at] ?? ''))
  );
}

describe('of the operations of the document', () => {
  const platform = sharedPlatform({ seed: 'demo' });
  let auth: string;
  let examples: Map<string, string>;

  beforeAll(async () => {
    auth = rootPairOf(platform);
    examples = await examplesIn(platform, auth);
  });
  restoreWorldAfterEach(platform);

  const example = (name: string) => examples.get(name) ?? randomUUID();
  const exampleInDemo = (name: string) => (name === 'fqon' ? 'demo' : example(name));
  const unknown = (name: string) => (name.endsWith('_id') ? randomUUID() : example(name));
  const addressOf = ({ path, servers }: DocumentedOperation, valueFor: (name: string) => string) => {
    const { baseUrl, gatewayUrl } = platform.emulator;
    const filled = path.replace(/\{([^}]+)\}/g, (_, name: string) => encodeURIComponent(valueFor(name)));
    return (servers?.[0]?.url === GATEWAY ? gatewayUrl : baseUrl) + filled;
  };
  /** The client checks the response against its route. */
  const expectAsDocumented = async ({ verb }: DocumentedOperation, url: string, request: { body?: unknown } = {}) => {
    const reply = await send(verb, url, { auth, ...request });
    expect(JSON.stringify(reply.body)).not.toMatch(/no route|unknown resource type/);
  };

  // Streams of events have no end that could be waited for, and a pipeline takes seconds to start.
  const platformOperations = documentedOperations.filter(
    ({ path }) => path !== '/{api_name}/{endpoint}' && !/(events|stream|pipelines\/demo)$/.test(path),
  );
  const reads = platformOperations.filter(({ verb }) => verb === 'GET');
  const lists = reads.filter(({ path }) => /^.meta.*s$/.test(path));
  const changes = platformOperations.filter(({ verb }) => verb !== 'GET');
  /** Checks each operation, and reports all failures with their messages. */
  const expectAll = async (
    operations: DocumentedOperation[],
    check: (operation: DocumentedOperation) => Promise<void>,
  ) => {
    expect(operations).not.toEqual([]);
    const failures: string[] = [];
    for (const operation of operations) {
      await check(operation).catch((failure: Error) => {
        failures.push(`${operation.verb} ${operation.path}: ${failure.message}`);
      });
    }
    expect(failures).toEqual([]);
  };

  it('every GET request answers as documented', () =>
    expectAll(reads, (operation) => {
      const url = addressOf(operation, example);
      return expectAsDocumented(operation, url.endsWith('/search') ? `${url}?name=demo` : url);
    }));

  it('every list with ?expand=true answers as documented', () =>
    expectAll(lists, (operation) =>
      expectAsDocumented(operation, `${addressOf(operation, exampleInDemo)}?expand=true`),
    ));

  /** Sends a request that has to succeed, and returns the body of the response. */
  const succeed = async (verb: string, url: string, body?: unknown) => {
    const reply = await send(verb, url, { auth, body });
    if (reply.status >= 300) throw new Error(`${verb} ${url} is ${reply.status}: ${JSON.stringify(reply.body)}`);
    return reply.body;
  };

  /** The example of the document for a body, with an id that exists for its placeholder. */
  const exampleBodyOf = ({ path, requestBody }: DocumentedOperation) => {
    const [[type = '', { example: body = null } = {}] = []] = Object.entries(requestBody?.content ?? {});
    const segments = path.split('/').reverse();
    const ids = new Map([
      ['lambdas', 'lambda_provider_id'],
      ...RUN_BY_ENGINE.map((collection) => [collection, 'provider_id'] as const),
    ]);
    const referencedId = example(
      segments.map((segment) => ids.get(segment)).find(Boolean) ?? (LAMBDA_USERS.test(path) ? 'lambda_id' : 'user_id'),
    );
    return { type, body: JSON.parse(JSON.stringify(body).replaceAll(EXAMPLE_ID, referencedId)) };
  };

  it('every example of a body is understood, and those of new records create them', () =>
    expectAll(
      changes.filter(({ requestBody, path }) => requestBody && !LEAVES_THE_MACHINE.test(path)),
      async (operation) => {
        const { verb, path, responses } = operation;
        const { type, body } = exampleBodyOf(operation);
        if (type === 'application/zip') return;
        const reply = await send(verb, addressOf(operation, example), {
          auth,
          body: type === FORM ? new URLSearchParams(body) : body,
        });
        const isCreated = Object.hasOwn(responses, '201') && path.startsWith('/meta');
        if (isCreated) expect([reply.status, reply.body]).toEqual([expect.toBeOneOf([201, 409]), expect.anything()]);
        // The password of the example is no user's, and its name is not that of the record.
        const isMistaken = reply.body.error === 'invalid_grant' || /^renaming /.test(String(reply.body.message));
        if (!isMistaken)
          expect([reply.status, reply.body]).not.toEqual([expect.toBeOneOf([400, 415]), expect.anything()]);
      },
    ));

  it('every record is read, patched, replaced and deleted as documented at each of its addresses', () => {
    let createdCount = 0;
    const operationsOf = (verb: string) => platformOperations.filter((operation) => operation.verb === verb);
    const creators = operationsOf('POST');
    const deletions = operationsOf('DELETE').filter(({ path }) => /^\/meta\/.*_id\}$/.test(path));
    return expectAll(deletions, async (deletion) => {
      const collection = deletion.path.slice(0, deletion.path.lastIndexOf('/'));
      const collectionName = collection.split('/').at(-1)?.replace('resources', 'containers');
      const create = async () => {
        const creator =
          creators.find(({ path }) => path === collection) ??
          creators.find(({ path }) => path.endsWith(`/${collectionName}`));
        if (!creator) throw new Error(`no operation creates ${collectionName}`);
        const name = `new-${createdCount++}`;
        const { body } = exampleBodyOf(creator);
        const properties = { ...body.properties, ...(collectionName === 'apiendpoints' && { resource: `/${name}` }) };
        // Each user has an email address of their own.
        if (collectionName === 'users') properties.email = '';
        return succeed('POST', addressOf(creator, example), { ...body, name, properties });
      };
      const collectionAddress = addressOf({ ...deletion, path: collection }, example);
      // Entitlements exist from the start.
      const record =
        collectionName === 'entitlements'
          ? (await succeed('GET', `${collectionAddress}?expand=true`))[0]
          : await create();
      const address = `${collectionAddress}/${record.id}`;
      const bodies = { GET: undefined, PATCH: [], PUT: record, DELETE: undefined };
      for (const [verb, sentBody] of Object.entries(bodies))
        if (operationsOf(verb).some(({ path }) => path === deletion.path)) await succeed(verb, address, sentBody);
    });
  });

  it('a fault is added and removed as documented', async () => {
    const faults = `${platform.emulator.baseUrl}/inspect/faults`;
    const { id } = await succeed('POST', faults, { service: 'scm', status: 503 });
    await succeed('DELETE', `${faults}/${id}`);
  });

  it('every change of an unknown resource answers as documented', () =>
    expectAll(changes, (operation) => {
      const isForm = operation.requestBody?.content[FORM] !== undefined;
      const emptyBody = operation.verb === 'PATCH' ? [] : {};
      const request = operation.requestBody && { body: isForm ? new URLSearchParams() : emptyBody };
      return expectAsDocumented(operation, addressOf(operation, unknown), request);
    }));
});

it('a platform that a request stops answers as documented', async () => {
  const platform = await startPlatform();
  const { baseUrl, worldId } = platform.emulator;
  const reply = await send('POST', `${baseUrl}/inspect/stop`, { auth: rootPairOf(platform), body: { worldId } });
  expect(reply.status).toBe(204);
  await platform.stop();
});

describe('the documentation page of a platform', () => {
  it('finds its script and the document beside it', async () => {
    const platform = await startPlatform();
    const { baseUrl } = platform.emulator;
    const page = await send('GET', `${baseUrl}/docs`);
    expect(page.status).toBe(200);
    const addresses = [...page.body.matchAll(/(?:src|spec-url)="([^"]+)"/g)].map(([, address]) => address);
    expect(addresses).toEqual(['docs/openapi-explorer.min.js', 'openapi.json']);
    for (const address of addresses) {
      expect((await fetch(new URL(address, `${baseUrl}/docs`))).status, address).toBe(200);
    }
    await platform.stop();
  });
});

const FORM = 'application/x-www-form-urlencoded';
const LEAVES_THE_MACHINE = /^\/inspect\/publishing\//;
/** Types whose examples refer to a container engine, and those whose examples refer to a lambda. */
const RUN_BY_ENGINE = ['containers', 'jobs', 'secrets', 'volumes'];
const LAMBDA_USERS = /(apiendpoints|rules|async)/;

/** Values of path parameters: what there is in the demo world and what is added to it, one below the other where that can be. */
async function examplesIn({ root, emulator }: Platform, auth: string): Promise<Map<string, string>> {
  const first = async (path: string, name?: string) =>
    (await root.get(path)).body.find((record: { name: string }) => !name || record.name === name);
  const above = async (record: { properties: { parent: { id: string } } }) =>
    (await root.get(`/root/resources/${record.properties.parent.id}`)).body;

  const endpoint = await first('/demo/apiendpoints?expand=true');
  const api = await above(endpoint);
  const environment = await above(api);
  const inside = `/demo/environments/${environment.id}`;
  const lambda = await first(`${inside}/lambdas`);
  const provider = await first('/root/providers', 'default-docker');

  const runsOn = { provider: { id: provider.id } };
  const workload = { name: 'w', properties: { ...runsOn, container_type: 'DOCKER', image: 'nginx' } };
  const volume = { name: 'v', properties: { ...runsOn, type: 'empty_dir' } };
  const secret = { name: 's', properties: { ...runsOn, items: [{ key: 'k', value: 'hidden' }] } };
  const policy = await root.create(`${inside}/policies`, { name: 'p' });
  const rule = {
    name: 'r',
    resource_type: 'Platform::Resource::Rule::Event',
    properties: { match_actions: [{ action: 'lambda.create.post' }], lambda: lambda.id },
  };
  const user = (await root.get('/users/self')).body;
  const invoked = await send('POST', `${emulator.baseUrl}/inspect/lambdas/${lambda.id}/invoke`, { auth, body: {} });
  const directories = await send('GET', `${emulator.securityUrl}/root/directories`, { auth });
  return new Map<string, string>([
    ['fqon', 'root'],
    ['word', 'resources'],
    ['child_word', 'resources'],
    ['listed_word', 'datafeeds'],
    ['type_id', typeIdOf('Resource::Node::Lambda')],
    ['api_key', 'none'],
    ['token', 'none'],
    ['token_id', 'none'],
    ['resource_id', environment.id],
    ['child_id', lambda.id],
    ['org_id', (await root.get('/demo')).body.id],
    ['workspace_id', environment.properties.workspace.id],
    ['environment_id', environment.id],
    ['container_id', (await root.create(`${inside}/containers`, workload)).id],
    ['job_id', (await root.create(`${inside}/jobs`, workload)).id],
    ['lambda_id', lambda.id],
    ['execution_id', invoked.body.executionId],
    ['request_seq', '1'],
    ['variable_key', 'SHOP_NAME'],
    ['api_id', api.id],
    ['apiendpoint_id', endpoint.id],
    ['provider_id', provider.id],
    ['lambda_provider_id', (await first('/root/providers', 'default-lambda')).id],
    ['user_id', user.id],
    ['account_id', user.id],
    ['group_id', (await first('/demo/groups')).id],
    ['policy_id', policy.id],
    ['rule_id', (await root.create(`/demo/policies/${policy.id}/rules`, rule)).id],
    ['secret_id', (await root.create(`${inside}/secrets`, secret)).id],
    ['volume_id', (await root.create(`${inside}/volumes`, volume)).id],
    ['entitlement_id', (await first(`${inside}/entitlements`)).id],
    ['directory_id', directories.body[0].id],
  ]);
}
