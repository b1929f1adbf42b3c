import { send } from '../../api/client.ts';
import { keys } from '../../api/query-client.ts';
import { recordPath } from '../../api/resource-kinds.ts';
import { useChange } from '../../api/use-change.ts';
import type { PlatformRecord } from '../../api/use-world.ts';
import { typedPath } from './container-place.ts';
import { isJob, requestedInstances } from './container-status.ts';

/** The number of instances before a container was stopped in this window. The same number is started again. */
const countBefore = new Map<string, number>();

/** Provides the actions for a container or job; a rejection is shown as a message. */
export function useContainerActions(record: PlatformRecord) {
  const reported = { refusal: `${record.name}: `, topic: keys.world };
  const scaling = useChange((instances: number) => scale(record, instances), reported);
  const restart = useChange(() => send('POST', `/inspect/containers/${record.id}/restart`), reported);
  return {
    start: () => scaling.mutate(countBefore.get(record.id) ?? 1),
    stop: () => {
      countBefore.set(record.id, Math.max(1, requestedInstances(record)));
      scaling.mutate(0);
    },
    restart: () => restart.mutate(),
    scaleTo: (instances: number) => scaling.mutate(instances),
    isPending: scaling.isPending || restart.isPending,
  };
}

/** Jobs have no scale action (D-213). */
function scale(record: PlatformRecord, instances: number): Promise<unknown> {
  if (isJob(record)) {
    return send('PATCH', `/meta${recordPath(record)}`, [
      { op: 'add', path: '/properties/num_instances', value: instances },
    ]);
  }
  return send('POST', `/meta${typedPath(record, 'containers')}/scale`, undefined, { numInstances: instances });
}
