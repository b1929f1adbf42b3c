import type { JsonObject } from '../model/json.ts';
import type { StoredResource } from '../model/record.ts';

const REASON = 'no container engine is attached to this emulator; the definition is kept and checked, nothing runs';

/**
 * The live state of a container or job where no engine is attached: it says so (D-048, D-050). Nothing is made up: no
 * instance runs, so every count is 0.
 */
export function unattachedStatus(container: StoredResource): JsonObject {
  const isSuspended = container.properties.num_instances === 0;
  return {
    ...(isSuspended ? { status: 'SUSPENDED' } : { status: 'LOST', status_detail: { reason: REASON } }),
    tasks_running: 0,
    tasks_healthy: 0,
    tasks_unhealthy: 0,
    tasks_staged: 0,
    instances: [],
    events: [],
    service_addresses: [],
  };
}
