import { Readable } from 'node:stream';
import type { Router } from 'express';
import { type BriefCommit, type CommitView, type DifferenceView, historyRoutes } from '../../api/routes/history.ts';
import { momentOrCommit } from '../../api/routes/parameter.ts';
import type { QueryOf } from '../../api/routes/route.ts';
import { changeSourceOf } from '../../api/server/authenticate.ts';
import { sendStream } from '../../api/server/compress.ts';
import { mountRoutes, type RouteGuard } from '../../api/server/mount-routes.ts';
import { type Visibility, visibilityFor } from '../../api/server/visibility.ts';
import type { Caller } from '../../model/caller.ts';
import { CHANGE_SOURCES, type Commit, type CommitResource } from '../../model/commit.ts';
import { forbidden, invalid, PlatformError } from '../../model/errors.ts';
import { parseQuery, type QueryField } from '../../model/query-language.ts';
import type { Uuid } from '../../model/record.ts';
import { fullNamesOf, resourceTypes, typeOf } from '../../model/registry.ts';
import { describeResource, pathOf } from '../../model/resource-path.ts';
import { commitSentence } from '../../model/rules/commit-sentence.ts';
import { maskedCommit, maskedOperations, maskedRecord } from '../../model/rules/masking.ts';
import { worldFileContent } from '../../storage/world/world-file.ts';
import type { Moment, PastWorld, WorldHistory } from '../../storage/world/world-history.ts';
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
        const record = resources.get(query.resource);
        if (!record)
          throw new PlatformError('not_found', `resource ${query.resource} did not exist as of commit ${seq}`);
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
    outlineWorldAt: async ({ query }) => outlineOf(await worldAt(query.at), query),
    async compareMoments({ caller, query: { brief, resource, ...query } }) {
      const [from, to] = [await worldAt(query.from), await worldAt(query.to)];
      return toComparison(from, to, { brief, resource, isSeen: (id) => seesRecord(guard, caller, id) });
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

function momentIn(at: number | string): Moment {
  const { data, error } = momentOrCommit('').schema.safeParse(String(at));
  if (data) return data;
  throw invalid('/at', `must be ${error?.issues[0]?.message}, not '${String(at).slice(0, 64)}'`);
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

function toDifferenceView({ ops, resources }: Difference, isSeen?: (id: Uuid) => boolean): ResourceDifference {
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

/** Compares two worlds, or only one resource of them. @param options.isSeen may the values of that record be read? */
export function toComparison(
  from: PastWorld,
  to: PastWorld,
  { brief, resource, isSeen }: { brief: boolean; resource: Uuid | undefined; isSeen(id: Uuid): boolean },
): DifferenceView {
  const difference = differenceBetween(from.resources, to.resources, resource);
  const view = brief ? briefDifference(difference) : toDifferenceView(difference, isSeen);
  return { from: from.seq, to: to.seq, ...view };
}

/** Lists what there was at a moment, sorted by path. */
function outlineOf(
  { seq, resources: records }: PastWorld,
  { q = '', offset, limit }: Omit<QueryOf<typeof historyRoutes.outlineWorldAt>, 'at'>,
) {
  const terms = q.toLowerCase().split(/\s+/).filter(Boolean);
  const matching = [...records.values()]
    .map((record) => describeResource(record, (id) => records.get(id)))
    .filter((resource) => terms.every((term) => contains(resource, term)))
    .sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
  return { seq, total: matching.length, resources: matching.slice(offset, offset + limit) };
}

function contains({ id, type, path }: CommitResource, term: string): boolean {
  return path.toLowerCase().includes(term) || type.toLowerCase().includes(term) || id.startsWith(term);
}

/** Limits of one page; the reader continues at `next`. */
const MAX_SCANNED = 20_000;
const MAX_OPERATIONS = 10_000;

type CommitsQuery = QueryOf<typeof historyRoutes.listCommits>;

/** Returns a test for commits. Throws 400 for an unknown type. @param pathOf the current path of a resource; undefined when it is gone */
function matcherOf(
  query: CommitsQuery,
  pathOf: (id: Uuid) => string | undefined,
  nowMs: number,
): (commit: Commit) => boolean {
  const { actor, action, via, resource, scope, to = Number.POSITIVE_INFINITY } = query;
  const isInScope = scope === undefined ? undefined : scopeOf(scope, pathOf);
  const text = query.q ?? '';
  const parsedQuery = parseQuery(text, { fields: COMMIT_FIELDS, textsOf: textsOfCommit, nowMs });
  // A colon may belong to the text.
  const terms = text.toLowerCase().split(/\s+/).filter(Boolean);
  const type = typesNamed(query.type);
  return (commit) => {
    const { atMs, cause, resources } = commit;
    return (
      atMs <= to &&
      (via === undefined || cause.via === via) &&
      (action === undefined || cause.action === action) &&
      (actor === undefined || cause.actor?.id === actor.toLowerCase() || cause.actor?.name === actor) &&
      (resource === undefined || resources.some(({ id }) => id === resource)) &&
      (type === undefined || resources.some((resource) => type.includes(resource.type))) &&
      (isInScope === undefined || resources.some(isInScope)) &&
      (parsedQuery.ok ? parsedQuery.matches(commit) : containsAll(terms, commit))
    );
  };
}

/** Is a resource the scope or below it? By the path that the scope has now. */
function scopeOf(scope: Uuid, pathOf: (id: Uuid) => string | undefined): (resource: CommitResource) => boolean {
  const path = pathOf(scope);
  const start = path === '/' ? '/' : `${path}/`;
  return (resource) =>
    resource.id === scope || (path !== undefined && (resource.path === path || resource.path.startsWith(start)));
}

const COMMIT_FIELDS: readonly QueryField<Commit>[] = [
  { name: 'by', valueOf: ({ cause: { actor } }) => (actor ? [actor.name, actor.id] : ['the platform']) },
  { name: 'via', valueOf: ({ cause }) => cause.via, allowedValues: CHANGE_SOURCES },
  { name: 'resource', valueOf: ({ resources }) => resources.flatMap(({ id, path }) => [id, path]) },
  { name: 'type', valueOf: ({ resources }) => resources.map(({ type }) => type) },
  { name: 'time', valueOf: ({ atMs }) => atMs, isMoment: true },
];

/** The texts of a commit: the sentence that lists show, the local day, the cause and the resources. */
function* textsOfCommit(commit: Commit): Generator<string> {
  const { atMs, cause, resources } = commit;
  yield [cause.action, cause.note, cause.via, cause.actor?.name].join(' ');
  yield commitSentence(commit);
  yield dayOf(atMs);
  for (const { id, path, type } of resources) yield `${path} ${type} ${id}`;
}

/** The local day of a moment: `2026-11-27`. */
function dayOf(atMs: number): string {
  const day = new Date(atMs);
  const digits = (value: number) => String(value).padStart(2, '0');
  return `${day.getFullYear()}-${digits(day.getMonth() + 1)}-${digits(day.getDate())}`;
}

function containsAll(terms: readonly string[], commit: Commit): boolean {
  const text = [...textsOfCommit(commit)].join(' ').toLowerCase();
  return terms.every((term) => text.includes(term));
}

/** Looks for commits, from the newest (or `before`) back. Even a page without commits has a `next` unless it is the last. */
async function findCommits(
  history: WorldHistory,
  query: CommitsQuery,
  pathOf: (id: Uuid) => string | undefined,
  { nowMs, seenPart }: { nowMs: number; seenPart(commit: Commit): Commit | undefined },
): Promise<{ commits: Commit[]; next?: number }> {
  const matches = matcherOf(query, pathOf, nowMs);
  const commits: Commit[] = [];
  let [scanned, operations] = [0, 0];
  for await (const commit of history.commits(query.before)) {
    if (query.from !== undefined && commit.atMs < query.from) break;
    scanned += 1;
    const seen = seenPart(commit);
    if (seen && matches(seen)) {
      commits.push(seen);
      operations += query.brief ? 0 : commit.ops.length;
    }
    const isFull = commits.length >= query.limit || operations > MAX_OPERATIONS || scanned >= MAX_SCANNED;
    if (isFull) return { commits, ...(commit.seq > 1 && { next: commit.seq }) };
  }
  return { commits };
}

/** The full names that a type's word or full name represents. Throws 400 for what is neither. */
function typesNamed(text: string | undefined): readonly string[] | undefined {
  if (text === undefined) return undefined;
  for (const type of resourceTypes) {
    const names = fullNamesOf(type);
    if (type.collection === text) return names;
    if (names.includes(text)) return [text];
  }
  throw new PlatformError(
    'invalid_query',
    `'type' must be a type such as lambdas, or its full name, not '${text.slice(0, 64)}'`,
  );
}
