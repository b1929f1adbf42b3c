import { useMemo } from 'react';
import type { ImagePull } from '../../../../server/api/routes/containers.ts';
import { keys } from '../../api/query-client.ts';
import { useAllOfType } from '../../api/use-all-of-type.ts';
import { useRead } from '../../api/use-read.ts';
import type { PlatformRecord } from '../../api/use-world.ts';
import { addressesOf, type ContainerAddress } from './container-address.ts';

/** A container or job with what is known of it beyond its record. */
export interface ContainerRow {
  record: PlatformRecord;
  pull: ImagePull | undefined;
  addresses: readonly ContainerAddress[];
}

const NO_PULLS: readonly ImagePull[] = [];

/** Every container and job of the scope, newest first, kept current by commits and by events of the engine. */
export function useContainers() {
  const containers = useAllOfType('containers');
  const jobs = useAllOfType('jobs');
  const endpoints = useAllOfType('apiendpoints').records;
  const pulls = useRead(keys.containers, '/inspect/containers/pulls');
  const currentPulls = pulls.data ?? NO_PULLS;
  const rows = useMemo(() => {
    return [...containers.records, ...jobs.records]
      .sort((a, b) => createdOf(b).localeCompare(createdOf(a)))
      .map(
        (record): ContainerRow => ({
          record,
          pull: currentPulls.find(({ containerId }) => containerId === record.id),
          addresses: addressesOf(record, endpoints, location.hostname),
        }),
      );
  }, [containers.records, jobs.records, endpoints, currentPulls]);
  return {
    rows,
    isPending: containers.isPending || jobs.isPending,
    error: containers.error ?? jobs.error,
    refetch: () => {
      containers.refetch();
      jobs.refetch();
    },
  };
}

const createdOf = ({ created }: PlatformRecord) => created?.timestamp ?? '';
