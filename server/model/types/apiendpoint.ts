import { z } from 'zod';
import { invalid } from '../errors.ts';
import { formFacts } from '../form-facts.ts';
import { owningOrganization } from '../hierarchy.ts';
import type { Json } from '../json.ts';
import type { StoredResource } from '../record.ts';
import { idOf } from '../reference-facts.ts';
import type { ResourceType } from '../resource-type.ts';
import type { WorldView } from '../world-view.ts';
import { CONTAINER } from './container.ts';
import { endpointsOf } from './embedded.ts';
import { demandFreeRoute } from './endpoint-conflicts.ts';
import { pluginsSchema } from './endpoint-plugins.ts';
import { locationOf, publicUrlOf } from './gateway-address.ts';
import { LAMBDA } from './lambda.ts';
import { findServiceAddress } from './port-mappings.ts';
import { anyCaseOf, typed } from './schema-parts.ts';

declare module '../type-words.ts' {
  interface TypeWords {
    apiendpoints: true;
  }
}

export const API_ENDPOINT = 'Resource::ApiEndpoint';

/** The type that each implementation_type stands for. */
const targetTypes = { lambda: LAMBDA, container: CONTAINER } as const;

/** Is the path free of what would be read as something else, encoded or not (D-060)? */
function isPlainPath(resource: string): boolean {
  try {
    const decoded = decodeURIComponent(resource);
    return !/[?#]/.test(resource) && !decoded.includes('..');
  } catch {
    return false;
  }
}

const properties = z.strictObject({
  resource: z
    .string()
    .regex(/^\//, 'must start with /')
    .refine(isPlainPath, 'must hold no ?, # or .., and only valid percent-encoding')
    .optional()
    .describe('Path below the API; required unless hosts are given')
    .register(formFacts, { label: 'Path', order: 1 }),
  hosts: z
    .array(z.string().regex(/^[^\s/]+$/, 'must be a host name'))
    .optional()
    .describe('Answers requests to these hosts'),
  implementation_type: z.enum(['lambda', 'container']).register(formFacts, { label: 'Target type', order: 2 }),
  // A deleted target stays named: the endpoint answers 503 until it is re-pointed (D-130).
  implementation_id: idOf({
    to: {
      decidedBy: 'implementation_type',
      targets: {
        lambda: { word: 'lambdas', right: 'invoke', free: 'public' },
        container: { word: 'containers', right: 'view' },
      },
    },
    whenGone: 'keeps',
    missing: 400,
  }).register(formFacts, { label: 'Target', order: 3 }),
  container_port_name: z
    .string()
    .optional()
    .describe('An exposed port mapping of the container; required for one')
    .register(formFacts, {
      label: 'Port of the container',
      order: 4,
      when: { property: 'implementation_type', is: ['container'], isRequired: true },
      entryOf: { property: 'implementation_id', list: 'port_mappings' },
    }),
  methods: z
    .array(anyCaseOf('GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'))
    .optional()
    .describe('All unless some are chosen')
    .register(formFacts, { order: 5 }),
  synchronous: z
    .boolean()
    .optional()
    .meta({ default: true, description: 'Answers with the result; no: at once with an id of the invocation' })
    .register(formFacts, { order: 6 }),
  is_http_aware: z
    .boolean()
    .optional()
    .describe('A result with statusCode, headers and body becomes the HTTP answer')
    .register(formFacts, { label: 'Result is an HTTP answer', order: 7 }),
  plugins: pluginsSchema.optional().register(formFacts, { order: 8 }),
  whitelist: z
    .array(z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()], 'must be an address or a CIDR range'))
    .optional()
    .describe('Addresses or CIDR ranges that may call it; all unless given'),
  auth_type: z.string().optional().describe('Stored only'),
  http_method: z.string().optional().describe('Stored only'),
});

/** Throws 400 unless the port is one that the container exposes; one that it has given up since stays (D-096). */
function demandPort(sent: z.output<typeof properties>, view: WorldView, previous: StoredResource | undefined): void {
  const { implementation_id: id, container_port_name: name } = sent;
  const before = previous?.properties;
  const isNew = before?.implementation_id !== id || before.container_port_name !== name;
  const container = view.find(id);
  if (!isNew || !container || findServiceAddress(container, name)) return;
  throw invalid(
    '/properties/container_port_name',
    name === undefined
      ? 'is required for a container'
      : `names no port mapping of container '${container.name}' with expose_endpoint true`,
  );
}

/** Where the gateway finds the target, for information (D-060); undefined when the target is gone. */
function upstreamUrlOf(view: WorldView, endpoint: StoredResource): string | undefined {
  const { implementation_id: id, container_port_name: portName } = endpoint.properties;
  const target = typeof id === 'string' ? view.find(id) : undefined;
  if (!target) return undefined;
  if (target.type === targetTypes.lambda) return `lambda://${target.id}`;
  const address = findServiceAddress(target, portName);
  return address && `http://${address.host}:${address.port}`;
}

/** D-060..D-062. */
export const apiendpoint: ResourceType = {
  name: API_ENDPOINT,
  word: 'apiendpoints',
  noun: 'apiendpoint',
  summary: 'A public path of an API and what answers there: a lambda or a port of a container.',
  parents: ['apis'],
  unknownParentStatus: 422,
  verbs: ['invoke'],
  // D-062.
  listedBelow: { lambdas: endpointsOf, containers: endpointsOf },
  properties,
  first: { resource: '/', implementation_type: 'lambda' },
  serverSet: ['provider', 'location_id', 'upstream_url', 'public_url'],

  admit(draft, context) {
    const { view, parent, previous } = context;
    const sent = typed(properties, draft);
    if (sent.resource === undefined && !sent.hosts?.length) {
      throw invalid('/properties/resource', 'is required unless hosts are given');
    }
    if (sent.implementation_type === 'container') demandPort(sent, view, previous);
    const api = { name: parent.name, orgId: owningOrganization(view, parent).id };
    demandFreeRoute(context, api, draft, previous?.properties);
    return { properties: draft.properties };
  },

  present(record, { view, gatewayUrl }) {
    const api = record.parent === null ? undefined : view.find(record.parent);
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
