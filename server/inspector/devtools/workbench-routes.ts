import type { Router } from 'express';
import { type Debugging, type FileLink, workbenchRoutes } from '../../api/routes/workbench.ts';
import { mountRoutes, type RouteGuard } from '../../api/server/mount-routes.ts';
import { timeIfAny, timeOf } from '../../model/iso-time.ts';
import type { Uuid } from '../../model/record.ts';
import type { LinkState } from './linked-files.ts';
import type { createWorkbench } from './workbench.ts';

/** Working on a lambda; files and addresses of this machine are root's to see. */
export function workbenchRouter(workbench: ReturnType<typeof createWorkbench>, guard: RouteGuard): Router {
  const debugOf = (id: Uuid): Debugging | undefined => {
    const debugged = workbench.debugger.debugState(id);
    if (!debugged) return undefined;
    const { startedAtMs, url, file, problem } = debugged;
    return { startedAt: timeOf(startedAtMs), url, file, problem };
  };
  return mountRoutes(workbenchRoutes, guard, {
    readWorkbench({ caller, resource: { id } }) {
      const [link, debug] = [workbench.links.find(id), debugOf(id)];
      const rootOnly = caller.isRoot ? { link: link && toLinkView(link), debug } : {};
      const schedule = workbench.debugger.schedule(id);
      const { nextAtMs, lastAtMs, leftOut = 0 } = schedule ?? {};
      const scheduleView = { nextAt: timeIfAny(nextAtMs), lastAt: timeIfAny(lastAtMs), leftOut };
      return { events: workbench.testEvents(id), ...rootOnly, schedule: schedule && scheduleView };
    },
    async replaceTestEvents({ resource, body }) {
      await workbench.replaceTestEvents(resource.id, body.events);
      return body;
    },
    linkFile: async ({ resource, body }) => toLinkView(await workbench.links.link(resource.id, body.path)),
    unlinkFile: ({ resource }) => workbench.links.unlink(resource.id),
    debugLambda({ resource: { id } }) {
      workbench.debugger.debug(id);
      const state = debugOf(id);
      if (!state) throw new Error(`lambda ${id} is debugged, and nothing is known of it`);
      return state;
    },
    endDebugging: ({ resource }) => workbench.debugger.endDebugging(resource.id),
  });
}

function toLinkView({ path, takenAtMs, problem }: LinkState): FileLink {
  return { path, takenAt: timeIfAny(takenAtMs), problem };
}
