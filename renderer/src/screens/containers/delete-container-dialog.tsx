import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useChange } from '../../api/change.ts';
import { load, send } from '../../api/client.ts';
import { keys } from '../../api/query-client.ts';
import { recordPath } from '../../api/resource-kinds.ts';
import type { PlatformRecord } from '../../api/world.ts';
import { counted } from '../../parts/amounts.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Switch } from '../../parts/fields.tsx';
import { useGo } from '../../url.ts';
import { typedPath } from './container-place.ts';
import { isJob, runningOf } from './container-status.ts';

const NO_ENDPOINTS: readonly PlatformRecord[] = [];

/** Says what ends, what goes along and what stays, then deletes. */
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
    async () => {
      // Endpoints first: nobody is sent to what is not there any more.
      if (hasEndpointsToo) for (const one of endpoints) await send('DELETE', `/meta${recordPath(one)}`);
      await send('DELETE', `/meta${recordPath(record)}`);
    },
    {
      said: `${record.name} was deleted. The history can bring it back.`,
      topic: keys.world,
      onDone: () => {
        onClose();
        go({ screen: 'containers' });
      },
    },
  );
  const goingAlong = hasEndpointsToo ? endpoints.length : 0;
  const running = runningOf(record);
  const volumes = mountsOf(record);
  return (
    <Dialog
      title={`Delete ${isJob(record) ? 'job' : 'container'} ${record.name}`}
      isAlert
      onClose={onClose}
      action={goingAlong === 0 ? 'Delete it' : `Delete all ${goingAlong + 1}`}
      onAction={deletion.mutate}
      look="destroy"
      making={{ ...deletion, isPending: deletion.isPending || found.isLoading }}
    >
      <ul className="flex list-disc flex-col gap-1 pl-4">
        <li>{running === 0 ? 'Nothing of it runs now.' : `${counted(running, 'running instance')} will end.`}</li>
        {endpoints.length > 0 && (
          <li>
            {counted(endpoints.length, 'endpoint')} {endpoints.length === 1 ? 'leads' : 'lead'} to it:{' '}
            {endpoints.map(({ name }) => name).join(', ')}. {hasEndpointsToo ? '' : 'Left alone they answer 503.'}
          </li>
        )}
        {volumes > 0 && (
          <li>
            {counted(volumes, 'volume')} and what {volumes === 1 ? 'it holds' : 'they hold'} will stay.
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
