import { type UseQueryResult, useQueries } from '@tanstack/react-query';
import { load } from '../../api/client.ts';
import { keys } from '../../api/query-client.ts';
import type { TreePlace } from '../../api/tree.ts';
import type { PlatformRecord } from '../../api/world.ts';
import { addressesOf } from '../containers/container-address.ts';

/** The state of a row in the tree that its record does not contain: the current record and its public address. */
export interface LiveFacts {
  record: PlatformRecord;
  address: { text: string; href: string } | undefined;
}

/** Types whose records have a state or an address. */
const LIVE = ['containers', 'jobs', 'apiendpoints'] as const;
/** Maximum number of resources in the tree for which live facts are read. */
const MAX_READ = 500;

/** Returns the live facts of the containers, jobs and endpoints directly inside a location, by id. */
export function useLiveFacts({ resource, types }: TreePlace): ReadonlyMap<string, LiveFacts> {
  const collections = LIVE.filter((collection) => isIn(types[collection]));
  return useQueries({
    queries: collections.map((collection) => ({
      queryKey: [keys.world, 'live', collection, resource.fqon],
      queryFn: ({ signal }: { signal: AbortSignal }) =>
        load<PlatformRecord[]>(`/meta/${resource.fqon}/${collection}`, { expand: true }, signal),
    })),
    combine,
  });
}

function isIn(count: number | undefined): boolean {
  return count !== undefined && count > 0 && count <= MAX_READ;
}

function combine(answers: readonly UseQueryResult<PlatformRecord[]>[]): ReadonlyMap<string, LiveFacts> {
  const records = answers.flatMap(({ data }) => data ?? []);
  return new Map(records.map((record) => [record.id, { record, address: addressOf(record) }]));
}

function addressOf(record: PlatformRecord): LiveFacts['address'] {
  const { public_url: url } = record.properties;
  if (typeof url === 'string' && URL.canParse(url)) return { text: new URL(url).pathname, href: url };
  return addressesOf(record, [], location.hostname)[0];
}
