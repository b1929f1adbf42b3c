import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { EndpointUse } from '../../../../server/api/routes/window.ts';
import { keys } from '../../api/query-client.ts';
import { searchOptions } from '../../api/tree.ts';
import { useAllOfType } from '../../api/use-all-of-type.ts';
import { useRead } from '../../api/use-read.ts';
import { type PlatformRecord, referenceId } from '../../api/use-world.ts';
import { reasonOf } from '../containers/container-status.ts';

export type { EndpointUse } from '../../../../server/api/routes/window.ts';

export interface EndpointTarget {
  kind: 'lambda' | 'container';
  id: string;
  /** Undefined when it is not known. */
  name: string | undefined;
  isGone: boolean;
  /** The status of a container, with its reason. */
  status?: string | undefined;
  reason?: string | undefined;
}

export interface EndpointRow {
  record: PlatformRecord;
  target: EndpointTarget | undefined;
  use: EndpointUse | undefined;
}

/** A target may be anywhere; of more than so many, not every name is known. */
const MAX_TARGETS = 1_000;
/** A window of a limit ends without any request. */
const REFRESH_MS = 5_000;

/** Every public endpoint of the scope with where it leads and what came to it. */
export function useEndpoints() {
  const endpoints = useAllOfType('apiendpoints');
  const targets = useQuery(searchOptions({ collections: ['lambdas', 'containers'], limit: MAX_TARGETS })).data;
  const containers = useAllOfType('containers');
  const uses = useRead(keys.traffic, '/inspect/endpoints', {}, { refetchInterval: REFRESH_MS }).data;
  const rows = useMemo(() => {
    const names = new Map(targets?.rows.map(({ id, name }) => [id, name]));
    const isAllKnown = targets !== undefined && targets.rows.length >= targets.total;
    const records = new Map(containers.records.map((record) => [record.id, record]));
    const useOf = new Map(uses?.map((use) => [use.id, use]));
    return endpoints.records.map((record): EndpointRow => {
      const id = referenceId(record.properties.implementation_id);
      return {
        record,
        use: useOf.get(record.id),
        target: id === undefined ? undefined : targetOf(record, id),
      };
    });

    function targetOf({ properties }: PlatformRecord, id: string): EndpointTarget {
      const container = records.get(id);
      return {
        kind: properties.implementation_type === 'container' ? 'container' : 'lambda',
        id,
        name: names.get(id) ?? container?.name,
        isGone: isAllKnown && !names.has(id),
        ...(container && { status: String(container.properties.status), reason: reasonOf(container) }),
      };
    }
  }, [endpoints.records, targets, containers.records, uses]);
  return { ...endpoints, rows };
}
