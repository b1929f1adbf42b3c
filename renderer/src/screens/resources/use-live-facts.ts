import { type UseQueryResult, useQueries } from '@tanstack/react-query';
import { load } from '../../api/client.ts';
import { keys } from '../../api/query-client.ts';
import type { TreePlace } from '../../api/tree.ts';
import type { PlatformRecord } from '../../api/world.ts';
import { addressesOf } from '../containers/container-address.ts';

/** What a row of the tree does not say: how it is now, and where it can be reached. */
export interface LiveFacts {
  record: PlatformRecord;
  address: { text: string; href: string } | undefined;
}

/** Types whose records have a state or an address. */
const LIVE = ['containers', 'jobs', 'apiendpoints'] as const;
/** Of more nothing is said: they would all have to be read. */
const MAX_READ = 500;

/** By id what is known of the containers, jobs and endpoints directly inside a place. */
export function useLiveFacts({ resource, types }: TreePlace): ReadonlyMap<string, LiveFacts> {
  const words = LIVE.filter((word) => isIn(types[word]));
  return useQueries({
    queries: words.map((word) => ({
      queryKey: [keys.world, 'live', word, resource.fqon],
      queryFn: ({ signal }: { signal: AbortSignal }) =>
        load<PlatformRecord[]>(`/meta/${resource.fqon}/${word}`, { expand: true }, signal),
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
