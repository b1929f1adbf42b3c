import type { Commit, CommitResource } from '../../model/commit.ts';
import { isJsonObject } from '../../model/json.ts';
import { segmentsOf } from '../../model/patch/pointer.ts';
import type { StoredResource, Uuid, WorldView } from '../../model/record.ts';
import { changeSummary } from '../../model/rules/commit-words.ts';
import { ancestors } from '../../model/rules/hierarchy.ts';
import type { WorldHistory } from '../../storage/world/world-history.ts';

const MAX_CAUSES = 5;
const MAX_SCANNED = 2_000;

interface CauseCandidate {
  commit: Commit;
  resource: CommitResource;
  /** What it did to the resource, e.g. `removed CRM_OID`. */
  changes: string[];
}

interface LikelyCauses {
  likelyCauses: CauseCandidate[];
  /** Where it is later than the last good one: what was changed before it is not known any more, epoch milliseconds. */
  historyFromMs: number | undefined;
}

interface CauseQuery {
  lambdaId: Uuid;
  /** Only changes after this moment are candidates, milliseconds since 1970; undefined: all kept changes. */
  fromMs: number | undefined;
  untilMs: number;
  /** The error message: a change of something that it names comes first. */
  text: string;
}

/**
 * Changes before a lambda began to fail: commits on the lambda, its endpoints and secrets, and on the variables of its parents. The
 * likeliest first: changes of something that the failure names, then the newest.
 */
async function findLikelyCauses(history: WorldHistory, view: WorldView, asked: CauseQuery): Promise<LikelyCauses> {
  const lambda = view.find(asked.lambdaId);
  const [own, above] = lambda ? involved(view, lambda) : [new Set([asked.lambdaId]), new Set<Uuid>()];
  const likelyCauses: CauseCandidate[] = [];
  let scanned = 0;
  let earliest: Commit | undefined;
  let isWhole = false;
  for await (const commit of history.commits()) {
    isWhole = commit.atMs < (asked.fromMs ?? 0) || likelyCauses.length === MAX_CAUSES;
    if (isWhole || scanned++ === MAX_SCANNED) break;
    earliest = commit;
    if (commit.atMs > asked.untilMs) continue;
    for (const resource of commit.resources) {
      if (!own.has(resource.id) && !above.has(resource.id)) continue;
      const changes = changeSummary(commit, resource.id, own.has(resource.id) ? undefined : 'env');
      if (changes.length > 0) likelyCauses.push({ commit, resource, changes });
    }
  }
  const named = (candidate: CauseCandidate) => candidate.changes.some((change) => isNamedIn(change, asked.text));
  const ordered = [...likelyCauses.filter(named), ...likelyCauses.filter((one) => !named(one))].slice(0, MAX_CAUSES);
  // The first commit creates the world, so its contents are not changes.
  const isCut = !isWhole && earliest !== undefined && earliest.seq > 1;
  return { likelyCauses: ordered, historyFromMs: isCut ? earliest?.atMs : undefined };
}

/** Size of the cache: more than the number of reported lambdas. */
const MAX_KNOWN = 100;

/** Finds the likely causes of each run of failures once: they are asked for at each news, and the journal is on disk. */
export function likelyCausesFinder(history: WorldHistory, view: WorldView) {
  const known = new Map<string, Promise<LikelyCauses>>();
  /** @param asked.newestSeq number of the newest commit: another world may have other causes */
  return (asked: CauseQuery & { newestSeq: number }): Promise<LikelyCauses> => {
    const key = JSON.stringify(asked);
    const before = known.get(key);
    if (before) return before;
    const found = findLikelyCauses(history, view, asked);
    known.set(key, found);
    // What could not be read is tried again.
    found.catch(() => known.delete(key));
    const [oldest = key] = known.keys();
    if (known.size > MAX_KNOWN) known.delete(oldest);
    return found;
  };
}

export function createsResources({ ops }: Commit): boolean {
  return ops.some(({ op, path }) => op === 'add' && segmentsOf(path).length === 2);
}

/** What belongs to a lambda, and what it has its variables from. */
function involved(view: WorldView, lambda: StoredResource): [own: Set<Uuid>, above: Set<Uuid>] {
  const endpoints = view.referrers(lambda.id);
  const { secrets } = lambda.properties;
  const mounted = Array.isArray(secrets)
    ? secrets.flatMap((one) => (isJsonObject(one) && typeof one.secret_id === 'string' ? [one.secret_id] : []))
    : [];
  const own = new Set([
    lambda.id,
    ...mounted,
    ...endpoints.flatMap(({ id, parent }) => (parent ? [id, parent] : [id])),
  ]);
  const above = new Set([...ancestors(view, lambda)].map(({ id }) => id));
  return [own, above];
}

/** Does a text name a part of what was done: `oid` of `removed CRM_OID`? */
function isNamedIn(change: string, text: string): boolean {
  const words = new Set(text.toLowerCase().split(/[^a-z0-9]+/));
  const [, ...about] = change.toLowerCase().split(/[^a-z0-9]+/);
  return about.some((word) => word.length > 2 && word !== 'the' && words.has(word));
}
