import { Readable } from 'node:stream';
import express, { type Request, type Router } from 'express';
import { z } from 'zod';
import { booleanParameter, queryOf, singleParameter } from '../http/query.ts';
import { readJson } from '../http/read-body.ts';
import { viaOf } from '../http/via.ts';
import type { Caller } from '../model/caller.ts';
import type { Commit } from '../model/commit.ts';
import { forbidden, PlatformError } from '../model/errors.ts';
import { parseUuid, type Uuid } from '../model/ids.ts';
import type { StoredResource } from '../model/record.ts';
import { typeOf } from '../model/registry.ts';
import { pathOf } from '../model/resource-path.ts';
import { parseWith } from '../model/validate.ts';
import { worldFileContent } from '../store/world-file.ts';
import type { PastWorld } from '../store/world-history.ts';
import { demandKnown, findCommits, parseHistoryQuery, parseMoment } from './history-query.ts';
import { maskedCommit, maskedOperations, maskedRecord } from './masking.ts';
import { PastOutline, parseOutlineWish } from './past-outline.ts';
import { sendStream } from './send-stream.ts';
import { type Difference, differenceBetween, type ResourceDifference, type TimeMachine } from './time-machine.ts';

/** Who may look at the whole world, and who may bring a past one back. */
export interface WorldGuard {
  /** Throws 401, and 403 for those who may not see everything. */
  viewer(req: Request): Caller;
  /** Throws 401, and 403 for all but the root user. */
  root(req: Request): Caller;
}

/** May a caller see a record as the resource service would show it? Of what is gone only root may. */
export type Sees = (caller: Caller, id: Uuid) => boolean;

const restoreBody = z.strictObject({ at: z.union([z.int().nonnegative(), z.string().min(1)]) });

/**
 * The history of the world over HTTP. What the resource service would not show a caller is shown to nobody here either: such records
 * are left out, and what was written to them is hidden. Hidden values (password hashes, values of secrets, credentials) never go out.
 * A moment is the number of a commit, or an ISO time; 404 says where the history begins when it is before that.
 *
 * - `GET /history?resource=&scope=&q=&type=&actor=&action=&via=&from=&to=&before=&limit=&brief=`: `{commits, next?, oldest,
 *   newest}`, newest first; `oldest` and `newest` are the moments between which one can look back. `brief` leaves operations out.
 * - `GET /history/{seq}`: one commit.
 * - `POST /history/{seq}/revert`: undoes it by a new commit `{commit}`; 409 with the pointers that are in the way.
 * - `GET /world?at=&resource=`: the world then (now unless given), in the format of `world.json`; or one record of it.
 * - `GET /world/outline?at=&q=&offset=&limit=`: `{seq, total, resources}`, what there was then, by path.
 * - `GET /diff?from=&to=&resource=&brief=`: `{from, to, ops, resources, total}` between two moments (`to` is now unless given), of all
 *   resources or of one. `brief` leaves operations out, and tells of the first resources only.
 * - `POST /restore {at}`: makes the world what it was then, by one commit; `{}` when it is so already.
 */
export function historyRoutes(machine: TimeMachine, guard: WorldGuard, sees: Sees): Router {
  const worldAt = (query: URLSearchParams, name: string) => {
    const value = singleParameter(query, name);
    const { history, seq } = machine.store;
    return history.worldAt(value === undefined ? { seq } : parseMoment(name, value));
  };

  const outline = new PastOutline();
  const router = express.Router({ caseSensitive: true });
  router.get('/history', async (req, res) => {
    const caller = guard.viewer(req);
    const { history, world } = machine.store;
    const query = parseHistoryQuery(queryOf(req), (id) => {
      const record = world.resources.get(id);
      return record && pathOf(record, (parent) => world.resources.get(parent));
    });
    const { commits, next } = await findCommits(history, query);
    const shown = commits.map((one) => (query.isBrief ? briefCommit(one) : shownCommit(one, (id) => sees(caller, id))));
    res.json({ commits: shown, ...(next !== undefined && { next }), ...(await history.span()) });
  });
  router.get('/history/:seq', async (req, res) => {
    const caller = guard.viewer(req);
    res.json(shownCommit(await machine.store.history.get(seqIn(req)), (id) => sees(caller, id)));
  });
  router.post('/history/:seq/revert', async (req, res) => {
    const caller = guard.root(req);
    res.json({ commit: shownCommit(await machine.revert(seqIn(req), { caller, via: viaOf(req) })) });
  });
  router.get('/world', async (req, res) => {
    const caller = guard.viewer(req);
    const query = queryOf(req);
    demandKnown(query, ['at', 'resource']);
    const id = singleParameter(query, 'resource');
    const { seq, resources } = await worldAt(query, 'at');
    if (id !== undefined) {
      const record = recordOf(resources, parseUuid(id, 'resource'), seq);
      if (!sees(caller, record.id)) {
        throw forbidden(`${typeOf(record).noun}.view`, {
          pointer: `/resources/${record.id}`,
          message: 'is not yours to see',
        });
      }
      res.json(maskedRecord(record));
      return;
    }
    res.type('application/json');
    const masked = (function* () {
      for (const record of resources.values()) if (sees(caller, record.id)) yield maskedRecord(record);
    })();
    await sendStream(Readable.from(worldFileContent(machine.store.world.id, seq, masked)), res);
  });
  router.get('/world/outline', async (req, res) => {
    guard.viewer(req);
    const query = queryOf(req);
    demandKnown(query, ['at', 'q', 'offset', 'limit']);
    res.json(await outline.page(await worldAt(query, 'at'), parseOutlineWish(query)));
  });
  router.get('/diff', async (req, res) => {
    const caller = guard.viewer(req);
    const query = queryOf(req);
    demandKnown(query, ['from', 'to', 'resource', 'brief']);
    const resource = singleParameter(query, 'resource');
    const isBrief = booleanParameter(query, 'brief');
    if (!query.has('from'))
      throw new PlatformError(400, "say with 'from' which moment to compare with: a commit or an ISO time");
    const [from, to] = [await worldAt(query, 'from'), await worldAt(query, 'to')];
    const id = resource === undefined ? undefined : parseUuid(resource, 'resource');
    const difference = differenceBetween(onlyOne(from, id), onlyOne(to, id), { from, to });
    const shown = isBrief ? briefDifference(difference) : shownDifference(difference, (id) => sees(caller, id));
    res.json({ from: from.seq, to: to.seq, ...shown });
  });
  router.post('/restore', async (req, res) => {
    const caller = guard.root(req);
    const { at } = parseWith(restoreBody, await readJson(req));
    const commit = await machine.restore(parseMoment('/at', String(at)), { caller, via: viaOf(req) });
    res.json({ ...(commit && { commit: shownCommit(commit) }) });
  });
  return router;
}

function seqIn(req: Request): number {
  const seq = String(req.params.seq);
  if (/^[1-9]\d{0,14}$/.test(seq)) return Number(seq);
  throw new PlatformError(400, `'${seq.slice(0, 64)}' is not the number of a commit`);
}

function recordOf(resources: ReadonlyMap<Uuid, StoredResource>, id: Uuid, seq: number): StoredResource {
  const record = resources.get(id);
  if (record) return record;
  throw new PlatformError(404, `resource ${id} was not there as of commit ${seq}`);
}

/** A commit as it goes out: its time as text, hidden values hidden. @param isSeen may the values of that record be read? Default: all */
export function shownCommit(commit: Commit, isSeen?: (id: Uuid) => boolean): object {
  const { seq, atMs, ...rest } = maskedCommit(commit, isSeen);
  return { seq, at: new Date(atMs).toISOString(), ...rest };
}

/** The same without its operations, for a list. */
function briefCommit(commit: Commit): object {
  const { ops, inverse: _, atMs, ...rest } = commit;
  return { ...rest, at: new Date(atMs).toISOString(), operations: ops.length };
}

type ShownDifference = Difference & { total: Record<ResourceDifference['action'], number> };

/** A difference as it goes out: hidden values hidden. */
export function shownDifference({ ops, resources }: Difference, isSeen?: (id: Uuid) => boolean): ShownDifference {
  const typeNames = new Map(resources.map(({ id, type }) => [id, type]));
  const total = { create: 0, update: 0, delete: 0 };
  for (const { action } of resources) total[action] += 1;
  return { ops: maskedOperations(ops, (id) => typeNames.get(id), isSeen), resources, total };
}

/** Most resources that a brief difference names; `total` counts all. */
const MAX_BRIEF = 1000;

/** What a person looks over before asking for more. */
export function briefDifference({ resources }: Difference): ShownDifference {
  return { ...shownDifference({ ops: [], resources }), resources: resources.slice(0, MAX_BRIEF) };
}

/** One resource of a world, or all of it. */
export function onlyOne<World extends Pick<PastWorld, 'resources'>>(world: World, id: Uuid | undefined): World {
  const record = id === undefined ? undefined : world.resources.get(id);
  if (id === undefined) return world;
  return { ...world, resources: new Map(record && [[id, record]]) };
}
