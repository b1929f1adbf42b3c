import { z } from 'zod';
import { invalid } from '../errors.ts';
import { formFacts } from '../form-facts.ts';
import { memberOf } from '../json.ts';
import type { StoredResource } from '../record.ts';
import type { ResourceType } from '../resource-type.ts';
import type { WorldView } from '../world-view.ts';
import { dnsName, runBy } from './schema-parts.ts';

declare module '../type-words.ts' {
  interface TypeWords {
    volumes: true;
  }
}

export const VOLUME = 'Resource::Volume';

export const volumeProperties = z.strictObject({
  type: z.enum(['persistent', 'host_path', 'external', 'dynamic', 'empty_dir']).register(formFacts, { order: 1 }),
  provider: runBy('CaaS').register(formFacts, { order: 2 }),
  config: z
    .looseObject({ host_path: z.string().optional().describe('A folder inside one that the settings allow') })
    .optional()
    .register(formFacts, { order: 3, when: { property: 'type', is: ['host_path'], isRequired: true } }),
  size: z.int().min(0).optional().describe('MB').register(formFacts, { order: 4, unit: 'MB' }),
  access_mode: z.enum(['ReadWriteOnce', 'ReadOnlyMany', 'ReadWriteMany']).optional().register(formFacts, { order: 5 }),
  reclamation_policy: z.string().optional().describe('Stored only'),
  external_id: z.string().optional().describe('Stored only'),
  mount_path: z.string().optional().describe('Stored only'),
});

/** Is a folder one of the allowed ones or inside one (D-079)? By its name alone: the engine resolves symbolic links. */
function isInside(path: string, allowed: readonly string[]): boolean {
  const segments = (folder: string) => folder.split(/[\\/]+/).filter((segment, index) => segment !== '' || index === 0);
  const wanted = segments(path);
  if (wanted.includes('..') || wanted.includes('.')) return false;
  return allowed.some((folder) => segments(folder).every((segment, index) => segment === wanted[index]));
}

/** What is against a volume's folder of the host, as things are configured now; undefined when nothing is, and for all other records. */
export function offenceOfHostPath(
  { type, properties }: Pick<StoredResource, 'type' | 'properties'>,
  allowed: readonly string[],
): string | undefined {
  if (type !== VOLUME || properties.type !== 'host_path') return undefined;
  const path = memberOf(properties.config, 'host_path');
  if (typeof path === 'string' && isInside(path, allowed)) return undefined;
  return `must be inside an allowed directory (${allowed.join(', ') || 'none is configured'})`;
}

/** What has the volume mounted. */
function mountedBy(record: StoredResource, view: WorldView): StoredResource[] {
  return [...view.referrers(record.id)];
}

/** D-079. */
export const volume: ResourceType = {
  name: VOLUME,
  word: 'volumes',
  noun: 'volume',
  summary: 'Storage that containers mount.',
  parents: ['environments'],
  verbs: ['import'],
  properties: volumeProperties,
  first: { type: 'persistent' },
  serverSet: ['container'],
  nameRule: dnsName,
  replaceable: true,

  admit(draft, { allowedHostPaths }) {
    const offence = offenceOfHostPath({ type: VOLUME, properties: draft.properties }, allowedHostPaths);
    if (offence !== undefined) throw invalid('/properties/config/host_path', offence);
    return { properties: draft.properties };
  },

  present(record, { view, link }) {
    const [container] = mountedBy(record, view);
    return { ...record.properties, ...(container && { container: link(container) }) };
  },

  embed: { container: mountedBy },
};
