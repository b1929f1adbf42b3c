import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { TypeWord } from '../../../server/model/type-words.ts';
import { load } from './client.ts';
import { keys } from './query-client.ts';
import { parentIdOf } from './resource-kinds.ts';
import { searchOptions } from './tree.ts';
import { fqonOf, type PlatformRecord, useScope } from './use-world.ts';

const NONE: readonly PlatformRecord[] = [];
/** The most search results that are read to find out where a type occurs. In a larger world, every organization is asked. */
const MAX_LOOKED = 1000;

/** Every record of a type in the scope: below the organization and its sub-organizations, the workspace or the environment. */
export function useAllOfType(collection: TypeWord) {
  const { orgs, scope, environments } = useScope();
  const { org, workspace, environment } = scope;
  const where = useQuery(searchOptions({ collections: [collection], scope: scope.id, limit: MAX_LOOKED }));
  const fqons = useMemo(() => {
    // The place of a resource is shown even in organizations that the user may not view.
    const found = new Set(where.data?.rows.map(({ fqon }) => fqon));
    if (where.data && where.data.total <= where.data.rows.length) return [...found].sort();
    const inside = orgs.map(fqonOf).filter((fqon) => !org || isAtOrBelow(fqon, fqonOf(org)));
    return [...new Set([...inside, ...found])];
  }, [orgs, org, where.data]);
  const all = useQuery({
    queryKey: [keys.world, 'all of', collection, fqons],
    queryFn: async ({ signal }) => {
      const listOf = async (collectionName: TypeWord) => {
        const lists = fqons.map((fqon) =>
          load<PlatformRecord[]>(`/meta/${fqon}/${collectionName}`, { expand: true }, signal),
        );
        return [...new Map((await Promise.all(lists)).flat().map((record) => [record.id, record])).values()];
      };
      // Endpoints are in an environment by way of their API.
      const [records, apis] = await Promise.all([
        listOf(collection),
        collection === 'apiendpoints' ? listOf('apis') : NONE,
      ]);
      return { records, apis };
    },
    enabled: where.data !== undefined,
    placeholderData: keepPreviousData,
  });
  const records = useMemo(() => {
    const scopeRecord = environment ?? workspace;
    if (!all.data || !scopeRecord) return all.data?.records ?? NONE;
    const parentIds = new Set([scopeRecord.id, ...(environment ? [] : environments.map(({ id }) => id))]);
    const isIn = (record: PlatformRecord) => parentIds.has(parentIdOf(record) ?? '');
    const apis = new Set(all.data.apis.filter(isIn).map(({ id }) => id));
    return all.data.records.filter((record) => isIn(record) || apis.has(parentIdOf(record) ?? ''));
  }, [all.data, workspace, environment, environments]);
  return {
    records,
    isPending: where.isPending || all.isPending,
    error: where.error ?? all.error,
    refetch: () => {
      void where.refetch();
      void all.refetch();
    },
  };
}

function isAtOrBelow(fqon: string, scope: string): boolean {
  return scope === 'root' || fqon === scope || fqon.startsWith(`${scope}.`);
}
