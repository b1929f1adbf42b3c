import type { z } from 'zod';
import type { Json, JsonObject } from '../../model/json.ts';
import { resourceTypes } from '../../model/registry.ts';
import { builtInRoutes, endpointRoutes } from '../routes/gateway.ts';
import type { Route, Routes } from '../routes/route.ts';
import { PREFIX } from '../routes/security.ts';
import { contractTables, emulatorTables } from '../routes/tables.ts';
import { namingOf } from '../routes/type-naming.ts';
import { namedSchemas } from '../schemas/parts.ts';
import { jsonSchemasOf, ref } from './json-schema.ts';
import { documentedPaths, errorFormIn, parametersOf, pathsOf, refusalsOf, type SchemaOf } from './operation.ts';
import { typeSchemas } from './type-schemas.ts';

const gatewayTables: readonly Routes[] = [builtInRoutes, endpointRoutes];

export interface DocumentOptions extends DocumentAddresses {
  /** Version of the emulator: the API itself has none (D-199). */
  version: string;
  /** First segment of type names (D-080). */
  typePrefix: string;
}

/** The gateway also has a separate document, for clients that know one address. */
export const DOCUMENTS = {
  platform: {
    path: 'openapi.json',
    title: 'Terrarium',
    summary: 'Local emulator of a Platform Management REST API',
    tables: [...contractTables, ...gatewayTables],
  },
  gateway: {
    path: 'openapi.gateway.json',
    title: 'Terrarium gateway',
    summary: 'Public endpoints and asynchronous invocations',
    tables: gatewayTables,
  },
  inspect: {
    path: 'openapi.inspect.json',
    title: 'Terrarium Inspect API',
    summary: 'What the emulator has beyond the platform: logs, records, history, tools',
    tables: emulatorTables,
  },
} as const satisfies Record<string, { path: string; title: string; summary: string; tables: readonly Routes[] }>;
export type DocumentName = keyof typeof DOCUMENTS;

/** An OpenAPI 3.1 document, made from the routes and the types of the registry. */
export function openApiDocument(
  { version, typePrefix, baseUrl, gatewayUrl }: DocumentOptions,
  name: DocumentName = 'platform',
): JsonObject {
  const { title, summary, tables } = DOCUMENTS[name];
  // The routes that can succeed: clients need no others.
  const rows = documentedPaths(tables.flatMap((table) => Object.entries(table)).filter(([, { answer }]) => answer));
  const { schemas, schemaOf } = convert(rows.map(([, row]) => row));
  const gateway = [{ url: gatewayUrl, description: 'Gateway' }];
  const isOnlyGateway = name === 'gateway';
  const paths = pathsOf(rows, schemaOf, isOnlyGateway ? {} : { Gateway: gateway });
  const responses = errorResponses(rows.map(([, row]) => row));
  const usedTags = new Set(rows.map(([, { tag }]) => tag));
  const groups = TAG_GROUPS.map(({ name, tags }) => ({ name, tags: tags.filter(([tag]) => usedTags.has(tag)) })).filter(
    ({ tags }) => tags.length > 0,
  );
  const document = {
    openapi: '3.1.0',
    info: {
      title,
      summary,
      description: introduction(baseUrl, typePrefix),
      version,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    externalDocs: { description: 'The documents as a page', url: `${baseUrl}/docs?document=${name}` },
    servers: isOnlyGateway ? gateway : [{ url: baseUrl, description: 'Control plane' }],
    // Some generated clients use a token for the last one.
    security: [{ basic: [] }, { oauth2: [] }, { bearer: [] }],
    tags: groups.flatMap(({ tags }) => tags.map(([name, description]) => ({ name, description }))),
    'x-tagGroups': groups.map(({ name, tags }) => ({ name, tags: tags.map(([tag]) => tag) })),
    paths,
    components: {
      schemas: schemasUsedIn([paths, responses], { ...schemas, ...typeSchemas(schemas) }),
      parameters: parametersOf(rows),
      responses,
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'An access token of the security service' },
        basic: { type: 'http', scheme: 'basic', description: 'An API key and its secret' },
        oauth2: {
          type: 'oauth2',
          description: 'Gets an access token with a user name and password, or with an API key and its secret',
          flows: { password: tokenFlow(baseUrl), clientCredentials: tokenFlow(baseUrl) },
        },
      },
    },
  };
  const text = JSON.stringify(document).replaceAll(PREFIX, typePrefix.toLowerCase());
  return JSON.parse(text.replaceAll('"Platform::', `"${typePrefix}::`));
}

/** The schemas that these parts of a document refer to, and those that they refer to themselves, in the given order. */
function schemasUsedIn(parts: Json, schemas: Readonly<Record<string, JsonObject>>): Record<string, JsonObject> {
  const used = new Set<string>();
  const visit = (part: Json): void => {
    for (const [, name = ''] of JSON.stringify(part).matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
      if (used.has(name)) continue;
      used.add(name);
      visit(schemas[name] ?? {});
    }
  };
  visit(parts);
  return Object.fromEntries(Object.entries(schemas).filter(([name]) => used.has(name)));
}

/** An OAuth Flow Object (D-170): the user is looked up in the root organization and below it. */
const tokenFlow = (baseUrl: string): JsonObject => ({ tokenUrl: `${baseUrl}/security/root/oauth/issue`, scopes: {} });

/** JSON Schemas of requests and responses of routes; schemas with a name become references. */
function convert(rows: readonly Route[]): { schemas: Record<string, JsonObject>; schemaOf: SchemaOf } {
  const names = new Map([...namedSchemas()].map(([name, schema]) => [schema, name]));
  const unnamed = new Map<z.ZodType, string>();
  for (const { body, answer } of rows) {
    for (const schema of [body?.schema, answer?.schema]) {
      if (schema && !names.has(schema) && !unnamed.has(schema)) unnamed.set(schema, `unnamed ${unnamed.size}`);
    }
  }
  const converted = jsonSchemasOf(Object.fromEntries([...names, ...unnamed].map(([schema, name]) => [name, schema])));
  return {
    // Sorted by name, so that the import order has no effect.
    schemas: Object.fromEntries([...names.values()].sort().map((name) => [name, converted[name] ?? {}])),
    schemaOf(schema) {
      const name = names.get(schema);
      return name === undefined ? (converted[unnamed.get(schema) ?? ''] ?? {}) : ref(name);
    },
  };
}

function introduction(baseUrl: string, typePrefix: string): string {
  return `A local emulator of the Platform Management REST API. Organizations contain workspaces, and workspaces contain environments,
in which containers and lambdas are deployed.

**Authentication.** Get a token and send it as \`Authorization: Bearer ...\`, or send an API key and its secret as Basic:

\`\`\`sh
curl ${baseUrl}/security/root/oauth/issue -d grant_type=password -d username=root -d password=...
\`\`\`

**Records.** Lists return links, or whole records with \`?expand=true\`. Read-only members are ignored in requests,
so you can post a record that you read. Full type names begin with \`${typePrefix}::\`; requests can use any first segment.

**Addresses.** The gateway has its own address and document, \`openapi.gateway.json\`. What only the emulator has is in
\`openapi.inspect.json\`.

**Not listed.** Any request can get 500, which reports a fault of the emulator. Routes that always fail, such as creating an entitlement (each
action already has one) or an action of a provider, answer 4xx or 501 with the reason.

**Changes** are JSON Patches (RFC 6902); containers, jobs, secrets, volumes and entitlements can also be replaced by PUT.`;
}

/** Meaning of each status (D-182). */
const meanings: Readonly<Record<number, string>> = {
  400: 'Malformed, or does not match the schema',
  401: 'Not authenticated',
  403: 'Missing permission, or the Host header does not name the platform',
  404: 'Unknown id, organization or route',
  405: 'Method not supported for this path',
  408: 'The request arrived too slowly',
  409: 'Conflict: name taken, children, a limit, or an incompatible environment type',
  413: 'The body is too large',
  414: 'The request target is too long',
  415: 'Unsupported content type',
  422: 'The patch does not apply, or a referenced resource does not exist',
  426: 'Only available as a WebSocket',
  429: 'Too many requests',
  431: 'The headers are too large',
  500: 'The lambda failed',
  501: 'Not emulated',
  502: 'The lambda or container did not respond properly',
  503: 'Currently unavailable',
  504: 'Timeout',
};

const headers: Readonly<Record<number, [name: string, description: string, type: string]>> = {
  401: ['WWW-Authenticate', 'How to authenticate', 'string'],
  405: ['Allow', 'The supported methods of this path', 'string'],
  426: ['Upgrade', '`websocket`', 'string'],
  429: ['Retry-After', 'Seconds', 'integer'],
  503: ['Retry-After', 'Seconds', 'integer'],
};

/** `components.responses`: each status in each error format of the routes (D-180). */
function errorResponses(rows: readonly Route[]): JsonObject {
  const responses: JsonObject = {};
  for (const row of rows) {
    const form = errorFormIn(row);
    for (const status of refusalsOf(row)) {
      const description = meanings[status];
      if (description === undefined) throw new Error(`status ${status} has no description`);
      const [name, headerDescription = '', type = ''] = headers[status] ?? [];
      responses[`${form}${status}`] ??= {
        description,
        ...(name && { headers: { [name]: { description: headerDescription, schema: { type } } } }),
        content: { 'application/json': { schema: ref(form) } },
      };
    }
  }
  return responses;
}

/** The tags of each service in reading order, each with a description. */
const TAG_GROUPS: readonly { name: string; tags: readonly (readonly [name: string, description: string])[] }[] = [
  {
    name: 'Resource service',
    tags: [
      ['Platform', 'Health and version.'],
      ...resourceTypes.map((type) => [namingOf(type).tag, type.summary] as const),
      ['Entitlements', 'Permissions. A resource has one entitlement per action, which adds to the inherited ones.'],
      ['Resources of any type', 'Every path of a type also exists with `resources` in place of the type name.'],
      ['Reference lists', 'Resource types, environment types, states ... Changing them is not emulated (501).'],
    ],
  },
  {
    name: 'Security service',
    tags: [
      ['Tokens and keys', 'Access tokens for Bearer, API keys for Basic authentication.'],
      ['Accounts', 'Accounts are the users of the resource service; a user has the same id in both.'],
      ['Directories', 'Organizations with their accounts and groups.'],
      ['Security service', 'State of the service.'],
    ],
  },
  {
    name: 'Gateway',
    tags: [['Gateway', 'Public endpoints and asynchronous invocation. The gateway has a separate address.']],
  },
  {
    name: 'Emulator',
    tags: [
      ['Logs', 'Logs of lambdas and containers.'],
      ['Invocations', 'Invocations that users start.'],
      ['Workbench', 'Tools for lambda development: test events, linked file, debugger.'],
      ['Publishing', 'Copies lambdas, APIs and endpoints between this platform and another one.'],
      ['Outbound calls', 'Rules for the calls that lambdas make to other hosts.'],
      ['Faults and clock', "Errors, delays and cut connections of the platform's services, and its clock."],
      ['Containers and jobs', 'Instances, usage and terminals.'],
      ['Captured leads', 'Web forms that lambdas sent to the mock CRM.'],
      ['Captured mails', 'Mails that the mock mail server received.'],
      ['Window', 'Sign-in and status of the window.'],
      ['Delivery', 'The mock GitLab and pipeline runs.'],
      ['History', 'Changes of the world: view, compare, revert.'],
      ['Snapshots', 'Snapshots of the world, and the platform as one archive.'],
      ['Seeds', 'Export and import of the world as an editable document.'],
    ],
  },
];

/** The addresses of the platform for a reader of the document, without trailing slashes. */
export interface DocumentAddresses {
  baseUrl: string;
  gatewayUrl: string;
}
