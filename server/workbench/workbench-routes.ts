import type { Router } from 'express';
import { type Debugging, type FileLink, type TestEvent, workbenchRows } from '../contract/workbench.ts';
import { type Gate, serve } from '../http/serve.ts';
import type { Uuid } from '../model/ids.ts';
import { timeIfAny, timeOf } from '../model/iso-time.ts';
import type { LinkedFiles, LinkState } from './linked-files.ts';

/** A lambda that is being debugged. */
export interface Debugged {
  lambdaId: Uuid;
  startedAtMs: number;
  url?: string;
  file?: string;
  problem?: string;
}

/** What a person works on a lambda with. */
export interface Workbench {
  links: LinkedFiles;
  testEvents(lambdaId: Uuid): TestEvent[];
  /** Rejects with 503 when they cannot be kept. */
  replaceTestEvents(lambdaId: Uuid, events: TestEvent[]): Promise<void>;
  debugger: {
    debugState(lambdaId: Uuid): Debugged | undefined;
    /** Throws 409 while too many others are debugged. */
    debug(lambdaId: Uuid): void;
    endDebugging(lambdaId: Uuid): void;
    /** When it runs by the clock; undefined when its record has no period. */
    schedule(lambdaId: Uuid): { nextAtMs?: number; lastAtMs?: number; leftOut: number } | undefined;
  };
}

/** Working on a lambda; files and addresses of this machine are root's to see. */
export function workbenchRoutes(workbench: Workbench, gate: Gate): Router {
  const debugOf = (id: Uuid): Debugging | undefined => {
    const debugged = workbench.debugger.debugState(id);
    if (!debugged) return undefined;
    const { startedAtMs, url, file, problem } = debugged;
    return { startedAt: timeOf(startedAtMs), url, file, problem };
  };
  return serve(workbenchRows, gate, {
    readWorkbench({ caller, resource: { id } }) {
      const [link, debug] = [workbench.links.find(id), debugOf(id)];
      const own = caller.isRoot ? { link: link && shownLink(link), debug } : {};
      const schedule = workbench.debugger.schedule(id);
      const { nextAtMs, lastAtMs, leftOut = 0 } = schedule ?? {};
      const shown = { nextAt: timeIfAny(nextAtMs), lastAt: timeIfAny(lastAtMs), leftOut };
      return { events: workbench.testEvents(id), ...own, schedule: schedule && shown };
    },
    async replaceTestEvents({ resource, body }) {
      await workbench.replaceTestEvents(resource.id, body.events);
      return body;
    },
    linkFile: async ({ resource, body }) => shownLink(await workbench.links.link(resource.id, body.path)),
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

function shownLink({ path, takenAtMs, problem }: LinkState): FileLink {
  return { path, takenAt: timeIfAny(takenAtMs), problem };
}
