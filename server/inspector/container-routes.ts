import express, { type Request, type Router } from 'express';
import { queryOf, singleParameter } from '../http/query.ts';
import { readJson } from '../http/read-body.ts';
import type { Caller } from '../model/caller.ts';
import { PlatformError } from '../model/errors.ts';
import { execWish } from '../model/exec-wish.ts';
import { parseUuid, type Uuid } from '../model/ids.ts';
import type { JsonObject } from '../model/json.ts';
import type { TypeWord } from '../model/type-words.ts';
import { parseWith } from '../model/validate.ts';
import {
  type Measured,
  type SeenInstance,
  type SeenPull,
  shownInstance,
  shownPull,
  shownUsage,
} from './container-shown.ts';
import type { WorldGuard } from './history-routes.ts';
import type { TargetOf } from './lambda-routes.ts';

/** What runs containers and jobs, as far as one looks at it and has a hand in it. All but `pulls` reject with 503 without an engine. */
export interface ContainerDesk {
  /** In any state, oldest first. */
  instances(id: Uuid): Promise<SeenInstance[]>;
  /** What each running instance uses; takes a second or two. */
  stats(id: Uuid): Promise<Measured[]>;
  /**
   * Runs a command in an instance, the first one unless (the beginning of) an id is given. Rejects with 409 when there is no such
   * instance, or the command cannot be run or does not end in time.
   */
  exec(id: Uuid, command: readonly string[], instanceId?: string): Promise<ExecOutcome>;
  /** Ends all instances and starts new ones. */
  restart(id: Uuid): Promise<void>;
  pulls(): SeenPull[];
  /** Asks engines that are away now whether they are back; what is known of all engines then. */
  retryEngines(): Promise<object[]>;
}

interface ExecOutcome {
  exitCode: number;
  stdout: string;
  stderr: string;
  isCut: boolean;
}

const RUNNABLE: readonly TypeWord[] = ['containers', 'jobs'];
/** How many may be measured by one request. */
const MAX_MEASURED = 50;

/**
 * What there is to see and do at containers and jobs beyond their records, below `/inspect`:
 *
 * - `GET /containers/{id}/instances`: `[{id, state, health, ...}]` as the engine has them now.
 * - `GET /containers/{id}/stats`: `{containerId, instances: [{instanceId, cpus, memoryBytes, ...}]}`, one sample.
 * - `GET /containers/stats?ids=a,b`: the same for several, those left out that cannot be measured.
 * - `POST /containers/{id}/exec` `{command: [...], instance?}`: `{exitCode, stdout, stderr, isCut}`. Takes the right to update.
 * - `POST /containers/{id}/restart` 202: new instances in place of the old ones. Takes the right to update.
 * - `GET /containers/pulls`: images that are being pulled now.
 * - `POST /engines/retry`: asks engines that are away now; answers what is known of all.
 */
export function containerRoutes({
  desk,
  guard,
  target,
  callerOf,
}: {
  desk: ContainerDesk;
  guard: WorldGuard;
  target: TargetOf;
  /** Throws 401. */
  callerOf(req: Request): Caller;
}): Router {
  const router = express.Router({ caseSensitive: true });

  router.get('/containers/pulls', (req, res) => {
    guard.viewer(req);
    res.json(desk.pulls().map(shownPull));
  });
  router.get('/containers/stats', async (req, res) => {
    callerOf(req);
    const ids = idsIn(singleParameter(queryOf(req), 'ids'));
    const seen = ids.map((id) => target(req, 'view', RUNNABLE, id).resource.id);
    const measured = await Promise.all(seen.map((id) => desk.stats(id).then(...usageOrNothing(id))));
    res.json(measured.flat());
  });
  router.get('/containers/:id/instances', async (req, res) => {
    const { resource } = target(req, 'view', RUNNABLE);
    res.json((await desk.instances(resource.id)).map(shownInstance));
  });
  router.get('/containers/:id/stats', async (req, res) => {
    const { resource } = target(req, 'view', RUNNABLE);
    res.json(shownUsage(resource.id, await desk.stats(resource.id)));
  });
  router.post('/containers/:id/exec', async (req, res) => {
    const { resource } = target(req, 'update', RUNNABLE);
    const { command, instance } = parseWith(execWish, await readJson(req), '');
    res.json(await desk.exec(resource.id, command, instance));
  });
  router.post('/containers/:id/restart', async (req, res) => {
    const { resource } = target(req, 'update', RUNNABLE);
    await desk.restart(resource.id);
    res.status(202).end();
  });
  router.post('/engines/retry', async (req, res) => {
    guard.viewer(req);
    res.json(await desk.retryEngines());
  });
  return router;
}

/** In a list one that cannot be measured does not spoil the others; only when no engine answers it shows by being empty. */
function usageOrNothing(id: Uuid): [(measured: Measured[]) => JsonObject[], (failure: unknown) => JsonObject[]] {
  return [
    (measured) => [shownUsage(id, measured)],
    (failure) => {
      if (failure instanceof PlatformError) return [];
      throw failure;
    },
  ];
}

function idsIn(text = ''): Uuid[] {
  const ids = text === '' ? [] : text.split(',');
  if (ids.length > MAX_MEASURED) {
    throw new PlatformError(400, `'ids' names ${ids.length}, at most ${MAX_MEASURED} are measured at a time`);
  }
  return [...new Set(ids.map((id) => parseUuid(id)))];
}
