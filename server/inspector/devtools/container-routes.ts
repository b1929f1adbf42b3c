import type { Router } from 'express';
import { type ContainerInstance, type ContainerUsage, containerRoutes } from '../../api/routes/containers.ts';
import { A_WORKLOAD } from '../../api/schemas/parts.ts';
import { isForeignWrite } from '../../api/server/host-guard.ts';
import { mountRoutes, type RouteGuard, targetOf } from '../../api/server/mount-routes.ts';
import { visibilityFor } from '../../api/server/visibility.ts';
import type { Caller } from '../../model/caller.ts';
import { PlatformError } from '../../model/errors.ts';
import { timeIfAny, timeOf } from '../../model/iso-time.ts';
import { parseUuid, type Uuid } from '../../model/record.ts';
import { typeOf } from '../../model/registry.ts';
import { requireRightTo } from '../../model/rules/actions.ts';
import type { ContainerOperations } from '../../runtimes/containers/container-operations.ts';
import type { InstanceView } from '../../runtimes/containers/status.ts';
import type { Terminals } from './terminals.ts';

function toInstanceView({ startedAtMs, exitCode, error, ipAddress, ...instance }: InstanceView): ContainerInstance {
  return {
    id: instance.id,
    state: instance.state,
    health: instance.health,
    isCurrent: instance.isCurrent,
    image: instance.image,
    wasKilledForMemory: instance.wasKilledForMemory,
    restarts: instance.restarts,
    ports: instance.addresses.map((address) => ({ ...address })),
    startedAt: timeIfAny(startedAtMs),
    exitCode,
    error,
    ipAddress,
  };
}

const MAX_MEASURED = 50;

/** Returns the routes for containers and jobs beyond their records: instances, usage, logs and terminals. */
export function containerRouter(operations: ContainerOperations, terminals: Terminals, guard: RouteGuard): Router {
  const requireToView = (caller: Caller, id: Uuid): Uuid => {
    const resource = targetOf(guard, id, A_WORKLOAD.types);
    requireRightTo(guard.authorizer, { caller, action: `${typeOf(resource).singular}.view`, resource });
    return resource.id;
  };
  const usageOf = async (containerId: Uuid): Promise<ContainerUsage> => ({
    containerId,
    instances: await operations.stats(containerId),
  });
  /** In a list one that cannot be measured does not spoil the others; only when no engine answers it shows by being empty. */
  const usageOrNothing = async (id: Uuid): Promise<ContainerUsage[]> => {
    try {
      return [await usageOf(id)];
    } catch (failure) {
      if (failure instanceof PlatformError) return [];
      throw failure;
    }
  };
  return mountRoutes(containerRoutes, guard, {
    listPulls({ caller }) {
      const { sees } = visibilityFor(guard, caller);
      return operations
        .pulls()
        .filter(({ recordId }) => sees(recordId))
        .map(({ recordId, startedAtMs, ...pull }) => ({
          containerId: recordId,
          ...pull,
          startedAt: timeOf(startedAtMs),
        }));
    },
    async measureContainers({ caller, query }) {
      const visibleIds = idsIn(query.ids).map((id) => requireToView(caller, id));
      return (await Promise.all(visibleIds.map(usageOrNothing))).flat();
    },
    listInstances: async ({ resource }) => (await operations.instances(resource.id)).map(toInstanceView),
    measureContainer: ({ resource }) => usageOf(resource.id),
    execInContainer: ({ resource, body }) => operations.exec(resource.id, body.command, body.instance),
    async openTerminal({ req, caller, resource: { id }, query: { instance, columns, rows }, requireAccess }) {
      // Without this check, any page could open one, because the browser adds its stored credentials.
      if (isForeignWrite(req))
        throw new PlatformError('origin_not_allowed', "open a terminal from the window's own pages");
      await operations.requireInstance(id, instance);
      await terminals.open(req, {
        userId: caller.userId,
        size: { columns, rows },
        openShell: (size) => operations.openShell(id, size, instance),
        requirePermission: requireAccess,
      });
    },
    restartContainer: ({ resource }) => operations.restart(resource.id),
    retryEngines: () => operations.retryEngines(),
  });
}

function idsIn(text = ''): Uuid[] {
  const ids = text === '' ? [] : text.split(',');
  if (ids.length > MAX_MEASURED) {
    throw new PlatformError(
      'invalid_query',
      `'ids' names ${ids.length}, at most ${MAX_MEASURED} are measured at a time`,
    );
  }
  return [...new Set(ids.map((id) => parseUuid(id)))];
}
