import express, { type Request, type Router } from 'express';
import { queryOf, singleParameter } from '../http/query.ts';
import type { Caller, Judge } from '../model/caller.ts';
import { PlatformError } from '../model/errors.ts';
import { lineage } from '../model/hierarchy.ts';
import { parseUuid } from '../model/ids.ts';
import type { StoredResource } from '../model/record.ts';
import { typeOf, typeOfWord } from '../model/registry.ts';
import { demandRight } from '../model/rights.ts';
import { isTypeWord, type TypeWord, typeWords } from '../model/type-words.ts';
import type { WorldView } from '../model/world-view.ts';
import type { WorldGuard } from './history-routes.ts';
import { scopeOf } from './scope.ts';
import { allBelow, childrenInOrder, idsIn, nodeOf, type TreeNode, treeOrder } from './tree-nodes.ts';

const DEFAULT_LIMIT = 200;
const MAX_LIMIT = 1000;
/** A world of so many resources is looked through in some 50 ms; past that a count is not worth the wait. */
const MAX_COUNTED = 200_000;

export interface TreeRoutesOptions {
  view: WorldView;
  judge: Judge;
  guard: WorldGuard;
}

/**
 * The hierarchy piece by piece, for those who cannot hold a world of 100,000 resources: what is directly below a place, the
 * way up from it, everything below it counted, what names it, and a search. All of it filtered by the right to view (D-118).
 */
export function treeRoutes({ view, judge, guard }: TreeRoutesOptions): Router {
  const router = express.Router({ caseSensitive: true });

  const mayView = (caller: Caller) => (one: StoredResource) =>
    caller.isRoot || judge.may(caller, `${typeOf(one).noun}.view`, one.id);
  const target = (req: Request) => {
    const caller = guard.viewer(req);
    const id = parseUuid(String(req.params.id));
    const resource = view.find(id);
    if (!resource) throw new PlatformError(404, `resource ${id} not found`);
    const isSeen = mayView(caller);
    demandRight(judge, { caller, action: `${typeOf(resource).noun}.view`, resource });
    return { resource, isSeen };
  };
  const nodes = (records: readonly StoredResource[]): TreeNode[] => records.map((one) => nodeOf(view, one));

  /** How many of each type are directly below. */
  const typesOf = (resource: StoredResource, isSeen: (one: StoredResource) => boolean) => {
    const counts = treeOrder.map((word) => [word, view.children(resource.id, word).filter(isSeen).length] as const);
    return Object.fromEntries(counts.filter(([, count]) => count > 0));
  };

  router.get('/tree', (req, res) => {
    const isSeen = mayView(guard.viewer(req));
    const { words, page, text } = wishOf(req);
    const wanted = (text('q') ?? '').trim().toLowerCase();
    const isIn = scopeOf(view, text('scope'));
    const found = words.flatMap((word) => {
      const isNamed = namedLike(wanted, word);
      return view.all(word).filter((one) => isNamed(one) && isIn(one.id) && isSeen(one));
    });
    const rows = found.slice(page.offset, page.offset + page.limit);
    const above = new Map(rows.flatMap((one) => [...lineage(view, one)].slice(1).map((at) => [at.id, at])));
    res.json({ rows: nodes(rows), above: nodes([...above.values()].filter(isSeen)), total: found.length });
  });

  router.get('/tree/counts', (req, res) => {
    const caller = guard.viewer(req);
    const isSeen = mayView(caller);
    const { text } = wishOf(req);
    const isIn = scopeOf(view, text('scope'));
    const counts = treeOrder.map((word) => {
      const all = view.all(word);
      const isAll = caller.isRoot && (text('scope') ?? view.root.id) === view.root.id;
      return [word, isAll ? all.length : all.filter((one) => isIn(one.id) && isSeen(one)).length] as const;
    });
    res.json({
      total: counts.reduce((sum, [, count]) => sum + count, 0),
      types: Object.fromEntries(counts.filter(([, count]) => count > 0)),
    });
  });

  router.get('/tree/:id', (req, res) => {
    const { resource, isSeen } = target(req);
    const path = [...lineage(view, resource)].slice(1).reverse().filter(isSeen);
    res.json({ resource: nodeOf(view, resource), path: nodes(path), types: typesOf(resource, isSeen) });
  });

  router.get('/tree/:id/children', (req, res) => {
    const { resource, isSeen } = target(req);
    const { words, page } = wishOf(req);
    const children = words.flatMap((word) => childrenInOrder(view, resource.id, word)).filter(isSeen);
    const rows = children.slice(page.offset, page.offset + page.limit);
    res.json({ rows: nodes(rows), total: children.length, types: typesOf(resource, isSeen) });
  });

  router.get('/tree/:id/below', (req, res) => {
    const { resource, isSeen } = target(req);
    const { words, page } = wishOf(req);
    const rows: StoredResource[] = [];
    const types: Partial<Record<TypeWord, number>> = {};
    let total = 0;
    for (const one of allBelow(view, resource.id)) {
      const { word } = typeOf(one);
      if (!words.includes(word) || !isSeen(one)) continue;
      if (total >= page.offset && rows.length < page.limit) rows.push(one);
      types[word] = (types[word] ?? 0) + 1;
      total += 1;
      if (total >= MAX_COUNTED) break;
    }
    res.json({ rows: nodes(rows), total, types });
  });

  router.get('/tree/:id/relations', (req, res) => {
    const { resource, isSeen } = target(req);
    const names = [...idsIn(resource.properties, '/properties')].flatMap(([id, pointer]) => {
      const other = id === resource.id ? undefined : view.find(id);
      return other && isSeen(other) ? [{ resource: nodeOf(view, other), pointer }] : [];
    });
    const referrers = view.referrers(resource.id).filter((one) => one.id !== resource.id && isSeen(one));
    const { page } = wishOf(req);
    const namedBy = referrers.slice(page.offset, page.offset + page.limit).map((one) => ({
      resource: nodeOf(view, one),
      pointer: idsIn(one.properties, '/properties').get(resource.id) ?? '/properties',
    }));
    res.json({ names, namedBy, total: referrers.length });
  });
  return router;
}

/**
 * Does the name, id, type word or noun of a resource of a type hold what is looked for? Each word of it may be anywhere. What the type
 * alone answers is asked once: a world of 100,000 is gone through with every letter of a filter.
 *
 * @param wanted in lower case
 */
function namedLike(wanted: string, word: TypeWord): (one: StoredResource) => boolean {
  const ofType = `${typeOfWord(word).noun} ${word}`;
  const parts = wanted.split(/\s+/).filter((part) => part !== '' && !ofType.includes(part));
  const idParts = parts.map((part) => (/^[0-9a-f-]+$/.test(part) ? part : undefined));
  return ({ name, id }) => {
    const text = name.toLowerCase();
    return parts.every((part, index) => {
      const idPart = idParts[index];
      return text.includes(part) || (idPart !== undefined && id.includes(idPart));
    });
  };
}

/** Reads `word` (one or several, with commas), `offset` and `limit`. Throws 400 for what makes no sense. */
function wishOf(req: Request) {
  const query = queryOf(req);
  const text = (name: string) => singleParameter(query, name);
  const number = (name: string, least: number) => {
    const written = text(name);
    if (written === undefined) return undefined;
    if (!/^\d{1,9}$/.test(written) || Number(written) < least) {
      throw new PlatformError(400, `${name} '${written.slice(0, 64)}' is no whole number of at least ${least}`);
    }
    return Number(written);
  };
  const sent = text('word')?.split(',');
  const unknown = sent?.find((word) => !isTypeWord(word));
  if (unknown !== undefined) {
    throw new PlatformError(400, `unknown resource type '${unknown.slice(0, 64)}'; there are ${typeWords.join(', ')}`);
  }
  return {
    text,
    words: treeOrder.filter((word) => !sent || sent.includes(word)),
    page: { offset: number('offset', 0) ?? 0, limit: Math.min(number('limit', 1) ?? DEFAULT_LIMIT, MAX_LIMIT) },
  };
}
