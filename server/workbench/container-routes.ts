import type { Router } from 'express';
import type { ContainerOperations } from '../containers/container-operations.ts';
import { type ContainerUsage, containerRows } from '../contract/containers.ts';
import { A_WORKLOAD } from '../contract/parts.ts';
import { eyesOf } from '../http/eyes.ts';
import { isForeignWrite } from '../http/foreign-write.ts';
import { type Gate, serve, targetOf } from '../http/serve.ts';
import type { Caller } from '../model/caller.ts';
import { PlatformError } from '../model/errors.ts';
import { parseUuid, type Uuid } from '../model/ids.ts';
import { typeOf } from '../model/registry.ts';
import { demandRight } from '../model/rights.ts';
import { shownInstance, shownPull, shownUsage } from './container-shown.ts';
import type { Terminals } from './terminals.ts';

/** How many may be measured by one request. */
const MAX_MEASURED = 50;

/** What there is to see and do at containers and jobs beyond their records. */
export function containerRoutes(operations: ContainerOperations, terminals: Terminals, gate: Gate): Router {
  const demandTo = (verb: 'view' | 'update', caller: Caller, id: Uuid): Uuid => {
    const resource = targetOf(gate, id, A_WORKLOAD.of);
    demandRight(gate.judge, { caller, action: `${typeOf(resource).noun}.${verb}`, resource });
    return resource.id;
  };
  /** In a list one that cannot be measured does not spoil the others; only when no engine answers it shows by being empty. */
  const usageOrNothing = async (id: Uuid): Promise<ContainerUsage[]> => {
    try {
      return [shownUsage(id, await operations.stats(id))];
    } catch (failure) {
      if (failure instanceof PlatformError) return [];
      throw failure;
    }
  };
  return serve(containerRows, gate, {
    listPulls({ caller }) {
      const { sees } = eyesOf(gate, caller);
      return operations
        .pulls()
        .filter(({ recordId }) => sees(recordId))
        .map(shownPull);
    },
    async measureContainers({ caller, query }) {
      const seen = idsIn(query.ids).map((id) => demandTo('view', caller, id));
      return (await Promise.all(seen.map(usageOrNothing))).flat();
    },
    listInstances: async ({ resource }) => (await operations.instances(resource.id)).map(shownInstance),
    measureContainer: async ({ resource }) => shownUsage(resource.id, await operations.stats(resource.id)),
    execInContainer: ({ resource, body }) => operations.exec(resource.id, body.command, body.instance),
    async openTerminal({ req, resource: { id }, query: { instance, columns, rows } }) {
      // Credentials that a browser keeps by itself would open one for any page.
      if (isForeignWrite(req)) throw new PlatformError(403, "open a terminal from the window's own pages");
      await operations.demandInstance(id, instance);
      await terminals.open(req, {
        size: { columns, rows },
        openShell: (size) => operations.openShell(id, size, instance),
        demand: () => demandTo('update', gate.callerOf(req), id),
      });
    },
    restartContainer: ({ resource }) => operations.restart(resource.id),
    retryEngines: () => operations.retryEngines(),
  });
}

function idsIn(text = ''): Uuid[] {
  const ids = text === '' ? [] : text.split(',');
  if (ids.length > MAX_MEASURED) {
    throw new PlatformError(400, `'ids' names ${ids.length}, at most ${MAX_MEASURED} are measured at a time`);
  }
  return [...new Set(ids.map((id) => parseUuid(id)))];
}
