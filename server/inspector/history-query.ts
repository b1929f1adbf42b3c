import { booleanParameter, singleParameter } from '../http/query.ts';
import type { Commit, CommitResource } from '../model/commit.ts';
import { PlatformError } from '../model/errors.ts';
import { parseUuid, type Uuid } from '../model/ids.ts';
import { fullNamesOf, resourceTypes } from '../model/registry.ts';
import type { Moment, WorldHistory } from '../store/world-history.ts';

const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 500;
/** Bounds of one page, whatever it has to look through or give: the reader goes on at `next`. */
const MAX_SCANNED = 20_000;
const MAX_OPERATIONS = 10_000;

const KNOWN = [
  'resource',
  'scope',
  'q',
  'type',
  'actor',
  'action',
  'via',
  'from',
  'to',
  'before',
  'limit',
  'brief',
] as const;

/** Which commits are asked for. */
export interface HistoryQuery {
  matches(commit: Commit): boolean;
  /** Commits before this moment are not wanted, in epoch milliseconds. */
  fromMs: number;
  beforeSeq: number | undefined;
  limit: number;
  /** Without operations. */
  isBrief: boolean;
}

/** Some commits, newest first, and where older ones begin. */
export interface HistoryPage {
  commits: Commit[];
  /** `before` of the next page; absent when there is none. A page may hold fewer than asked for, even none, and go on. */
  next?: number;
}

/**
 * Reads the query of `GET /inspect/history`. Throws 400 for what is not known or makes no sense.
 *
 * @param pathOf the path of a resource that there is now; undefined when it is gone
 */
export function parseHistoryQuery(query: URLSearchParams, pathOf: (id: Uuid) => string | undefined): HistoryQuery {
  demandKnown(query, KNOWN);
  const text = (name: (typeof KNOWN)[number]) => singleParameter(query, name);
  const [actor, action, via] = [text('actor'), text('action'), text('via')];
  const sentResource = text('resource');
  const resource = sentResource === undefined ? undefined : parseUuid(sentResource, 'resource');
  const sentScope = text('scope');
  const isInScope = sentScope === undefined ? undefined : scopeOf(parseUuid(sentScope, 'scope'), pathOf);
  const words = (text('q') ?? '').toLowerCase().split(/\s+/).filter(Boolean);
  const type = typesNamed(text('type'));
  const fromMs = parseTime('from', text('from')) ?? Number.NEGATIVE_INFINITY;
  const toMs = parseTime('to', text('to')) ?? Number.POSITIVE_INFINITY;
  return {
    fromMs,
    beforeSeq: parseCount('before', text('before')),
    limit: Math.min(parseCount('limit', text('limit')) ?? DEFAULT_LIMIT, MAX_LIMIT),
    isBrief: booleanParameter(query, 'brief'),
    matches: ({ atMs, cause, resources }) =>
      atMs >= fromMs &&
      atMs <= toMs &&
      (via === undefined || cause.via === via) &&
      (action === undefined || cause.action === action) &&
      (actor === undefined || cause.actor?.id === actor.toLowerCase() || cause.actor?.name === actor) &&
      (resource === undefined || resources.some(({ id }) => id === resource)) &&
      (type === undefined || resources.some((one) => type.includes(one.type))) &&
      (isInScope === undefined || resources.some(isInScope)) &&
      (words.length === 0 || holdsAll(words, cause, resources)),
  };
}

/** Is a resource the scope or below it? By the path that the scope has now. */
function scopeOf(scope: Uuid, pathOf: (id: Uuid) => string | undefined): (resource: CommitResource) => boolean {
  const path = pathOf(scope);
  const start = path === '/' ? '/' : `${path}/`;
  return (one) => one.id === scope || (path !== undefined && (one.path === path || one.path.startsWith(start)));
}

/** Do all words occur in what is told of a commit? */
function holdsAll(words: readonly string[], cause: Commit['cause'], resources: readonly CommitResource[]): boolean {
  const about = [cause.action, cause.note, cause.via, cause.actor?.name].join(' ').toLowerCase();
  return words.every(
    (word) =>
      about.includes(word) ||
      resources.some(({ id, path, type }) => `${path} ${type} ${id}`.toLowerCase().includes(word)),
  );
}

/** Looks for commits, from the newest (or `before`) back. */
export async function findCommits(history: WorldHistory, query: HistoryQuery): Promise<HistoryPage> {
  const commits: Commit[] = [];
  let [scanned, operations] = [0, 0];
  for await (const commit of history.commits(query.beforeSeq)) {
    if (commit.atMs < query.fromMs) break;
    scanned += 1;
    if (query.matches(commit)) {
      commits.push(commit);
      operations += query.isBrief ? 0 : commit.ops.length;
    }
    const isFull = commits.length >= query.limit || operations > MAX_OPERATIONS || scanned >= MAX_SCANNED;
    if (isFull) return { commits, ...(commit.seq > 1 && { next: commit.seq }) };
  }
  return { commits };
}

/** A moment written as a commit's number or an ISO time. Throws 400 for anything else. */
export function parseMoment(name: string, value: string): Moment {
  if (/^\d{1,15}$/.test(value)) return { seq: Number(value) };
  return { atMs: parseTime(name, value) ?? 0 };
}

/** Throws 400 for a query parameter that is not known: a mistyped filter would answer something else. */
export function demandKnown(query: URLSearchParams, known: readonly string[]): void {
  for (const name of query.keys()) {
    if (known.includes(name)) continue;
    const choice = known.length > 0 ? `known are ${known.join(', ')}` : 'there are none here';
    throw new PlatformError(400, `unknown query parameter '${name.slice(0, 64)}'; ${choice}`);
  }
}

/** The full names that a type's word or full name stands for. Throws 400 for what is neither. */
function typesNamed(text: string | undefined): readonly string[] | undefined {
  if (text === undefined) return undefined;
  for (const type of resourceTypes) {
    const names = fullNamesOf(type);
    if (type.word === text) return names;
    if (names.includes(text)) return [text];
  }
  throw new PlatformError(
    400,
    `'type' must be a type's word such as lambdas, or its full name, not '${text.slice(0, 64)}'`,
  );
}

function parseTime(name: string, value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  const atMs = /^\d{4}-\d\d-\d\d(T.+)?$/.test(value) ? Date.parse(value) : Number.NaN;
  if (Number.isNaN(atMs)) {
    throw new PlatformError(
      400,
      `'${name}' must be an ISO time such as 2026-05-01T12:00:00Z, not '${value.slice(0, 64)}'`,
    );
  }
  return atMs;
}

function parseCount(name: string, value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  if (/^[1-9]\d{0,14}$/.test(value)) return Number(value);
  throw new PlatformError(400, `'${name}' must be a whole number of at least 1, not '${value.slice(0, 64)}'`);
}
