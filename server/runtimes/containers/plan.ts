import { createHash } from 'node:crypto';
import type { z } from 'zod';
import { invalid } from '../../model/errors.ts';
import { imageReferenceHint, isImageReference } from '../../model/image-reference.ts';
import type { StoredResource, WorldView } from '../../model/record.ts';
import { typeOf } from '../../model/registry.ts';
import { mergedEnv } from '../../model/rules/hierarchy.ts';
import { containerProperties } from '../../model/types/container-definition.ts';
import { portNameOf } from '../../model/types/port-mappings.ts';
import { typed } from '../../model/types/schema-parts.ts';
import { secretBytes, secretProperties, secretText } from '../../model/types/secret.ts';
import { volumeProperties } from '../../model/types/volume.ts';
import type { CheckTimes, GivenFile, HealthCommand, Mount, Workload, WorkloadPort } from './engine.ts';

const MEGABYTE = 1024 * 1024;
/** The smallest that Docker accepts. */
const MIN_MEMORY_MB = 6;

type Definition = z.output<typeof containerProperties>;

export interface Probe extends CheckTimes {
  protocol: 'HTTP' | 'HTTPS' | 'TCP';
  containerPort: number;
  path: string;
}

export interface Plan {
  workload: Workload;
  probes: readonly Probe[];
  /** Published tcp ports by what their mapping is called (`portNameOf`). */
  portsByName: ReadonlyMap<string, number>;
  /** Sentences for the status about what runs in another way than its record says. */
  notes: readonly string[];
}

/** Works out what shall run for a container or job (D-045..D-049). */
export function planOf(view: WorldView, record: StoredResource): Plan {
  const properties = typed(containerProperties, record);
  // Earlier versions stored any text.
  if (!isImageReference(properties.image)) throw invalid('/properties/image', imageReferenceHint);
  const { collection } = typeOf(record);
  const environmentId = record.parent ?? '';
  const probes = probesOf(properties);
  const secrets = mountedSecrets(view, properties);
  const revisionParts = {
    image: properties.image,
    ...commandOf(properties),
    user: properties.user,
    labels: properties.labels,
    cpus: properties.cpus,
    // At most more than any machine has, and than engines can read.
    memoryBytes: Math.min(Math.round(Math.max(properties.memory, MIN_MEMORY_MB) * MEGABYTE), Number.MAX_SAFE_INTEGER),
    ports: portsOf(properties, probes),
    mounts: properties.volumes.map((mount) => mountOf(view, mount)),
    health: healthCommand(properties),
  };
  // Inherited variables are left out: their change waits for the next start (D-114). So are the values of secrets.
  const decisive = {
    ...revisionParts,
    env: properties.env,
    secrets: properties.secrets,
    probes,
    forcePull: properties.force_pull,
  };
  const revision = createHash('sha256').update(JSON.stringify(decisive)).digest('hex').slice(0, 16);
  const workload: Workload = {
    ...revisionParts,
    recordId: record.id,
    kind: collection === 'jobs' ? 'job' : 'container',
    name: record.name,
    environmentId,
    providerId: properties.provider.id,
    revision,
    instances: properties.num_instances,
    forcePull: properties.force_pull,
    env: { ...mergedEnv(view, record), ...secrets.env },
    aliases: [record.name, `${record.name}.${environmentId}.svc.cluster.local`],
    files: secrets.files,
  };
  const named = properties.port_mappings.flatMap(({ name, protocol, container_port: port }): [string, number][] =>
    protocol === 'tcp' && port !== undefined
      ? [[portNameOf({ ...(name !== undefined && { name }), container_port: port }), port]]
      : [],
  );
  return { workload, probes, portsByName: new Map(named), notes: [...notesOn(view, properties), ...secrets.notes] };
}

function notesOn(view: WorldView, { memory, volumes }: Definition): string[] {
  const notes = volumes.flatMap(({ volume_id: id = '' }) => {
    const { name, properties } = view.find(id) ?? {};
    if (properties?.type !== 'external') return [];
    const example = properties.external_id === undefined ? '' : ` such as '${properties.external_id}'`;
    return [`volume '${name}' is a local one, because external volumes${example} are not mounted`];
  });
  if (memory < MIN_MEMORY_MB)
    notes.push(`an instance gets ${MIN_MEMORY_MB} MB of memory, the smallest that Docker accepts, and not ${memory}`);
  return [...new Set(notes)];
}

/** The shell takes the place of the image's ENTRYPOINT and CMD, arguments that of its CMD only; empty ones mean none (D-045). */
function commandOf({ args = [], cmd = '' }: Definition): Pick<Workload, 'entrypoint' | 'command'> {
  if (args.length > 0) return { entrypoint: undefined, command: args };
  if (cmd.trim() === '') return { entrypoint: undefined, command: undefined };
  return { entrypoint: ['/bin/sh'], command: ['-c', cmd] };
}

function portsOf({ port_mappings: mappings }: Definition, probes: readonly Probe[]): WorkloadPort[] {
  const ports = new Map<string, WorkloadPort>();
  const add = (containerPort: number, protocol: 'tcp' | 'udp') => {
    ports.set(`${containerPort}/${protocol}`, { containerPort, protocol, isPublished: protocol === 'tcp' });
  };
  for (const { container_port: port, protocol } of mappings) if (port !== undefined) add(port, protocol);
  for (const { containerPort } of probes) add(containerPort, 'tcp');
  return [...ports.values()];
}

function probesOf({ health_checks: checks, port_mappings: mappings }: Definition): Probe[] {
  return checks.flatMap((check): Probe[] => {
    if (check.protocol === 'COMMAND') return [];
    const containerPort = check.port ?? mappings[check.port_index ?? 0]?.container_port;
    if (containerPort === undefined) return [];
    return [
      {
        protocol: check.protocol,
        containerPort,
        path: check.path?.startsWith('/') ? check.path : `/${check.path ?? ''}`,
        ...timesOf(check),
      },
    ];
  });
}

/** An engine runs one command for the health of an instance: several run one after the other, as often as the most frequent one (D-045). */
function healthCommand({ health_checks: checks }: Definition): HealthCommand | undefined {
  const commands = checks.filter(({ protocol, command }) => protocol === 'COMMAND' && command);
  if (commands.length === 0) return undefined;
  const times = commands.map(timesOf);
  return {
    command: commands.map(({ command }) => (commands.length === 1 ? command : `(${command})`)).join(' && '),
    graceMs: Math.max(...times.map(({ graceMs }) => graceMs)),
    intervalMs: Math.min(...times.map(({ intervalMs }) => intervalMs)),
    timeoutMs: Math.min(
      times.reduce((sum, { timeoutMs }) => sum + timeoutMs, 0),
      MAX_TIMER_MS,
    ),
    failures: Math.min(...times.map(({ failures }) => failures)),
  };
}

function timesOf(check: Definition['health_checks'][number]): CheckTimes {
  return {
    graceMs: millisecondsOf(check.grace_period_seconds),
    intervalMs: millisecondsOf(check.interval_seconds),
    timeoutMs: millisecondsOf(check.timeout_seconds),
    failures: Math.max(1, check.max_consecutive_failures),
  };
}

/** The longest time of a timer. Earlier versions stored longer ones. */
const MAX_TIMER_MS = 2 ** 31 - 1;

const millisecondsOf = (seconds: number): number => Math.min(seconds * 1_000, MAX_TIMER_MS);

/** A volume by its type (D-079): a folder of the engine's host, an empty one, or one that outlives the instances. */
function mountOf(
  view: WorldView,
  { mount_path: path, volume_id: volumeId = '' }: Definition['volumes'][number],
): Mount {
  const volume = view.find(volumeId);
  const { type, config, access_mode: mode } = volume ? typed(volumeProperties, volume) : { type: '' };
  if (type === 'empty_dir') return { kind: 'empty', path };
  const isReadOnly = mode === 'ReadOnlyMany';
  if (type === 'host_path') return { kind: 'host', path, hostPath: config?.host_path ?? '', isReadOnly };
  return { kind: 'volume', path, volumeId, isReadOnly };
}

function mountedSecrets(view: WorldView, { secrets }: Definition) {
  const env: Record<string, string> = {};
  const files: GivenFile[] = [];
  const notes: string[] = [];
  for (const { mount_type: type, secret_id: id, path, secret_key: key } of secrets) {
    const secret = view.find(id);
    const items = secret ? typed(secretProperties, secret).items : [];
    const item = items.find((candidate) => candidate.key === key);
    if (secret && type !== 'directory' && !item)
      notes.push(`secret '${secret.name}' has no item '${key}' now, so ${path} is empty in each new instance`);
    if (type === 'env') env[path] = secretText(item);
    else if (type === 'file') files.push({ path, content: secretBytes(item) });
    else
      for (const secretItem of items)
        files.push({ path: `${path.replace(/\/$/, '')}/${secretItem.key}`, content: secretBytes(secretItem) });
  }
  return { env, files, notes };
}
