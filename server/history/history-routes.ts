import { Readable } from 'node:stream';
import type { Router } from 'express';
import { type BriefCommit, historyRows, type ShownCommit, type ShownDifference } from '../contract/history.ts';
import { momentOrCommit } from '../contract/parameter.ts';
import { type Eyes, eyesOf } from '../http/eyes.ts';
import { type Gate, serve } from '../http/serve.ts';
import { viaOf } from '../http/via.ts';
import type { Caller } from '../model/caller.ts';
import type { Commit } from '../model/commit.ts';
import { forbidden, invalid, PlatformError } from '../model/errors.ts';
import type { Uuid } from '../model/ids.ts';
import { maskedCommit, maskedOperations, maskedRecord } from '../model/masking.ts';
import type { StoredResource } from '../model/record.ts';
import { typeOf } from '../model/registry.ts';
import { pathOf } from '../model/resource-path.ts';
import { worldFileContent } from '../store/world-file.ts';
import type { Moment, PastWorld } from '../store/world-history.ts';
import { findCommits } from './history-query.ts';
import { pastOutline } from './past-outline.ts';
import { sendStream } from './send-stream.ts';
import { type Difference, differenceBetween, type TimeMachine } from './time-machine.ts';

/** May a caller see a record as the resource service would show it? Of what is gone only root may. */
export function seesRecord({ view, judge }: Gate, caller: Caller, id: Uuid): boolean {
  const record = view.find(id);
  return caller.isRoot || (record !== undefined && judge.may(caller, `${typeOf(record).noun}.view`, id));
}

/**
 * The history of the world over HTTP. What the resource service would not show a caller is shown to nobody here either: such records
 * are left out, and what was written to them is hidden. Hidden values (password hashes, values of secrets, credentials) never go out.
 */
export function historyRoutes(machine: TimeMachine, gate: Gate): Router {
  const { store } = machine;
  const worldAt = (moment: Moment | undefined) => store.history.worldAt(moment ?? { seq: store.seq });
  const outline = pastOutline();
  return serve(historyRows, gate, {
    async listCommits({ caller, query }) {
      const { history, world } = store;
      const eyes = eyesOf(gate, caller);
      const place = (id: Uuid) => {
        const record = world.resources.get(id);
        return record && pathOf(record, (parent) => world.resources.get(parent));
      };
      const found = await findCommits(history, query, place, (commit) => seenPart(commit, eyes) !== undefined);
      const { next } = found;
      const commits = found.commits.flatMap((commit) => seenPart(commit, eyes) ?? []);
      const shown = query.brief
        ? commits.map(briefCommit)
        : commits.map((one) => shownCommit(one, (id) => seesRecord(gate, caller, id)));
      return { commits: shown, ...(next !== undefined && { next }), ...(await history.span()) };
    },
    async readCommit({ caller, path }) {
      const part = seenPart(await store.history.get(seqOf(path.commit_seq)), eyesOf(gate, caller));
      if (!part) throw new PlatformError(404, `commit ${path.commit_seq} is of nothing that you may view`);
      return shownCommit(part, (id) => seesRecord(gate, caller, id));
    },
    revertCommit: async ({ caller, path, req }) => ({
      commit: shownCommit(await machine.revert(seqOf(path.commit_seq), { caller, via: viaOf(req) })),
    }),
    async readWorldAt({ caller, query, res }) {
      const { seq, resources } = await worldAt(query.at);
      if (query.resource !== undefined) {
        const record = recordOf(resources, query.resource, seq);
        if (!seesRecord(gate, caller, record.id)) {
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
        for (const record of resources.values()) if (seesRecord(gate, caller, record.id)) yield maskedRecord(record);
      })();
      await sendStream(Readable.from(worldFileContent(store.world.id, seq, masked)), res);
    },
    outlineWorldAt: async ({ query }) => outline(await worldAt(query.at), query),
    async compareMoments({ caller, query: { brief, resource, ...query } }) {
      const [from, to] = [await worldAt(query.from), await worldAt(query.to)];
      const difference = await differenceBetween(onlyOne(from, resource), onlyOne(to, resource), { from, to });
      const shown = brief
        ? briefDifference(difference)
        : shownDifference(difference, (id) => seesRecord(gate, caller, id));
      return { from: from.seq, to: to.seq, ...shown };
    },
    async restoreMoment({ caller, body, req }) {
      const commit = await machine.restore(momentIn(body.at), { caller, via: viaOf(req) });
      return { ...(commit && { commit: shownCommit(commit) }) };
    },
  });
}

/** Of a commit what is of resources that one may view; undefined when nothing is. */
function seenPart(commit: Commit, { seesAll, sees }: Eyes): Commit | undefined {
  if (seesAll) return commit;
  const resources = commit.resources.filter(({ id }) => sees(id));
  if (resources.length === 0) return undefined;
  const isSeen = ({ path }: { path: string }) => resources.some(({ id }) => `${path}/`.startsWith(`/resources/${id}/`));
  return { ...commit, resources, ops: commit.ops.filter(isSeen), inverse: commit.inverse.filter(isSeen) };
}

function seqOf(text: string): number {
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text);
  throw new PlatformError(400, `'${text.slice(0, 64)}' is not the number of a commit`);
}

/** A moment in a body. Throws 400 for a text that is none. */
function momentIn(at: number | string): Moment {
  const { data, error } = momentOrCommit('').schema.safeParse(String(at));
  if (data) return data;
  throw invalid('/at', `must be ${error?.issues[0]?.message}, not '${String(at).slice(0, 64)}'`);
}

function recordOf(resources: ReadonlyMap<Uuid, StoredResource>, id: Uuid, seq: number): StoredResource {
  const record = resources.get(id);
  if (record) return record;
  throw new PlatformError(404, `resource ${id} was not there as of commit ${seq}`);
}

/** A commit as it goes out: its time as text, hidden values hidden. @param isSeen may the values of that record be read? Default: all */
export function shownCommit(commit: Commit, isSeen?: (id: Uuid) => boolean): ShownCommit {
  const { seq, atMs, ...rest } = maskedCommit(commit, isSeen);
  return { seq, at: new Date(atMs).toISOString(), ...rest };
}

/** The same without its operations, for a list. */
function briefCommit(commit: Commit): BriefCommit {
  const { ops, inverse: _, atMs, ...rest } = commit;
  return { ...rest, at: new Date(atMs).toISOString(), operations: ops.length };
}

type Shown = Omit<ShownDifference, 'from' | 'to'>;

/** A difference as it goes out: hidden values hidden. */
export function shownDifference({ ops, resources }: Difference, isSeen?: (id: Uuid) => boolean): Shown {
  const typeNames = new Map(resources.map(({ id, type }) => [id, type]));
  const total = { create: 0, update: 0, delete: 0 };
  for (const { action } of resources) total[action] += 1;
  return { ops: maskedOperations(ops, (id) => typeNames.get(id), isSeen), resources, total };
}

/** Most resources that a brief difference names; `total` counts all. */
const MAX_BRIEF = 1000;

/** What a person looks over before asking for more. */
export function briefDifference({ resources }: Difference): Shown {
  return { ...shownDifference({ ops: [], resources }), resources: resources.slice(0, MAX_BRIEF) };
}

/** One resource of a world, or all of it. */
export function onlyOne<World extends Pick<PastWorld, 'resources'>>(world: World, id: Uuid | undefined): World {
  const record = id === undefined ? undefined : world.resources.get(id);
  if (id === undefined) return world;
  return { ...world, resources: new Map(record && [[id, record]]) };
}
