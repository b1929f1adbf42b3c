import type { Commit, CommitResource } from '../../model/commit.ts';
import { isJsonObject } from '../../model/json.ts';
import { segmentsOf } from '../../model/patch/pointer.ts';
import type { StoredResource, Uuid, WorldView } from '../../model/record.ts';
import { changeSummary } from '../../model/rules/commit-sentence.ts';
import { ancestors } from '../../model/rules/hierarchy.ts';
import type { WorldHistory } from '../../storage/world/world-history.ts';

const MAX_CAUSES = 5;
const MAX_SCANNED = 2_000;

interface CauseCandidate {
  commit: Commit;
  resource: CommitResource;
  /** Changes of the resource, e.g. `removed CRM_OID`. */
  changes: string[];
}

export interface LikelyCauses {
  likelyCauses: CauseCandidate[];
  /** Start of the known history in epoch milliseconds, if it is later than the last success. */
  historyFromMs: number | undefined;
}

interface CauseQuery {
  lambdaId: Uuid;
  /** Only changes after this moment are candidates, milliseconds since 1970; undefined: all kept changes. */
  fromMs: number | undefined;
  untilMs: number;
}

/** Finds commits, newest first, on the lambda, its endpoints and secrets, and on the variables of its parents. */
async function findLikelyCauses(history: WorldHistory, view: WorldView, query: CauseQuery): Promise<LikelyCauses> {
  const lambda = view.find(query.lambdaId);
  const [ownIds, above] = lambda ? involved(view, lambda) : [new Set([query.lambdaId]), new Set<Uuid>()];
  const likelyCauses: CauseCandidate[] = [];
  let scanned = 0;
  let earliest: Commit | undefined;
  let isWhole = false;
  for await (const commit of history.commits()) {
    isWhole = commit.atMs < (query.fromMs ?? 0) || likelyCauses.length === MAX_CAUSES;
    if (isWhole || scanned++ === MAX_SCANNED) break;
    earliest = commit;
    if (commit.atMs > query.untilMs) continue;
    for (const resource of commit.resources) {
      if (!ownIds.has(resource.id) && !above.has(resource.id)) continue;
      const changes = changeSummary(commit, resource.id, ownIds.has(resource.id) ? undefined : 'env');
      if (changes.length > 0) likelyCauses.push({ commit, resource, changes });
    }
  }
  // The first commit creates the world, so its contents are not changes.
  const isCut = !isWhole && earliest !== undefined && earliest.seq > 1;
  return { likelyCauses, historyFromMs: isCut ? earliest?.atMs : undefined };
}

/** Size of the cache: more than the number of reported lambdas. */
const MAX_KNOWN = 100;

/** Searches the history on disk once for each run of failures. Changes of something that the failure names come first, then the newest. */
export function likelyCausesFinder(history: WorldHistory, view: WorldView) {
  const causesByQuery = new Map<string, Promise<LikelyCauses>>();
  const search = (query: CauseQuery): Promise<LikelyCauses> => {
    const key = JSON.stringify(query);
    const earlierSearch = causesByQuery.get(key);
    if (earlierSearch) return earlierSearch;
    const newSearch = findLikelyCauses(history, view, query);
    causesByQuery.set(key, newSearch);
    // What could not be read is tried again.
    newSearch.catch(() => causesByQuery.delete(key));
    const [oldest = key] = causesByQuery.keys();
    if (causesByQuery.size > MAX_KNOWN) causesByQuery.delete(oldest);
    return newSearch;
  };
  /** @param text the error message */
  return async (query: CauseQuery, text: string): Promise<LikelyCauses> => {
    const { likelyCauses, historyFromMs } = await search(query);
    const isNamed = ({ changes }: CauseCandidate) => changes.some((change) => isNamedIn(change, text));
    const ordered = [...likelyCauses.filter(isNamed), ...likelyCauses.filter((candidate) => !isNamed(candidate))];
    return { likelyCauses: ordered.slice(0, MAX_CAUSES), historyFromMs };
  };
}

export function createsResources({ ops }: Commit): boolean {
  return ops.some(({ op, path }) => op === 'add' && segmentsOf(path).length === 2);
}

/** Returns the resources that belong to a lambda, and those from which it inherits variables. */
function involved(view: WorldView, lambda: StoredResource): [own: Set<Uuid>, above: Set<Uuid>] {
  const endpoints = view.referrers(lambda.id);
  const { secrets } = lambda.properties;
  const mounted = Array.isArray(secrets)
    ? secrets.flatMap((mount) => (isJsonObject(mount) && typeof mount.secret_id === 'string' ? [mount.secret_id] : []))
    : [];
  const ownIds = new Set([
    lambda.id,
    ...mounted,
    ...endpoints.flatMap(({ id, parent }) => (parent ? [id, parent] : [id])),
  ]);
  const above = new Set([...ancestors(view, lambda)].map(({ id }) => id));
  return [ownIds, above];
}

/** True if a text names a part of the change, such as `oid` of `removed CRM_OID`. */
function isNamedIn(change: string, text: string): boolean {
  const textParts = new Set(text.toLowerCase().split(/[^a-z0-9]+/));
  const [, ...changeParts] = change.toLowerCase().split(/[^a-z0-9]+/);
  return changeParts.some((part) => part.length > 2 && part !== 'the' && textParts.has(part));
}
