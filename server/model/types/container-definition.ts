import { z } from 'zod';
import { invalid, PlatformError } from '../errors.ts';
import { formFacts } from '../form-facts.ts';
import { newId } from '../ids.ts';
import { isJsonObject, type Json, type JsonObject, memberOf } from '../json.ts';
import type { StoredResource } from '../record.ts';
import { aProvider, idOf, referenceFacts, storedOnly } from '../reference-facts.ts';
import type { Companion, Draft, ReadContext, ResourceType, WriteContext } from '../resource-type.ts';
import { parseWith } from '../validate.ts';
import type { WorldView } from '../world-view.ts';
import { demandMounts, mountedIds, secretMounts } from './mounts.ts';
import { admitPortMappings, portMappings } from './port-mappings.ts';
import { demandFit, isContainerEngine, newlyNamedProvider, providerIdOf } from './provider-rules.ts';
import { anyCaseOf, dnsName, ENV_LABEL, envMap, runBy, stringMap, typed } from './schema-parts.ts';
import { VOLUME, volumeProperties } from './volume.ts';

const healthCheck = z.looseObject({
  protocol: z.enum(['HTTP', 'HTTPS', 'TCP', 'COMMAND']),
  path: z.string().optional().describe('Of HTTP and HTTPS'),
  command: z.string().optional().describe('Of COMMAND'),
  grace_period_seconds: z.int().min(0).default(300).register(formFacts, { label: 'Grace period', unit: 's' }),
  interval_seconds: z.int().min(1).default(60).register(formFacts, { label: 'Interval', unit: 's' }),
  timeout_seconds: z.int().min(1).default(10).register(formFacts, { label: 'Time-out', unit: 's' }),
  max_consecutive_failures: z.int().min(0).default(3),
  port_index: z.int().min(0).optional().describe('Which port mapping, from 0; unless port is given'),
  port: z.int().min(1).max(65535).optional(),
});

/** Of a volume to be created: it is looked at when that is. */
const inlineProvider = storedOnly({
  id: z
    .string()
    .register(referenceFacts, { to: aProvider('CaaS'), whenGone: 'keeps', isStoredOnly: true })
    .optional(),
});

const volumeMount = z
  .looseObject({
    mount_path: z.string().min(1),
    volume_id: idOf({ to: { word: 'volumes', right: 'view' }, whenGone: 'unmounted', missing: 400 }).optional(),
    volume_resource: z
      .looseObject({ name: z.string(), properties: z.looseObject({ provider: inlineProvider.optional() }) })
      .optional()
      .describe('A volume to be created in the environment'),
  })
  .refine(
    (mount) => (mount.volume_id === undefined) !== (mount.volume_resource === undefined),
    'must have either volume_id or volume_resource',
  );

/**
 * What containers and jobs are made of (D-045). The one schema with defaults that are stored, so that a patch's
 * `replace` always finds its member; unknown properties are dropped (D-033).
 */
const containerProperties = z.object({
  container_type: anyCaseOf('DOCKER').register(formFacts, { order: 1 }),
  image: z.string().min(1).describe('As the engine pulls it, e.g. nginx:1.27').register(formFacts, { order: 2 }),
  // Without what every read adds to it.
  provider: runBy('CaaS')
    .overwrite(({ name: _name, resource_type: _type, ...sent }) => sent)
    .register(formFacts, { order: 3 }),
  cpus: z.number().gt(0).default(1).register(formFacts, { label: 'CPUs', order: 5 }),
  memory: z.number().min(4).default(128).describe('MB').register(formFacts, { order: 6, unit: 'MB' }),
  disk: z.number().min(0).default(0).describe('MB; stored only').register(formFacts, { unit: 'MB' }),
  num_instances: z
    .int()
    .min(0)
    .default(1)
    .describe('How many run; 0 suspends it')
    .register(formFacts, { label: 'Instances', order: 4 }),
  network: z.string().optional().describe("Any value means the environment's own network"),
  cmd: z
    .string()
    .optional()
    .describe('Run by a shell, as command of the image')
    .register(formFacts, { label: 'Command', order: 7 }),
  user: z.string().optional().describe('Who runs it inside, a name or number'),
  args: z.array(z.string()).optional().describe('Command arguments; win over cmd'),
  constraints: z.array(z.string()).default([]).describe('Stored only'),
  accepted_resource_roles: z.array(z.string()).optional().describe('Stored only'),
  force_pull: z.boolean().default(false).describe('Pull the image at every start of the definition'),
  env: envMap
    .default({})
    .describe('Environment variables; they go before those of what is above')
    .register(formFacts, { label: ENV_LABEL, order: 8 }),
  labels: stringMap.default({}),
  port_mappings: portMappings.default([]).register(formFacts, { label: 'Ports', order: 9 }),
  health_checks: z.array(healthCheck).default([]),
  volumes: z.array(volumeMount).default([]).register(formFacts, { order: 10 }),
  secrets: secretMounts('env', 'file', 'directory').default([]).register(formFacts, { order: 11 }),
  gpu_support: z.looseObject({}).default({ enabled: false, count: 1, type: '' }).describe('Stored only'),
});

/** The volumes that a container mounts. */
export function mountedVolumes(record: StoredResource, view: WorldView): StoredResource[] {
  return mountedIds(record, 'volumes').flatMap((id) => view.find(id) ?? []);
}

/** The volume that a `volume_resource` asks for; throws 400 when it is none, or its name is among those taken. */
function inlineVolume(
  wanted: Json,
  at: string,
  draft: Draft,
  context: WriteContext,
  taken: readonly Companion[],
): Companion {
  const name = String(memberOf(wanted, 'name'));
  if (!dnsName.pattern.test(name) || name.length > dnsName.maxLength)
    throw invalid(`${at}/name`, `must ${dnsName.hint}`);
  if (taken.some((other) => other.name === name))
    throw invalid(`${at}/name`, 'is used by another volume of this request');
  const members = memberOf(wanted, 'properties');
  // Unless it says otherwise, the volume is the same provider's as the container.
  const sent = { provider: { id: providerIdOf(draft) ?? '' }, ...(isJsonObject(members) && members) };
  const properties = parseWith(volumeProperties, sent, `${at}/properties`) as JsonObject; // it was JSON before
  return { id: newId(), word: 'volumes', type: VOLUME, parent: context.parent.id, name, properties };
}

/** The mounts to store, and the volumes to create for those that came with a `volume_resource`. */
function admitVolumes(draft: Draft, context: WriteContext): { volumes: JsonObject[]; companions: Companion[] } {
  const { volumes: sent } = draft.properties;
  const companions: Companion[] = [];
  const volumes = (Array.isArray(sent) ? sent.filter(isJsonObject) : []).map((mount, index) => {
    const at = `/properties/volumes/${index}`;
    const { volume_resource: wanted, ...rest } = mount;
    if (wanted !== undefined) {
      const companion = inlineVolume(wanted, `${at}/volume_resource`, draft, context, companions);
      companions.push(companion);
      return { ...rest, volume_id: companion.id };
    }
    return rest;
  });
  return { volumes, companions };
}

/** Checks what a container or job names, and puts its port mappings and volumes in stored form. */
function admit(draft: Draft, context: WriteContext): { properties: JsonObject; companions: Companion[] } {
  const { view, parent, limits } = context;
  const sent = typed(containerProperties, draft);
  if (sent.num_instances > limits.maxInstances) {
    throw invalid('/properties/num_instances', `must be at most ${limits.maxInstances}`);
  }
  const provider = newlyNamedProvider(draft, context);
  if (provider && !isContainerEngine(provider.type)) {
    throw new PlatformError(400, `provider '${provider.name}' is not a container engine: it is a ${provider.type}`);
  }
  if (provider) demandFit(view, provider, parent);
  demandMounts(draft, context);
  const port_mappings = admitPortMappings(draft.properties);
  const { volumes, companions } = admitVolumes(draft, context);
  return { properties: { ...draft.properties, port_mappings, volumes }, companions };
}

/** What containers and jobs have in common beyond their properties. */
export const definition = {
  parents: ['environments'],
  properties: containerProperties,
  nameRule: dnsName,
  replaceable: true,
  renamable: false,
  patchedAsShown: ['provider', 'port_mappings'],
  admit,
} as const satisfies Partial<ResourceType>;

/** Properties that the server works out, besides the live ones (D-048). */
export const liveProperties = [
  'external_id',
  'age',
  'status',
  'status_detail',
  'tasks_running',
  'tasks_healthy',
  'tasks_unhealthy',
  'tasks_staged',
  'instances',
  'events',
  'service_addresses',
] as const;

/** The read form that containers and jobs share; what is live stands at "nothing runs" until the renderer knows better (D-048). */
export function presentDefinition(record: StoredResource, { view, fullName }: ReadContext): JsonObject {
  const provider = view.find(providerIdOf(record) ?? '');
  const { provider: sent } = record.properties;
  return {
    ...record.properties,
    ...(provider &&
      isJsonObject(sent) && {
        provider: { ...sent, id: provider.id, name: provider.name, resource_type: fullName(provider.type) },
      }),
    age: record.created.at,
    tasks_running: 0,
    tasks_healthy: 0,
    tasks_unhealthy: 0,
    tasks_staged: 0,
    instances: [],
    events: [],
    service_addresses: [],
  };
}
