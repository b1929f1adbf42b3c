import type { historyRoutes } from '../../api/routes/history.ts';
import type { QueryOf } from '../../api/routes/route.ts';
import { CHANGE_SOURCES, type Commit, type CommitResource } from '../../model/commit.ts';
import { PlatformError } from '../../model/errors.ts';
import { parseQuery, type QueryField } from '../../model/query-language.ts';
import type { Uuid } from '../../model/record.ts';
import { fullNamesOf, resourceTypes } from '../../model/registry.ts';
import { commitSentence } from '../../model/rules/commit-words.ts';
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
function matcherOf(
  query: HistoryQuery,
  pathOf: (id: Uuid) => string | undefined,
  nowMs: number,
): (commit: Commit) => boolean {
  const { actor, action, via, resource, scope, to = Number.POSITIVE_INFINITY } = query;
  const isInScope = scope === undefined ? undefined : scopeOf(scope, pathOf);
  const text = query.q ?? '';
  const found = parseQuery(text, { fields: COMMIT_FIELDS, textsOf: textsOfCommit, nowMs });
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
      (found.ok ? found.matches(commit) : holdsAll(terms, commit))
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

function holdsAll(terms: readonly string[], commit: Commit): boolean {
  const text = [...textsOfCommit(commit)].join(' ').toLowerCase();
  return terms.every((term) => text.includes(term));
}

/** Looks for commits, from the newest (or `before`) back. Even a page without commits has a `next` unless it is the last. */
export async function findCommits(
  history: WorldHistory,
  query: HistoryQuery,
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
