import type { Router } from 'express';
import { type Debugging, type FileLink, type TestEvent, workbenchRoutes } from '../../api/routes/workbench.ts';
import { mountRoutes, type RouteGuard } from '../../api/server/mount-routes.ts';
import { timeIfAny, timeOf } from '../../model/iso-time.ts';
import type { KeyedLog } from '../../model/keyed-log.ts';
import type { Uuid } from '../../model/record.ts';
import type { LambdaService } from '../../runtimes/lambdas/lambda-service.ts';
import type { LinkedFiles, LinkState } from './linked-files.ts';

export interface Workbench {
  links: LinkedFiles;
  /** The test events of each lambda. */
  testEvents: KeyedLog<{ events: TestEvent[] }>;
  lambdas: Pick<LambdaService, 'debugState' | 'debug' | 'endDebugging' | 'schedule'>;
  onChange(): void;
}

/** Working on a lambda; files and addresses of this machine are root's to see. */
export function workbenchRouter({ links, testEvents, lambdas, onChange }: Workbench, guard: RouteGuard): Router {
  const debugOf = (id: Uuid): Debugging | undefined => {
    const debugged = lambdas.debugState(id);
    if (!debugged) return undefined;
    const { startedAtMs, url, file, problem } = debugged;
    return { startedAt: timeOf(startedAtMs), url, file, problem };
  };
  return mountRoutes(workbenchRoutes, guard, {
    readWorkbench({ caller, resource: { id } }) {
      const [link, debug] = [links.find(id), debugOf(id)];
      const rootOnly = caller.isRoot ? { link: link && toLinkView(link), debug } : {};
      const schedule = lambdas.schedule(id);
      const { nextAtMs, lastAtMs, leftOut = 0 } = schedule ?? {};
      const scheduleView = { nextAt: timeIfAny(nextAtMs), lastAt: timeIfAny(lastAtMs), leftOut };
      return { events: testEvents.get(id)?.events ?? [], ...rootOnly, schedule: schedule && scheduleView };
    },
    async replaceTestEvents({ resource, body }) {
      await testEvents.put(resource.id, body);
      onChange();
      return body;
    },
    linkFile: async ({ resource, body }) => toLinkView(await links.link(resource.id, body.path)),
    unlinkFile: ({ resource }) => links.unlink(resource.id),
    debugLambda({ resource: { id } }) {
      lambdas.debug(id);
      const state = debugOf(id);
      if (!state) throw new Error(`lambda ${id} is debugged, and nothing is known of it`);
      return state;
    },
    endDebugging: ({ resource }) => lambdas.endDebugging(resource.id),
  });
}

function toLinkView({ path, takenAtMs, problem }: LinkState): FileLink {
  return { path, takenAt: timeIfAny(takenAtMs), problem };
}
