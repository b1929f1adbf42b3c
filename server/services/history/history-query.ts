import type { historyRoutes } from '../../api/routes/history.ts';
import type { QueryOf } from '../../api/routes/route.ts';
import type { Commit, CommitResource } from '../../model/commit.ts';
import { PlatformError } from '../../model/errors.ts';
import type { Uuid } from '../../model/record.ts';
import { fullNamesOf, resourceTypes } from '../../model/registry.ts';
import type { WorldHistory } from '../../storage/world/world-history.ts';

/** Limits of one page; the reader continues at `next`. */
const MAX_SCANNED = 20_000;
const MAX_OPERATIONS = 10_000;

type CommitsQuery = QueryOf<typeof historyRoutes.listCommits>;
export type HistoryQuery = Partial<CommitsQuery> & Pick<CommitsQuery, 'limit' | 'brief'>;

/**
 * Returns a test for commits. Throws 400 for an unknown type. `pathOf` returns the current path of a resource;
 * undefined when it is deleted.
 * @param pathOf the current path of a resource; undefined when it is gone
 */
function matcherOf(query: HistoryQuery, pathOf: (id: Uuid) => string | undefined): (commit: Commit) => boolean {
  const { actor, action, via, resource, scope, to = Number.POSITIVE_INFINITY } = query;
  const isInScope = scope === undefined ? undefined : scopeOf(scope, pathOf);
  const terms = (query.q ?? '').toLowerCase().split(/\s+/).filter(Boolean);
  const type = typesNamed(query.type);
  return ({ atMs, cause, resources }) =>
    atMs <= to &&
    (via === undefined || cause.via === via) &&
    (action === undefined || cause.action === action) &&
    (actor === undefined || cause.actor?.id === actor.toLowerCase() || cause.actor?.name === actor) &&
    (resource === undefined || resources.some(({ id }) => id === resource)) &&
    (type === undefined || resources.some((resource) => type.includes(resource.type))) &&
    (isInScope === undefined || resources.some(isInScope)) &&
    (terms.length === 0 || holdsAll(terms, cause, resources));
}

/** Is a resource the scope or below it? By the path that the scope has now. */
function scopeOf(scope: Uuid, pathOf: (id: Uuid) => string | undefined): (resource: CommitResource) => boolean {
  const path = pathOf(scope);
  const start = path === '/' ? '/' : `${path}/`;
  return (resource) =>
    resource.id === scope || (path !== undefined && (resource.path === path || resource.path.startsWith(start)));
}

function holdsAll(terms: readonly string[], cause: Commit['cause'], resources: readonly CommitResource[]): boolean {
  const causeText = [cause.action, cause.note, cause.via, cause.actor?.name].join(' ').toLowerCase();
  return terms.every(
    (term) =>
      causeText.includes(term) ||
      resources.some(({ id, path, type }) => `${path} ${type} ${id}`.toLowerCase().includes(term)),
  );
}

/** Looks for commits, from the newest (or `before`) back. Even a page without commits has a `next` unless it is the last. */
export async function findCommits(
  history: WorldHistory,
  query: HistoryQuery,
  pathOf: (id: Uuid) => string | undefined,
  isSeen: (commit: Commit) => boolean = () => true,
): Promise<{ commits: Commit[]; next?: number }> {
  const matches = matcherOf(query, pathOf);
  const isWanted = (commit: Commit) => matches(commit) && isSeen(commit);
  const commits: Commit[] = [];
  let [scanned, operations] = [0, 0];
  for await (const commit of history.commits(query.before)) {
    if (query.from !== undefined && commit.atMs < query.from) break;
    scanned += 1;
    if (isWanted(commit)) {
      commits.push(commit);
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
