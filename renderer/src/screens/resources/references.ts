import { queryOptions } from '@tanstack/react-query';
import { isJsonObject } from '../../../../server/model/json.ts';
import type { TypeWord } from '../../../../server/model/type-words.ts';
import { load } from '../../api/client.ts';
import { keys } from '../../api/query-client.ts';
import type { PlatformRecord } from '../../api/world.ts';

/** The place that a resource is in, or will be. */
export interface ParentPlace {
  word: TypeWord;
  id: string;
  fqon: string;
}

/** What a property names, so that one can choose it instead of pasting an id. */
export type ReferenceTo =
  | { providersOf: string }
  | { words: readonly TypeWord[] }
  /** An entry of a list of another resource, by its name. */
  | { entryOf: string | undefined; list: EntryList }
  /** An organization by its fully qualified name. */
  | 'fqon';

/** Lists whose entries others name. */
export type EntryList = 'port_mappings' | 'items';

/** Which providers serve a type, as `?type=` of their list has it (D-065). */
const PROVIDER_TYPES: Partial<Record<TypeWord, string>> = {
  containers: 'CaaS',
  jobs: 'CaaS',
  secrets: 'CaaS',
  volumes: 'CaaS',
  lambdas: 'Lambda',
  apis: 'GatewayManager',
};

/**
 * What a property of a type names, if it names a resource.
 *
 * @param pointer of the property, e.g. `/properties/provider`
 * @param properties of the record: what an endpoint names depends on its `implementation_type`
 */
export function referenceAt(
  word: TypeWord,
  pointer: string,
  properties: Readonly<Record<string, unknown>>,
): ReferenceTo | undefined {
  const providerType = PROVIDER_TYPES[word];
  if (pointer === '/properties/provider' && providerType) return { providersOf: providerType };
  if (word === 'apiendpoints') {
    if (pointer === '/properties/implementation_id') {
      return { words: [properties.implementation_type === 'container' ? 'containers' : 'lambdas'] };
    }
    if (pointer === '/properties/container_port_name') {
      return { entryOf: idIn(properties.implementation_id), list: 'port_mappings' };
    }
    if (/Security\/users\/\d+$/.test(pointer)) return { words: ['users'] };
    if (/Security\/groups\/\d+$/.test(pointer)) return { words: ['groups'] };
  }
  if (word === 'rules' && pointer === '/properties/lambda') return { words: ['lambdas'] };
  if (word === 'groups' && /^\/properties\/users\/\d+$/.test(pointer)) return { words: ['users'] };
  if (word === 'users' && pointer === '/properties/platform_home') return 'fqon';
  const mount = /^\/properties\/secrets\/(\d+)\/secret_key$/.exec(pointer);
  if (mount) {
    const mounted: unknown = Array.isArray(properties.secrets) ? properties.secrets[Number(mount[1])] : undefined;
    return { entryOf: isJsonObject(mounted) ? idIn(mounted.secret_id) : undefined, list: 'items' };
  }
  if (/\/secret_id$/.test(pointer)) return { words: ['secrets'] };
  if (/\/volume_id$/.test(pointer)) return { words: ['volumes'] };
  if (/^\/properties\/linked_providers\/\d+\/id$/.test(pointer)) return { words: ['providers'] };
  return undefined;
}

function idIn(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** The providers of a type that a place can use: its own and those above it. */
export function providersFor(place: ParentPlace, type: string) {
  const path =
    place.word === 'orgs' ? `/meta/${place.fqon}/providers` : `/meta/${place.fqon}/${place.word}/${place.id}/providers`;
  return queryOptions({
    queryKey: [keys.world, 'providers for', path, type],
    queryFn: ({ signal }) => load<PlatformRecord[]>(path, { expand: true, type }, signal),
  });
}
