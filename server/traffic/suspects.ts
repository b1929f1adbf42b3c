import type { Operation } from 'fast-json-patch';
import type { Commit, CommitResource } from '../model/commit.ts';
import { lineage } from '../model/hierarchy.ts';
import type { Uuid } from '../model/ids.ts';
import { isJsonObject, type JsonObject } from '../model/json.ts';
import { segmentsOf } from '../model/pointer.ts';
import type { StoredResource } from '../model/record.ts';
import type { WorldView } from '../model/world-view.ts';
import type { WorldHistory } from '../store/world-history.ts';

const MAX_SUSPECTS = 5;
/** So many commits are looked through. */
const MAX_SCANNED = 2_000;
const MAX_DEEDS = 3;

/** A commit that may be why something fails. */
export interface Suspect {
  commit: Commit;
  resource: CommitResource;
  /** What it did to the resource, e.g. `removed CRM_OID`. */
  deeds: string[];
}

export interface Suspects {
  suspects: Suspect[];
  /** Where it is later than the last good one: what was changed before it is not known any more, epoch milliseconds. */
  historyFromMs: number | undefined;
}

export interface SuspectQuery {
  lambdaId: Uuid;
  /** Nothing that was changed before this moment is suspected, epoch milliseconds; undefined: as far back as is kept. */
  fromMs: number | undefined;
  /** Nor what was changed later than this. */
  untilMs: number;
  /** What went wrong: a change of what it names comes first. */
  text: string;
}

/**
 * What was changed before something began to fail: commits on the lambda, its endpoints and secrets, and on the variables of what it
 * is below. The likeliest first: one of something that the failure names, then the newest.
 */
async function suspectsOf(history: WorldHistory, view: WorldView, asked: SuspectQuery): Promise<Suspects> {
  const lambda = view.find(asked.lambdaId);
  const [own, above] = lambda ? involved(view, lambda) : [new Set([asked.lambdaId]), new Set<Uuid>()];
  const suspects: Suspect[] = [];
  let scanned = 0;
  let earliest: Commit | undefined;
  let isWhole = false;
  for await (const commit of history.commits()) {
    isWhole = commit.atMs < (asked.fromMs ?? 0) || suspects.length === MAX_SUSPECTS;
    if (isWhole || scanned++ === MAX_SCANNED) break;
    earliest = commit;
    if (commit.atMs > asked.untilMs) continue;
    for (const resource of commit.resources) {
      const deeds = own.has(resource.id)
        ? deedsOn(commit, resource.id)
        : above.has(resource.id)
          ? deedsOn(commit, resource.id, 'env')
          : [];
      if (deeds.length > 0) suspects.push({ commit, resource, deeds });
    }
  }
  const named = (suspect: Suspect) => suspect.deeds.some((deed) => isNamedIn(deed, asked.text));
  const ordered = [...suspects.filter(named), ...suspects.filter((one) => !named(one))].slice(0, MAX_SUSPECTS);
  // The first commit of all makes the world: what it holds was always so.
  const isCut = !isWhole && earliest !== undefined && earliest.seq > 1;
  return { suspects: ordered, historyFromMs: isCut ? earliest?.atMs : undefined };
}

/** So many answers are kept; more lambdas than are told of do not fail at once for long. */
const MAX_KNOWN = 100;

/** Finds the suspects of each run of failures once: they are asked for at each news, and the journal is on disk. */
export function knownSuspects(history: WorldHistory, view: WorldView) {
  const known = new Map<string, Promise<Suspects>>();
  /** @param asked.newestSeq number of the newest commit: another world may suspect others */
  return (asked: SuspectQuery & { newestSeq: number }): Promise<Suspects> => {
    const key = JSON.stringify(asked);
    const before = known.get(key);
    if (before) return before;
    const found = suspectsOf(history, view, asked);
    known.set(key, found);
    // What could not be read is tried again.
    found.catch(() => known.delete(key));
    const [oldest = key] = known.keys();
    if (known.size > MAX_KNOWN) known.delete(oldest);
    return found;
  };
}

/** What a commit did, in a few words: `root: contact-form, removed CRM_OID`. */
export function commitText(commit: Commit): string {
  const { cause, resources } = commit;
  const who = cause.actor?.name ?? 'the platform';
  const through = cause.via === 'api' || cause.via === 'ui' ? '' : ` (${cause.via})`;
  const [first, ...others] = resources;
  if (!first) return `${who}${through}: ${cause.action ?? 'a change'}`;
  const deeds = deedsOn(commit, first.id).slice(0, MAX_DEEDS).join(', ') || 'changed';
  const more = others.length === 0 ? '' : ` and ${others.length} more`;
  return `${who}${through}: ${first.name}, ${deeds}${more}`;
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
  const above = new Set([...lineage(view, lambda)].map(({ id }) => id));
  return [own, above];
}

/** What a commit did to a resource, in words. @param only of its properties this one alone counts */
function deedsOn({ ops, inverse }: Commit, id: Uuid, only?: string): string[] {
  const deeds = ops.flatMap((operation) => {
    const [, of, member, property, ...rest] = segmentsOf(operation.path);
    if (of !== id) return [];
    if (member === undefined) return only ? [] : [operation.op === 'remove' ? 'removed it' : 'created it'];
    if (member !== 'properties') return only || member === 'modified' ? [] : [`changed its ${member}`];
    if (property === undefined) return [];
    if (only !== undefined && property !== only) return [];
    if (property === 'env') return variableDeeds(operation, rest[0], inverse);
    return [`${verbOf(operation)} ${property === 'code' ? 'the code' : property.replaceAll('_', ' ')}`];
  });
  return [...new Set(deeds)];
}

/** Which variables were set, changed or removed: one of them, or by giving all anew. */
function variableDeeds(operation: Operation, name: string | undefined, inverse: readonly Operation[]): string[] {
  if (name !== undefined) return [`${verbOf(operation)} ${name}`];
  const after = valueIn(operation);
  const before = valueIn(inverse.find(({ path, op }) => path === operation.path && op !== 'remove'));
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return names
    .filter((one) => before[one] !== after[one])
    .map((one) => `${after[one] === undefined ? 'removed' : before[one] === undefined ? 'set' : 'changed'} ${one}`);
}

function valueIn(operation: Operation | undefined): JsonObject {
  const value: unknown = operation && 'value' in operation ? operation.value : undefined;
  return isJsonObject(value) ? value : {};
}

function verbOf({ op }: Operation): string {
  return op === 'remove' ? 'removed' : op === 'add' ? 'set' : 'changed';
}

/** Does a text name a part of what was done: `oid` of `removed CRM_OID`? */
function isNamedIn(deed: string, text: string): boolean {
  const words = new Set(text.toLowerCase().split(/[^a-z0-9]+/));
  const [, ...about] = deed.toLowerCase().split(/[^a-z0-9]+/);
  return about.some((word) => word.length > 2 && word !== 'the' && words.has(word));
}
