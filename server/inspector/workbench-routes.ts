import express, { type Request, type Router } from 'express';
import { z } from 'zod';
import { readJson } from '../http/read-body.ts';
import type { Uuid } from '../model/ids.ts';
import { parseWith } from '../model/validate.ts';
import type { WorldGuard } from './history-routes.ts';
import type { LambdaRoutesOptions } from './lambda-routes.ts';
import type { LinkedFiles, LinkState } from './linked-files.ts';
import { type TestEvents, testEventsWish } from './test-events.ts';

/** The lambda that is being debugged. */
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
  events: TestEvents;
  debugger: {
    readonly debugged: Debugged | undefined;
    /** Throws 409 while another lambda is debugged. */
    debug(lambdaId: Uuid): void;
    endDebugging(lambdaId: Uuid): void;
  };
}

const linkWish = z.strictObject({ path: z.string().min(1).max(4096) });

/**
 * Working on a lambda, below `/inspect/lambdas/{id}`:
 *
 * - `GET /workbench`: `{events, link?, debug?}`; files and addresses of this machine are root's to see.
 * - `PUT /events` `{events: [{name, body}]}`: the events that are kept for trying it. Takes the right lambda.invoke.
 * - `POST /link` `{path}`, `DELETE /link`: its code follows a file of this machine, or does so no longer. Root only.
 * - `POST /debug`, `DELETE /debug`: it runs in one process that a debugger can attach to, or as always. Root only.
 */
export function workbenchRoutes(
  workbench: Workbench,
  target: LambdaRoutesOptions['target'],
  guard: WorldGuard,
): Router {
  const router = express.Router({ caseSensitive: true });
  const lambdaOf = (req: Request, verb: 'view' | 'invoke') => target(req, verb, ['lambdas']);
  const rootsLambda = (req: Request): Uuid => {
    guard.root(req);
    return lambdaOf(req, 'view').resource.id;
  };
  const debugOf = (id: Uuid) => {
    const { debugged } = workbench.debugger;
    if (debugged?.lambdaId !== id) return undefined;
    const { startedAtMs, url, file, problem } = debugged;
    return { startedAt: timeOf(startedAtMs), ...(url && { url }), ...(file && { file }), ...(problem && { problem }) };
  };
  router.get('/lambdas/:id/workbench', (req, res) => {
    const { caller, resource } = lambdaOf(req, 'view');
    const [link, debug] = [workbench.links.find(resource.id), debugOf(resource.id)];
    const own = caller.isRoot ? { ...(link && { link: shownLink(link) }), ...(debug && { debug }) } : {};
    res.json({ events: workbench.events.list(resource.id), ...own });
  });
  router.put('/lambdas/:id/events', async (req, res) => {
    const { resource } = lambdaOf(req, 'invoke');
    const wish = parseWith(testEventsWish, await readJson(req), '');
    await workbench.events.replace(resource.id, wish.events);
    res.json(wish);
  });
  router.post('/lambdas/:id/link', async (req, res) => {
    const id = rootsLambda(req);
    const { path } = parseWith(linkWish, await readJson(req), '');
    res.json(shownLink(await workbench.links.link(id, path)));
  });
  router.delete('/lambdas/:id/link', async (req, res) => {
    await workbench.links.unlink(rootsLambda(req));
    res.status(204).end();
  });
  router.post('/lambdas/:id/debug', (req, res) => {
    const id = rootsLambda(req);
    workbench.debugger.debug(id);
    res.json(debugOf(id));
  });
  router.delete('/lambdas/:id/debug', (req, res) => {
    workbench.debugger.endDebugging(rootsLambda(req));
    res.status(204).end();
  });
  return router;
}

function shownLink({ path, takenAtMs, problem }: LinkState) {
  return { path, ...(takenAtMs !== undefined && { takenAt: timeOf(takenAtMs) }), ...(problem && { problem }) };
}

function timeOf(atMs: number): string {
  return new Date(atMs).toISOString();
}
