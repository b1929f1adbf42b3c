import type { Router } from 'express';
import { type PROVIDER_KINDS, type TreeNode, treeRows } from '../contract/tree.ts';
import { type Gate, serve } from '../http/serve.ts';
import type { Caller } from '../model/caller.ts';
import { allBelow, lineage } from '../model/hierarchy.ts';
import type { StoredResource } from '../model/record.ts';
import { typeOf, typeOfWord } from '../model/registry.ts';
import { scopeOf } from '../model/scope.ts';
import type { TypeWord } from '../model/type-words.ts';
import {
  isContainerEngine,
  isGatewayManager,
  isLambdaProvider,
  visibleProviders,
} from '../model/types/provider-rules.ts';
import { childrenInOrder, idsIn, nodeOf, treeOrder } from './tree-nodes.ts';

/** A world of so many resources is looked through in some 50 ms; past that a count is not worth the wait. */
const MAX_COUNTED = 200_000;

const SERVES: Record<(typeof PROVIDER_KINDS)[number], (type: string) => boolean> = {
  CaaS: isContainerEngine,
  Lambda: isLambdaProvider,
  GatewayManager: isGatewayManager,
};

/**
 * The hierarchy piece by piece, for those who cannot hold a world of 100,000 resources: what is directly below a place, the
 * way up from it, everything below it counted, what names it, and a search. All of it filtered by the right to view (D-118).
 */
export function treeRoutes(gate: Gate): Router {
  const { view, judge } = gate;
  const viewOf = (caller: Caller) => (one: StoredResource) =>
    caller.isRoot || judge.may(caller, `${typeOf(one).noun}.view`, one.id);
  const nodes = (records: readonly StoredResource[]): TreeNode[] => records.map((one) => nodeOf(view, one));
  const wordsOf = (sent: readonly TypeWord[] | undefined) => treeOrder.filter((word) => !sent || sent.includes(word));

  /** How many of each type are directly below. */
  const typesOf = (resource: StoredResource, isSeen: (one: StoredResource) => boolean) =>
    present(treeOrder.map((word) => [word, view.children(resource.id, word).filter(isSeen).length]));

  const isBelowSeen = ({ parent }: StoredResource, isSeen: (at: StoredResource) => boolean) => {
    const above = parent === null ? undefined : view.find(parent);
    return above !== undefined && isSeen(above);
  };

  return serve(treeRows, gate, {
    searchTree({ caller, query: { q = '', scope, tops, word, offset, limit } }) {
      const isSeen = viewOf(caller);
      const isWanted = tops ? (one: StoredResource) => isSeen(one) && !isBelowSeen(one, isSeen) : isSeen;
      const wanted = q.trim().toLowerCase();
      const isIn = scopeOf(view, scope);
      const found = wordsOf(word).flatMap((one) => {
        const isNamed = namedLike(wanted, one);
        return view.all(one).filter((record) => isNamed(record) && isIn(record.id) && isWanted(record));
      });
      const rows = found.slice(offset, offset + limit);
      const above = new Map(rows.flatMap((one) => [...lineage(view, one)].slice(1).map((at) => [at.id, at])));
      return { rows: nodes(rows), above: nodes([...above.values()].filter(isSeen)), total: found.length };
    },
    countTree({ caller, query: { scope } }) {
      const isSeen = viewOf(caller);
      const isIn = scopeOf(view, scope);
      const isAll = caller.isRoot && (scope ?? view.root.id) === view.root.id;
      const counts = treeOrder.map((word): [TypeWord, number] => {
        const all = view.all(word);
        return [word, isAll ? all.length : all.filter((one) => isIn(one.id) && isSeen(one)).length];
      });
      return { total: counts.reduce((sum, [, count]) => sum + count, 0), types: present(counts) };
    },
    readTreePlace({ caller, resource }) {
      const isSeen = viewOf(caller);
      const path = [...lineage(view, resource)].slice(1).reverse().filter(isSeen);
      return { resource: nodeOf(view, resource), path: nodes(path), types: typesOf(resource, isSeen) };
    },
    listTreeChildren({ caller, resource, query: { word, offset, limit } }) {
      const isSeen = viewOf(caller);
      const children = wordsOf(word)
        .flatMap((one) => childrenInOrder(view, resource.id, one))
        .filter(isSeen);
      const rows = children.slice(offset, offset + limit);
      return { rows: nodes(rows), total: children.length, types: typesOf(resource, isSeen) };
    },
    listTreeProviders: ({ resource, query: { type } }) => ({
      rows: nodes([...visibleProviders(view, resource, type ? SERVES[type] : () => true)]),
    }),
    countTreeBelow({ caller, resource, query: { word, offset, limit } }) {
      const isSeen = viewOf(caller);
      const words = wordsOf(word);
      const rows: StoredResource[] = [];
      const types: Partial<Record<TypeWord, number>> = {};
      let total = 0;
      for (const one of allBelow(view, resource.id)) {
        const { word } = typeOf(one);
        if (!words.includes(word) || !isSeen(one)) continue;
        if (total >= offset && rows.length < limit) rows.push(one);
        types[word] = (types[word] ?? 0) + 1;
        total += 1;
        if (total >= MAX_COUNTED) break;
      }
      return { rows: nodes(rows), total, types };
    },
    listRelations({ caller, resource, query: { offset, limit } }) {
      const isSeen = viewOf(caller);
      const names = [...idsIn(resource.properties, '/properties')].flatMap(([id, pointer]) => {
        const other = id === resource.id ? undefined : view.find(id);
        return other && isSeen(other) ? [{ resource: nodeOf(view, other), pointer }] : [];
      });
      const referrers = view.referrers(resource.id).filter((one) => one.id !== resource.id && isSeen(one));
      const namedBy = referrers.slice(offset, offset + limit).map((one) => ({
        resource: nodeOf(view, one),
        pointer: idsIn(one.properties, '/properties').get(resource.id) ?? '/properties',
      }));
      return { names, namedBy, total: referrers.length };
    },
  });
}

/** The types that there are any of. */
function present(counts: readonly [TypeWord, number][]): Partial<Record<TypeWord, number>> {
  return Object.fromEntries(counts.filter(([, count]) => count > 0));
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
