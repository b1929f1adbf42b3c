import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { invalid } from '../errors.ts';
import { elementsOf, idIn, type Json, memberOf } from '../json.ts';
import { aGroup, aUser, formFacts, idOf, type ReferenceTarget, referenceFacts, spellings } from '../property-facts.ts';
import type { StoredResource, WorldView } from '../record.ts';
import type { ResourceType } from '../resource-type.ts';
import { owningOrganization } from '../rules/hierarchy.ts';
import { validationMessage } from '../rules/validate.ts';
import { endpointKeys, requireFreeRoute } from './endpoint-conflicts.ts';
import { LAMBDA } from './lambda.ts';
import { findServiceAddress } from './port-mappings.ts';
import {
  endpointsOf,
  isGateway,
  isGatewayManager,
  linkedProviderIds,
  providerIdOf,
  visibleProviders,
} from './provider-rules.ts';
import { brandKeys, caseInsensitiveEnum, EXAMPLE_ID, SECURITY_KEY, typed } from './schema-parts.ts';

/** Ids of users or groups in the letter case of the request (D-120). */
function identities(to: ReferenceTarget) {
  return z.array(z.guid('must be a UUID').register(referenceFacts, { to, onDelete: 'forgets' }));
}

const security = z
  .looseObject({ enabled: z.boolean(), users: identities(aUser).optional(), groups: identities(aGroup).optional() })
  .register(spellings, { pattern: SECURITY_KEY.source });

const rateLimit = z
  .looseObject({
    enabled: z.boolean(),
    perMinute: z
      .int()
      .optional()
      .describe('Requests per minute; required and at least 1 when enabled')
      .register(formFacts, { label: 'Requests per minute' }),
  })
  .describe('Calls above the limit get 429')
  .superRefine(({ enabled, perMinute }, context) => {
    if (!enabled || (perMinute !== undefined && perMinute >= 1)) return;
    const message = perMinute === undefined ? 'is required when the rate limit is enabled' : 'must be at least 1';
    context.addIssue({ code: 'custom', path: ['perMinute'], message });
  });

const cors = z
  .looseObject({
    enabled: z.boolean().optional(),
    origins: z.array(z.string()).optional().describe('Origins whose pages can read responses; any if not set'),
    credentials: z
      .boolean()
      .optional()
      .describe('Allow these origins to send cookies and passwords. Requires explicit origins'),
  })
  .describe('Pages that can read responses in a browser')
  .superRefine(({ origins = [], credentials }, context) => {
    if (credentials !== true || (origins.length > 0 && !origins.includes('*'))) return;
    // Browsers do not send credentials if any origin is allowed.
    const message = 'must list the origins that can send credentials';
    context.addIssue({ code: 'custom', path: ['origins'], message });
  });

/** Schema of an endpoint's `plugins` (D-060): the three known ones. The key of security can have any brand (D-083). */
const pluginsSchema = z
  .looseObject({
    rateLimit: rateLimit.optional().register(formFacts, { label: 'Rate limit' }),
    platformSecurity: security.optional().register(formFacts, { label: 'Access control' }),
    cors: cors.optional().register(formFacts, { label: 'CORS' }),
  })
  .describe('platformSecurity can have another spelling; only one of them can be set')
  .superRefine((plugins, context) => {
    const keys = brandKeys(plugins, SECURITY_KEY);
    if (keys[1]) context.addIssue({ code: 'custom', path: [keys[1]], message: `means the same as ${keys[0]}` });
    for (const key of keys.filter((pluginName) => pluginName !== 'platformSecurity')) {
      for (const { path, message } of security.safeParse(plugins[key], { error: validationMessage }).error?.issues ??
        []) {
        context.addIssue({ code: 'custom', path: [key, ...path], message });
      }
    }
  });

export const API_ENDPOINT = 'Resource::ApiEndpoint';

/** Rejects a path that could be read differently, percent-encoded or not (D-060). */
function isPlainPath(resource: string): boolean {
  try {
    const decoded = decodeURIComponent(resource);
    return !/[?#]/.test(resource) && !decoded.includes('..');
  } catch {
    return false;
  }
}

/** Longest host name (RFC 1035) with a port. */
const MAX_HOST_CHARACTERS = 253 + ':65535'.length;

/** Can a text stand between `//` and `/` of an address that clients can parse? */
function isHost(text: string): boolean {
  return !/[\s/\\?#@%*]/.test(text) && URL.canParse(`http://${text}`);
}

export const endpointProperties = z.strictObject({
  resource: z
    .string()
    .regex(/^\//, 'must start with /')
    .refine(isPlainPath, 'must not contain ?, # or .., and must use valid percent-encoding')
    .optional()
    .describe('Path below the API, not used by another endpoint of it; required unless hosts are set')
    .register(formFacts, { label: 'Path', order: 1 }),
  hosts: z
    .array(z.string().max(MAX_HOST_CHARACTERS).refine(isHost, 'must be a host name, with or without a port'))
    .optional()
    .describe('Host names that lead to this endpoint; not a name of the platform itself'),
  implementation_type: z.enum(['lambda', 'container']).register(formFacts, { label: 'Target type', order: 2 }),
  // The endpoint keeps the id of a deleted target and returns 503 until it gets another target (D-130).
  implementation_id: idOf({
    to: {
      decidedBy: 'implementation_type',
      targets: {
        lambda: { word: 'lambdas', right: 'invoke', free: 'public' },
        container: { word: 'containers', right: 'view' },
      },
    },
    onDelete: 'keeps',
    missing: 400,
  }).register(formFacts, { label: 'Target', order: 3 }),
  container_port_name: z
    .string()
    .optional()
    .describe('Name of a port mapping of the container with expose_endpoint true; required for a container')
    .register(formFacts, {
      label: 'Port of the container',
      order: 4,
      when: { property: 'implementation_type', is: ['container'], isRequired: true },
      entryOf: { property: 'implementation_id', list: 'port_mappings' },
    }),
  methods: z
    .array(caseInsensitiveEnum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS']))
    .optional()
    .describe('All methods unless some are selected')
    .register(formFacts, { order: 5 }),
  synchronous: z
    .boolean()
    .optional()
    .meta({
      default: true,
      description: 'Wait for the result. If not set, the response is immediate and contains the id of the invocation',
    })
    .register(formFacts, { order: 6 }),
  is_http_aware: z
    .boolean()
    .optional()
    .describe('Use a result with statusCode, headers and body as the HTTP response')
    .register(formFacts, { label: 'Result is an HTTP response', order: 7 }),
  plugins: pluginsSchema.optional().register(formFacts, { order: 8 }),
  whitelist: z
    .array(z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()], 'must be an address or a CIDR range'))
    .optional()
    .describe('Client addresses or CIDR ranges that may call the endpoint; all if not set'),
  auth_type: z.string().optional().describe('Stored only'),
  http_method: z.string().optional().describe('Stored only'),
});

/** Throws 400 if the container does not expose the port. A stored port that the container stopped exposing later is accepted (D-096). */
function requirePort(
  input: z.output<typeof endpointProperties>,
  view: WorldView,
  previous: StoredResource | undefined,
): void {
  const { implementation_id: id, container_port_name: name } = input;
  const before = previous?.properties;
  const isNew = before?.implementation_id !== id || before.container_port_name !== name;
  const container = view.find(id);
  if (!isNew || !container) return;
  const address = findServiceAddress(container, name);
  if (address && address.protocol !== 'tcp')
    throw invalid(
      '/properties/container_port_name',
      `must be a tcp port of container '${container.name}'; it is a udp port`,
    );
  if (address) return;
  throw invalid(
    '/properties/container_port_name',
    name === undefined
      ? 'is required for a container'
      : `does not match a port mapping of container '${container.name}' with expose_endpoint true`,
  );
}

/**
 * Returns the address at which the gateway finds the target, for information (D-060); undefined if the target does not
 * exist.
 */
function upstreamUrlOf(view: WorldView, endpoint: StoredResource): string | undefined {
  const { implementation_id: id, container_port_name: portName } = endpoint.properties;
  const target = typeof id === 'string' ? view.find(id) : undefined;
  if (!target) return undefined;
  if (target.type === LAMBDA) return `lambda://${target.id}`;
  const address = findServiceAddress(target, portName);
  return address && `http://${address.host}:${address.port}`;
}

const ROUTE_PROPERTIES = ['resource', 'methods', 'hosts'] as const;

/** D-060..D-062. */
export const apiendpoint: ResourceType = {
  name: API_ENDPOINT,
  collection: 'apiendpoints',
  singular: 'apiendpoint',
  summary: 'A public path of an API and its target: a lambda or a port of a container.',
  parents: ['apis'],
  unknownParentStatus: 422,
  verbs: ['invoke'],
  // D-062.
  listedBelow: { lambdas: endpointsOf, containers: endpointsOf },
  properties: endpointProperties,
  first: { resource: '/', implementation_type: 'lambda' },
  example: {
    name: 'hello',
    properties: { resource: '/hello', implementation_type: 'lambda', implementation_id: EXAMPLE_ID, synchronous: true },
  },
  serverSet: ['provider', 'location_id', 'upstream_url', 'public_url'],
  keys: endpointKeys,

  validate(draft, context) {
    const { view, parent, previous } = context;
    const input = typed(endpointProperties, draft);
    if (input.resource === undefined && !input.hosts?.length) {
      throw invalid('/properties/resource', 'is required unless hosts are set');
    }
    if (input.implementation_type === 'container') requirePort(input, view, previous);
    const hasSameRoute = ROUTE_PROPERTIES.every((name) =>
      isDeepStrictEqual(previous?.properties[name], draft.properties[name]),
    );
    // An unchanged route is no reason to refuse a change (D-096).
    if (!hasSameRoute) {
      const api = { name: parent.name, orgId: owningOrganization(view, parent).id };
      requireFreeRoute(context, api, draft, previous?.properties);
    }
    return { properties: draft.properties };
  },

  toView(record, { view, gatewayUrl }) {
    const api = apiOf(view, record);
    const fromServer: Record<string, Json | undefined> = {
      provider: api?.properties.provider,
      location_id: api && locationOf(api),
      upstream_url: upstreamUrlOf(view, record),
      public_url: publicUrlOf(view, record, gatewayUrl),
    };
    const present = Object.entries(fromServer).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value] as const],
    );
    return { ...record.properties, ...Object.fromEntries(present) };
  },
};

/** The id of the gateway of an API as the client sent it: `locations[0]`. */
function locationOf(api: StoredResource): Json | undefined {
  return elementsOf(memberOf(api.properties.provider, 'locations'))[0];
}

/** The gateway that publishes an API: its explicit gateway, otherwise the default of D-058. */
function findGateway(view: WorldView, api: StoredResource): StoredResource | undefined {
  const location = locationOf(api);
  if (location !== undefined) {
    const named = view.find(idIn(location) ?? '');
    return named && isGateway(named.type) ? named : undefined;
  }
  const managerId = providerIdOf(api);
  const manager = managerId ? view.find(managerId) : visibleProviders(view, api, isGatewayManager).next().value;
  const linked = manager ? linkedProviderIds(manager) : [];
  return (
    linked.flatMap((id) => view.find(id) ?? []).find(({ type }) => isGateway(type)) ??
    visibleProviders(view, api, isGateway).next().value ??
    undefined
  );
}

function textOf(value: Json | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** The address of an endpoint (D-150), from its first host, the gateway of its API or `{gateway_url}`, in this order. */
export function publicUrlOf(view: WorldView, endpoint: StoredResource, gatewayUrl: string): string {
  const api = apiOf(view, endpoint);
  const config = (api && findGateway(view, api))?.properties.config;
  const defaultUrl = gatewayUrl.replace(/\/+$/, '');
  const protocol = textOf(memberOf(config, 'external_protocol')) ?? defaultUrl.slice(0, defaultUrl.indexOf(':'));
  const host = hostOf(endpoint);
  const vhost = host ?? textOf(memberOf(memberOf(memberOf(config, 'env'), 'public'), 'PUBLIC_URL_VHOST_0'));
  const base = vhost === undefined ? defaultUrl : `${protocol}://${vhost}`;
  // The escapes that the path has stay as they are.
  return `${base}${encodeURI(publicPathOf(view, endpoint).toWellFormed()).replaceAll('%25', '%')}`;
}

/** The first of the hosts that an endpoint has of its own. */
export const hostOf = ({ properties }: StoredResource) => textOf(elementsOf(properties.hosts)[0]);

/** The path of an endpoint at the gateway, as it is written; empty if only its host leads to it. */
export function publicPathOf(view: WorldView, endpoint: StoredResource): string {
  const { resource } = endpoint.properties;
  if (resource === undefined && hostOf(endpoint) !== undefined) return '';
  return `/${apiOf(view, endpoint)?.name ?? ''}${textOf(resource) ?? ''}`;
}

function apiOf(view: WorldView, { parent }: StoredResource): StoredResource | undefined {
  return parent === null ? undefined : view.find(parent);
}
