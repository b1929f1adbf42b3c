import { queryOptions } from '@tanstack/react-query';
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
export type ReferenceTo = { providersOf: string } | { words: readonly TypeWord[] };

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
    if (/Security\/users\/\d+$/.test(pointer)) return { words: ['users'] };
    if (/Security\/groups\/\d+$/.test(pointer)) return { words: ['groups'] };
  }
  if (word === 'rules' && pointer === '/properties/lambda') return { words: ['lambdas'] };
  if (word === 'groups' && /^\/properties\/users\/\d+$/.test(pointer)) return { words: ['users'] };
  if (/\/secret_id$/.test(pointer)) return { words: ['secrets'] };
  if (/\/volume_id$/.test(pointer)) return { words: ['volumes'] };
  if (/^\/properties\/linked_providers\/\d+\/id$/.test(pointer)) return { words: ['providers'] };
  return undefined;
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
