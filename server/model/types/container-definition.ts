import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { invalid } from '../errors.ts';
import { imageReferenceHint, isImageReference } from '../image-reference.ts';
import { elementsOf, isJsonObject, type Json, type JsonObject, memberOf } from '../json.ts';
import { aProvider, formFacts, idOf, referenceFacts, storedOnly } from '../property-facts.ts';
import { newId, type StoredResource, type WorldView } from '../record.ts';
import type { DerivedRecord, Draft, ReadContext, ResourceType, WriteContext } from '../resource-type.ts';
import { parseWith } from '../rules/validate.ts';
import { mountedIds, requireMounts, secretMounts } from './mounts.ts';
import { portMappings, validatePortMappings } from './port-mappings.ts';
import { isContainerEngine, providerIdOf, requireProvider } from './provider-rules.ts';
import {
  caseInsensitiveEnum,
  dnsName,
  ENV_LABEL,
  EXAMPLE_ID,
  envMap,
  runBy,
  stringMap,
  typed,
} from './schema-parts.ts';
import { VOLUME, volumeProperties } from './volume.ts';

/** One day: engines and timers count in small units, and would take a much longer time for none. */
const MAX_CHECK_S = 86_400;

const healthCheck = z.looseObject({
  protocol: z.enum(['HTTP', 'HTTPS', 'TCP', 'COMMAND']),
  path: z.string().optional().describe('Path for HTTP and HTTPS checks'),
  command: z.string().optional().describe('Command for COMMAND checks'),
  grace_period_seconds: z
    .int()
    .min(0)
    .max(MAX_CHECK_S)
    .default(300)
    .register(formFacts, { label: 'Grace period', unit: 's' }),
  interval_seconds: z.int().min(1).max(MAX_CHECK_S).default(60).register(formFacts, { label: 'Interval', unit: 's' }),
  timeout_seconds: z.int().min(1).max(MAX_CHECK_S).default(10).register(formFacts, { label: 'Timeout', unit: 's' }),
  max_consecutive_failures: z.int().min(0).default(3),
  port_index: z.int().min(0).optional().describe('Index of the port mapping, from 0; used unless port is set'),
  port: z.int().min(1).max(65535).optional(),
});

/** A volume to create. Its other properties are validated when it is created. */
const inlineProvider = storedOnly({
  id: z
    .string()
    .register(referenceFacts, { to: aProvider('CaaS'), onDelete: 'keeps', isStoredOnly: true })
    .optional(),
});

const volumeMount = z
  .looseObject({
    mount_path: z.string().min(1).describe('Absolute path, used by one mount only'),
    volume_id: idOf({ to: { word: 'volumes', right: 'view' }, onDelete: 'unmounted', missing: 400 }).optional(),
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
 * The properties of containers and jobs (D-045). Only this schema stores defaults, so that `replace` in a patch finds
 * its member.
 */
export const containerProperties = z.object({
  container_type: caseInsensitiveEnum(['DOCKER']).register(formFacts, { order: 1 }),
  image: z
    .string()
    .min(1, { abort: true })
    .refine(isImageReference, imageReferenceHint)
    .describe('Image reference, for example nginx:1.27')
    .register(formFacts, { order: 2 }),
  // Without the members that every read adds.
  provider: runBy('CaaS')
    .overwrite(({ name: _name, resource_type: _type, ...providerLink }) => providerLink)
    .register(formFacts, { order: 3 }),
  cpus: z
    .number()
    .min(0.01)
    .default(1)
    .describe('At most all CPUs of the machine of the engine: a higher number means all of them')
    .register(formFacts, { label: 'CPUs', order: 5 }),
  memory: z.number().min(4).default(128).describe('MB').register(formFacts, { order: 6, unit: 'MB' }),
  disk: z.number().min(0).default(0).describe('MB; stored only').register(formFacts, { unit: 'MB' }),
  num_instances: z
    .int()
    .min(0)
    .default(1)
    .describe('Number of running instances, at most the setting limits.maxInstances; 0 suspends the container')
    .register(formFacts, { label: 'Instances', order: 4 }),
  network: z.string().optional().describe("Any value selects the environment's network"),
  cmd: z
    .string()
    .optional()
    .describe('Shell command that runs instead of the ENTRYPOINT and CMD of the image')
    .register(formFacts, { label: 'Command', order: 7 }),
  user: z.string().optional().describe('User that runs the command in the container: a name or number'),
  args: z
    .array(z.string())
    .optional()
    .describe('Arguments of the ENTRYPOINT of the image, instead of its CMD; they take precedence over cmd'),
  constraints: z.array(z.string()).default([]).describe('Stored only'),
  accepted_resource_roles: z.array(z.string()).optional().describe('Stored only'),
  force_pull: z.boolean().default(false).describe('Pull the image each time the container starts'),
  env: envMap
    .default({})
    .describe('Environment variables; they take precedence over inherited variables')
    .register(formFacts, { label: ENV_LABEL, order: 8 }),
  labels: stringMap.default({}),
  port_mappings: portMappings.default([]).register(formFacts, { label: 'Ports', order: 9 }),
  health_checks: z.array(healthCheck).default([]),
  volumes: z.array(volumeMount).default([]).register(formFacts, { order: 10 }),
  secrets: secretMounts('env', 'file', 'directory').default([]).register(formFacts, { order: 11 }),
  gpu_support: z.looseObject({}).default({ enabled: false, count: 1, type: '' }).describe('Stored only'),
});

export function mountedVolumes(record: StoredResource, view: WorldView): StoredResource[] {
  return mountedIds(record, 'volumes').flatMap((id) => view.find(id) ?? []);
}

function inlineVolume(
  volumeInput: Json,
  at: string,
  draft: Draft,
  context: WriteContext,
  earlierVolumes: readonly DerivedRecord[],
): DerivedRecord {
  const name = String(memberOf(volumeInput, 'name'));
  if (!dnsName.pattern.test(name) || name.length > dnsName.maxLength)
    throw invalid(`${at}/name`, `must ${dnsName.hint}`);
  if (earlierVolumes.some((other) => other.name === name))
    throw invalid(`${at}/name`, 'is used by another volume of this request');
  const members = memberOf(volumeInput, 'properties');
  // The volume gets the provider of the container unless it names another one.
  const propertiesInput = { provider: { id: providerIdOf(draft) ?? '' }, ...(isJsonObject(members) && members) };
  const properties = parseWith(volumeProperties, propertiesInput, `${at}/properties`) as JsonObject; // parsed from JSON
  return { id: newId(), collection: 'volumes', type: VOLUME, parent: context.parent.id, name, properties };
}

function validateVolumes(draft: Draft, context: WriteContext): { volumes: JsonObject[]; derived: DerivedRecord[] } {
  const derived: DerivedRecord[] = [];
  const mounts = elementsOf(draft.properties.volumes).filter(isJsonObject);
  const volumes = mounts.map((mount, index) => {
    const at = `/properties/volumes/${index}`;
    const { volume_resource: volumeInput, ...rest } = mount;
    if (volumeInput !== undefined) {
      const companion = inlineVolume(volumeInput, `${at}/volume_resource`, draft, context, derived);
      derived.push(companion);
      return { ...rest, volume_id: companion.id };
    }
    return rest;
  });
  return { volumes, derived };
}

/** Throws 400 for a check that could never run (D-045). */
function requireRunnableChecks(
  { health_checks: checks, port_mappings: mappings }: z.output<typeof containerProperties>,
  areUnchanged: boolean,
): void {
  for (const [index, { protocol, command = '', path = '/', port, port_index: mappingIndex }] of checks.entries()) {
    const at = `/properties/health_checks/${index}`;
    if (protocol === 'COMMAND') {
      if (command.trim() === '') throw invalid(`${at}/command`, 'is required for a COMMAND check');
      continue;
    }
    if (protocol !== 'TCP' && !areUnchanged && /#|%(?![\da-f]{2})/i.test(path))
      throw invalid(`${at}/path`, "must have no '#', and two hexadecimal digits after each '%'");
    if (port !== undefined) continue;
    const mapping = mappings[mappingIndex ?? 0];
    if (!mapping && mappingIndex === undefined)
      throw invalid(`${at}/port`, 'is required for this check, because the container has no port mapping');
    if (!mapping)
      throw invalid(`${at}/port_index`, `must be the index, from 0, of one of the ${mappings.length} port mappings`);
    if (mapping.container_port === undefined || mapping.protocol === 'udp')
      throw invalid(`${at}/port_index`, 'must be the index of a tcp port mapping with a container_port');
  }
}

/** Checks the references of a container or job, and converts its port mappings and volumes to stored form. */
function validate(draft: Draft, context: WriteContext): { properties: JsonObject; derived: DerivedRecord[] } {
  const { limits } = context;
  const input = typed(containerProperties, draft);
  if (input.num_instances > limits.maxInstances) {
    throw invalid('/properties/num_instances', `must be at most ${limits.maxInstances}`);
  }
  requireProvider(draft, context, 'a container engine', isContainerEngine);
  requireMounts(draft, context);
  const checksBefore = context.previous?.properties.health_checks;
  requireRunnableChecks(input, isDeepStrictEqual(checksBefore, draft.properties.health_checks));
  const port_mappings = validatePortMappings(draft.properties);
  const { volumes, derived } = validateVolumes(draft, context);
  return { properties: { ...draft.properties, port_mappings, volumes }, derived };
}

/** The parts of the resource types container and job that do not concern their properties. */
export const definition = {
  parents: ['environments'],
  properties: containerProperties,
  example: { name: 'shop', properties: { container_type: 'DOCKER', image: 'nginx:1', provider: { id: EXAMPLE_ID } } },
  nameRule: dnsName,
  replaceable: true,
  renamable: false,
  patchedAsShown: ['provider', 'port_mappings'],
  validate,
} as const satisfies Partial<ResourceType>;

/** Properties that the server computes, besides the live ones (D-048). */
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

/** The view that containers and jobs share. Live properties say "nothing runs" until the serializer fills them in (D-048). */
export function toDefinition(record: StoredResource, { view, fullName }: ReadContext): JsonObject {
  const provider = view.find(providerIdOf(record) ?? '');
  const { provider: providerLink } = record.properties;
  return {
    ...record.properties,
    ...(provider &&
      isJsonObject(providerLink) && {
        provider: { ...providerLink, id: provider.id, name: provider.name, resource_type: fullName(provider.type) },
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
