import { z } from 'zod';
import { invalid } from '../errors.ts';
import { memberOf } from '../json.ts';
import { formFacts } from '../property-facts.ts';
import type { StoredResource, WorldView } from '../record.ts';
import type { ResourceType } from '../resource-type.ts';
import { dnsName, EXAMPLE_ID, runBy } from './schema-parts.ts';

export const VOLUME = 'Resource::Volume';

export const volumeProperties = z.strictObject({
  type: z.enum(['persistent', 'host_path', 'external', 'dynamic', 'empty_dir']).register(formFacts, { order: 1 }),
  provider: runBy('CaaS').register(formFacts, { order: 2 }),
  config: z
    .looseObject({
      host_path: z.string().optional().describe('A folder of this machine, inside a folder that the settings allow'),
    })
    .optional()
    .register(formFacts, { order: 3, when: { property: 'type', is: ['host_path'], isRequired: true } }),
  size: z.int().min(0).optional().describe('MB').register(formFacts, { order: 4, unit: 'MB' }),
  access_mode: z.enum(['ReadWriteOnce', 'ReadOnlyMany', 'ReadWriteMany']).optional().register(formFacts, { order: 5 }),
  reclamation_policy: z.string().optional().describe('Stored only'),
  external_id: z.string().optional().describe('Stored only'),
  mount_path: z.string().optional().describe('Stored only'),
});

/** Is a folder equal to or inside an allowed one (D-079)? This compares names only; the engine resolves symbolic links. */
function isInside(path: string, allowed: readonly string[]): boolean {
  const segments = (folder: string) => folder.split(/[\\/]+/).filter((segment, index) => segment !== '' || index === 0);
  const pathSegments = segments(path);
  if (pathSegments.includes('..') || pathSegments.includes('.')) return false;
  return allowed.some((folder) => segments(folder).every((segment, index) => segment === pathSegments[index]));
}

/**
 * Returns the reason why the current configuration does not allow the host folder of a volume; undefined if it is
 * allowed or the record is not a volume.
 */
export function violationInHostPath(
  { type, properties }: Pick<StoredResource, 'type' | 'properties'>,
  allowed: readonly string[],
): string | undefined {
  if (type !== VOLUME || properties.type !== 'host_path') return undefined;
  const path = memberOf(properties.config, 'host_path');
  if (typeof path === 'string' && isInside(path, allowed)) return undefined;
  return `must be inside an allowed directory (${allowed.join(', ') || 'none is configured'})`;
}

function mountedBy(record: StoredResource, view: WorldView): StoredResource[] {
  return [...view.referrers(record.id)];
}

/** D-079. */
export const volume: ResourceType = {
  name: VOLUME,
  collection: 'volumes',
  singular: 'volume',
  summary: 'Storage that containers mount.',
  parents: ['environments'],
  verbs: ['import'],
  properties: volumeProperties,
  first: { type: 'persistent' },
  example: { name: 'uploads', properties: { provider: { id: EXAMPLE_ID }, type: 'persistent' } },
  serverSet: ['container'],
  nameRule: dnsName,
  replaceable: true,

  validate(draft, { allowedHostPaths }) {
    const violation = violationInHostPath({ type: VOLUME, properties: draft.properties }, allowedHostPaths);
    if (violation !== undefined) throw invalid('/properties/config/host_path', violation);
    return { properties: draft.properties };
  },

  toView(record, { view, link }) {
    const [container] = mountedBy(record, view);
    return { ...record.properties, ...(container && { container: link(container) }) };
  },

  embed: { container: mountedBy },
};
