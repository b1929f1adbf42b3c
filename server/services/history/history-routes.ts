import { Readable } from 'node:stream';
import type { Router } from 'express';
import { type BriefCommit, type CommitView, type DifferenceView, historyRoutes } from '../../api/routes/history.ts';
import { momentOrCommit } from '../../api/routes/parameter.ts';
import type { QueryOf } from '../../api/routes/route.ts';
import { changeSourceOf } from '../../api/server/change-source.ts';
import { sendStream } from '../../api/server/compress.ts';
import { mountRoutes, type RouteGuard } from '../../api/server/mount-routes.ts';
import { type Visibility, visibilityFor } from '../../api/server/visibility.ts';
import type { Caller } from '../../model/caller.ts';
import type { Commit, CommitResource } from '../../model/commit.ts';
import { forbidden, invalid, PlatformError } from '../../model/errors.ts';
import type { StoredResource, Uuid } from '../../model/record.ts';
import { typeOf } from '../../model/registry.ts';
import { describeResource, pathOf } from '../../model/resource-path.ts';
import { commitSentence } from '../../model/rules/commit-words.ts';
import { maskedCommit, maskedOperations, maskedRecord } from '../../model/rules/masking.ts';
import { worldFileContent } from '../../storage/world/world-file.ts';
import type { Moment, PastWorld } from '../../storage/world/world-history.ts';
import { findCommits } from './history-query.ts';
import { type Difference, differenceBetween, type HistoryService } from './history-service.ts';

/** True if a caller may view a record in the resource service. Only root may view deleted ones. */
export function seesRecord({ view, authorizer }: RouteGuard, caller: Caller, id: Uuid): boolean {
  const record = view.find(id);
  return caller.isRoot || (record !== undefined && authorizer.can(caller, `${typeOf(record).singular}.view`, id));
}

/** Callers see only records that the resource service would show them; hidden values (passwords, secrets, credentials) never go out. */
export function historyRouter(historyService: HistoryService, nowMs: () => number, guard: RouteGuard): Router {
  const { store } = historyService;
  const worldAt = (moment: Moment | undefined) => store.history.worldAt(moment ?? { seq: store.seq });
  const outline = pastOutline();
  return mountRoutes(historyRoutes, guard, {
    async listCommits({ caller, query }) {
      const { history, world } = store;
      const visibility = visibilityFor(guard, caller);
      const currentPath = (id: Uuid) => {
        const record = world.resources.get(id);
        return record && pathOf(record, (parent) => world.resources.get(parent));
      };
      const { commits, next } = await findCommits(history, query, currentPath, {
        nowMs: nowMs(),
        seenPart: (commit) => seenPart(commit, visibility),
      });
      const commitViews = query.brief
        ? commits.map(briefCommit)
        : commits.map((commit) => toCommitView(commit, (id) => seesRecord(guard, caller, id)));
      return { commits: commitViews, ...(next !== undefined && { next }), ...(await history.span()) };
    },
    async readCommit({ caller, path }) {
      const part = seenPart(await store.history.get(seqOf(path.commit_seq)), visibilityFor(guard, caller));
      if (!part)
        throw new PlatformError(
          'not_found',
          `commit ${path.commit_seq} not found, or you do not have permission to view it`,
        );
      return toCommitView(part, (id) => seesRecord(guard, caller, id));
    },
    revertCommit: async ({ caller, path, req }) => ({
      commit: toCommitView(await historyService.revert(seqOf(path.commit_seq), { caller, via: changeSourceOf(req) })),
    }),
    async readWorldAt({ caller, query, res }) {
      const { seq, resources } = await worldAt(query.at);
      if (query.resource !== undefined) {
        const record = recordOf(resources, query.resource, seq);
        if (!seesRecord(guard, caller, record.id)) {
          throw forbidden(`${typeOf(record).singular}.view`, {
            pointer: `/resources/${record.id}`,
            message: 'you do not have permission to view it',
          });
        }
        res.json(maskedRecord(record));
        return;
      }
      res.type('application/json');
      const masked = (function* () {
        for (const record of resources.values()) if (seesRecord(guard, caller, record.id)) yield maskedRecord(record);
      })();
      await sendStream(Readable.from(worldFileContent(store.world.id, seq, masked)), res);
    },
    outlineWorldAt: async ({ query }) => outline(await worldAt(query.at), query),
    async compareMoments({ caller, query: { brief, resource, ...query } }) {
      const [from, to] = [await worldAt(query.from), await worldAt(query.to)];
      const difference = differenceBetween(onlyOne(from, resource), onlyOne(to, resource), { from, to });
      const differenceView = brief
        ? briefDifference(difference)
        : toDifferenceView(difference, (id) => seesRecord(guard, caller, id));
      return { from: from.seq, to: to.seq, ...differenceView };
    },
    async restoreMoment({ caller, body, req }) {
      const commit = await historyService.restore(momentIn(body.at), { caller, via: changeSourceOf(req) });
      return { ...(commit && { commit: toCommitView(commit) }) };
    },
  });
}

/** The part of a commit about resources that the caller may view; undefined if there is none. */
export function seenPart(commit: Commit, { seesAll, sees }: Visibility): Commit | undefined {
  if (seesAll) return commit;
  const resources = commit.resources.filter(({ id }) => sees(id));
  if (resources.length === 0) return undefined;
  const isSeen = ({ path }: { path: string }) => resources.some(({ id }) => `${path}/`.startsWith(`/resources/${id}/`));
  return { ...commit, resources, ops: commit.ops.filter(isSeen), inverse: commit.inverse.filter(isSeen) };
}

function seqOf(text: string): number {
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text);
  throw new PlatformError('invalid_parameter', `'${text.slice(0, 64)}' is not the number of a commit`);
}

/** A moment in a body. Throws 400 for an invalid text. */
function momentIn(at: number | string): Moment {
  const { data, error } = momentOrCommit('').schema.safeParse(String(at));
  if (data) return data;
  throw invalid('/at', `must be ${error?.issues[0]?.message}, not '${String(at).slice(0, 64)}'`);
}

function recordOf(resources: ReadonlyMap<Uuid, StoredResource>, id: Uuid, seq: number): StoredResource {
  const record = resources.get(id);
  if (record) return record;
  throw new PlatformError('not_found', `resource ${id} did not exist as of commit ${seq}`);
}

/** A commit as it goes out: its time as text, hidden values hidden. @param isSeen may the values of that record be read? Default: all */
export function toCommitView(commit: Commit, isSeen?: (id: Uuid) => boolean): CommitView {
  const { seq, atMs, ...rest } = maskedCommit(commit, isSeen);
  return { seq, at: new Date(atMs).toISOString(), ...rest, sentence: commitSentence(commit) };
}

function briefCommit(commit: Commit): BriefCommit {
  const { ops, inverse: _, atMs, ...rest } = commit;
  return { ...rest, at: new Date(atMs).toISOString(), operations: ops.length, sentence: commitSentence(commit) };
}

type ResourceDifference = Omit<DifferenceView, 'from' | 'to'>;

export function toDifferenceView({ ops, resources }: Difference, isSeen?: (id: Uuid) => boolean): ResourceDifference {
  const typeNames = new Map(resources.map(({ id, type }) => [id, type]));
  const total = { create: 0, update: 0, delete: 0 };
  for (const { action } of resources) total[action] += 1;
  return { ops: maskedOperations(ops, (id) => typeNames.get(id), isSeen), resources, total };
}

/** Most resources that a brief difference names; `total` counts all. */
const MAX_BRIEF = 1000;

export function briefDifference({ resources }: Difference): ResourceDifference {
  return { ...toDifferenceView({ ops: [], resources }), resources: resources.slice(0, MAX_BRIEF) };
}

export function onlyOne<World extends Pick<PastWorld, 'resources'>>(world: World, id: Uuid | undefined): World {
  const record = id === undefined ? undefined : world.resources.get(id);
  if (id === undefined) return world;
  return { ...world, resources: new Map(record && [[id, record]]) };
}

/** Lists what there was at a moment. The moment that was looked at last is remembered, for its next pages. */
function pastOutline() {
  let latest: { seq: number; resources: CommitResource[] } | undefined;
  const outlineOf = ({ seq, resources }: PastWorld): CommitResource[] => {
    if (latest?.seq === seq) return latest.resources;
    const outline = [...resources.values()].map((record) => describeResource(record, (id) => resources.get(id)));
    outline.sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
    latest = { seq, resources: outline };
    return outline;
  };
  return (world: PastWorld, { q = '', offset, limit }: Omit<QueryOf<typeof historyRoutes.outlineWorldAt>, 'at'>) => {
    const terms = q.toLowerCase().split(/\s+/).filter(Boolean);
    const all = outlineOf(world);
    const matching =
      terms.length === 0 ? all : all.filter((resource) => terms.every((term) => contains(resource, term)));
    return { seq: world.seq, total: matching.length, resources: matching.slice(offset, offset + limit) };
  };
}

function contains({ id, type, path }: CommitResource, term: string): boolean {
  return path.toLowerCase().includes(term) || type.toLowerCase().includes(term) || id.startsWith(term);
}
