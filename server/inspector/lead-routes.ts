import express, { type Router } from 'express';
import { queryOf, singleParameter } from '../http/query.ts';
import { PlatformError } from '../model/errors.ts';
import { parseUuid } from '../model/ids.ts';
import type { Arrivals } from './arrivals.ts';
import type { WorldGuard } from './history-routes.ts';

/** What waits for a lead waits for this. */
export const LEADS = 'leads';

/** The leads that were caught. */
export interface LeadDesk {
  /** Oldest first; throws 400 for an unknown filter. */
  list(query: URLSearchParams): readonly object[];
  /** Resolves to whether there was one of this id. */
  delete(id: string): Promise<boolean>;
  /** Resolves to how many there were. */
  deleteAll(): Promise<number>;
}

/**
 * Caught leads, below `/inspect` (D-200):
 *
 * - `GET /leads?email=&since=&execution=&refused=&waitS=`: the oldest first, with `refused=true` the forms that were not taken; while there is none it waits for one up to `waitS` seconds.
 * - `DELETE /leads/{id}`: 204, or 404 when there is none of this id. Root only.
 * - `DELETE /leads`: all of them, `{deleted}` says how many. Root only.
 */
export function leadRoutes(leads: () => LeadDesk, arrivals: Arrivals, guard: WorldGuard): Router {
  const router = express.Router({ caseSensitive: true });
  router.get('/leads', async (req, res) => {
    guard.viewer(req);
    const query = queryOf(req);
    const waitS = singleParameter(query, 'waitS');
    query.delete('waitS');
    const find = () => leads().list(query);
    res.json(await arrivals.look(find, (found) => found.length > 0, { topic: LEADS, waitS, res }));
  });
  router.delete('/leads', async (req, res) => {
    guard.root(req);
    res.json({ deleted: await leads().deleteAll() });
  });
  router.delete('/leads/:id', async (req, res) => {
    guard.root(req);
    const id = parseUuid(req.params.id);
    if (!(await leads().delete(id))) throw new PlatformError(404, `lead ${id} not found`);
    res.status(204).end();
  });
  return router;
}
