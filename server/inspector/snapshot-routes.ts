import express, { type Request, type Router } from 'express';
import { z } from 'zod';
import { booleanParameter, queryOf, singleParameter } from '../http/query.ts';
import { readJson } from '../http/read-body.ts';
import { viaOf } from '../http/via.ts';
import { parseUuid } from '../model/ids.ts';
import { parseWith } from '../model/validate.ts';
import type { NamedSnapshots, SnapshotInfo } from '../store/named-snapshots.ts';
import { sharingRecords } from '../store/world-difference.ts';
import {
  briefDifference,
  onlyOne,
  type Sees,
  shownCommit,
  shownDifference,
  type WorldGuard,
} from './history-routes.ts';
import { causeOf, differenceBetween, type TimeMachine } from './time-machine.ts';

const snapshotWish = z.strictObject({ name: z.string() });

/**
 * Worlds kept under a name.
 *
 * - `GET /snapshots`: `[{name, seq, at, sizeBytes}]`, the oldest first.
 * - `POST /snapshots {name}`: keeps the present world; 201, or 409 when the name is taken.
 * - `GET /snapshots/{name}/diff?resource=&brief=`: `{from, to, ops, resources, total}`, what leads from it to now; `brief` leaves operations out.
 * - `POST /snapshots/{name}/restore`: makes the world what it was then, by one commit; `{}` when it is so already.
 * - `DELETE /snapshots/{name}`: 204.
 */
export function snapshotRoutes(snapshots: NamedSnapshots, machine: TimeMachine, guard: WorldGuard, sees: Sees): Router {
  /** The world that was kept, ready to be compared with the present one. */
  const read = async (name: string) => {
    const { seq, resources } = await snapshots.read(name);
    return { seq, resources: await sharingRecords(resources, machine.store.world.resources) };
  };

  const router = express.Router({ caseSensitive: true });
  router.get('/snapshots', async (req, res) => {
    guard.viewer(req);
    res.json((await snapshots.list()).map(shownSnapshot));
  });
  router.post('/snapshots', async (req, res) => {
    guard.root(req);
    const { name } = parseWith(snapshotWish, await readJson(req));
    const { history, seq, world } = machine.store;
    const saved = await snapshots.save(name, world.id, await history.worldAt({ seq }));
    res.status(201).location(`${req.baseUrl}/snapshots/${name}`).json(shownSnapshot(saved));
  });
  router.get('/snapshots/:name/diff', async (req, res) => {
    const caller = guard.viewer(req);
    const then = await read(nameIn(req));
    const { history, seq } = machine.store;
    const now = await history.worldAt({ seq });
    const query = queryOf(req);
    const isBrief = booleanParameter(query, 'brief');
    const resource = singleParameter(query, 'resource');
    const id = resource === undefined ? undefined : parseUuid(resource, 'resource');
    const difference = differenceBetween(onlyOne(then, id), onlyOne(now, id), { from: then, to: now });
    const shown = isBrief ? briefDifference(difference) : shownDifference(difference, (one) => sees(caller, one));
    res.json({ from: then.seq, to: now.seq, ...shown });
  });
  router.post('/snapshots/:name/restore', async (req, res) => {
    const caller = guard.root(req);
    const name = nameIn(req);
    const { resources } = await read(name);
    const cause = causeOf({ caller, via: viaOf(req) }, 'snapshot.restore', `restore of snapshot ${name}`);
    const commit = await machine.bringBack(resources, cause);
    res.json({ ...(commit && { commit: shownCommit(commit) }) });
  });
  router.delete('/snapshots/:name', async (req, res) => {
    guard.root(req);
    await snapshots.remove(nameIn(req));
    res.status(204).end();
  });
  return router;
}

function nameIn(req: Request): string {
  return String(req.params.name);
}

function shownSnapshot({ atMs, ...rest }: SnapshotInfo): object {
  return { ...rest, at: new Date(atMs).toISOString() };
}
