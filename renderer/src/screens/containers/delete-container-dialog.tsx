import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { load } from '../../api/client.ts';
import { keys } from '../../api/query-client.ts';
import { recordPath } from '../../api/resource-kinds.ts';
import { useChange } from '../../api/use-change.ts';
import type { PlatformRecord } from '../../api/use-world.ts';
import { counted } from '../../components/amounts.ts';
import { Dialog } from '../../components/dialog.tsx';
import { Switch } from '../../components/fields.tsx';
import { useGo } from '../../url.ts';
import { typedPath } from './container-place.ts';
import { isJob, runningOf } from './container-status.ts';

const NO_ENDPOINTS: readonly PlatformRecord[] = [];

export function DeleteContainerDialog({ record, onClose }: { record: PlatformRecord; onClose(): void }) {
  const go = useGo();
  const [hasEndpointsToo, setEndpointsToo] = useState(true);
  const path = typedPath(record, 'containers');
  const found = useQuery({
    queryKey: [keys.world, path, 'endpoints'],
    queryFn: ({ signal }) => load<PlatformRecord[]>(`/meta${path}/apiendpoints`, { expand: true }, signal),
    enabled: !isJob(record),
  });
  const endpoints = found.data ?? NO_ENDPOINTS;
  const deletion = useChange(
    async (_, send) => {
      // Endpoints first, so that no request is sent to a deleted container.
      if (hasEndpointsToo) for (const endpoint of endpoints) await send('DELETE', `/meta${recordPath(endpoint)}`);
      await send('DELETE', `/meta${recordPath(record)}`);
    },
    {
      message: `${record.name} was deleted.`,
      topic: keys.world,
      onDone: () => {
        onClose();
        go({ screen: 'containers' });
      },
    },
  );
  const endpointCount = hasEndpointsToo ? endpoints.length : 0;
  const running = runningOf(record);
  const volumes = mountsOf(record);
  return (
    <Dialog
      title={`Delete ${isJob(record) ? 'job' : 'container'} ${record.name}`}
      isAlert
      onClose={onClose}
      action={
        endpointCount === 0 ? (isJob(record) ? 'Delete job' : 'Delete container') : `Delete all ${endpointCount + 1}`
      }
      onAction={deletion.mutate}
      look="destroy"
      making={{ ...deletion, isPending: deletion.isPending || found.isLoading }}
    >
      <ul className="flex list-disc flex-col gap-1 pl-4">
        <li>{running === 0 ? 'No running instances.' : `${counted(running, 'running instance')} will stop.`}</li>
        {endpoints.length > 0 && (
          <li>
            {counted(endpoints.length, 'endpoint')} {endpoints.length === 1 ? 'points' : 'point'} to it:{' '}
            {endpoints.map(({ name }) => name).join(', ')}.{' '}
            {hasEndpointsToo ? '' : 'If you keep them, they return 503.'}
          </li>
        )}
        {volumes > 0 && (
          <li>
            {counted(volumes, 'volume')} and {volumes === 1 ? 'its' : 'their'} data will be kept.
          </li>
        )}
      </ul>
      {endpoints.length > 0 && (
        <div className="mt-3">
          <Switch isSelected={hasEndpointsToo} onChange={setEndpointsToo}>
            Delete the {endpoints.length === 1 ? 'endpoint' : 'endpoints'}, too
          </Switch>
        </div>
      )}
    </Dialog>
  );
}

function mountsOf({ properties: { volumes } }: PlatformRecord): number {
  return Array.isArray(volumes) ? volumes.length : 0;
}
