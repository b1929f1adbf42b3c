import type { Router } from 'express';
import { type PROVIDER_KINDS, type TreeNode, treeRoutes } from '../../api/routes/tree.ts';
import { mountRoutes, type RouteGuard } from '../../api/server/mount-routes.ts';
import type { Caller } from '../../model/caller.ts';
import type { Json } from '../../model/json.ts';
import { stepTo } from '../../model/patch/pointer.ts';
import { isUuid, type StoredResource, type Uuid, type WorldView } from '../../model/record.ts';
import { typeOf, typeOfWord, typeWordsFrom } from '../../model/registry.ts';
import { allBelow, ancestors, closestAncestor, fqonOf, ORGANIZATION } from '../../model/rules/hierarchy.ts';
import { scopeOf } from '../../model/rules/scope.ts';
import type { TypeWord } from '../../model/type-words.ts';
import {
  isContainerEngine,
  isGatewayManager,
  isLambdaProvider,
  visibleProviders,
} from '../../model/types/provider-rules.ts';

/** In which order types stand below a place: places first, then workloads, then what serves them. */
const treeOrder = typeWordsFrom([
  'orgs',
  'workspaces',
  'environments',
  'containers',
  'jobs',
  'lambdas',
  'apis',
  'apiendpoints',
  'volumes',
  'secrets',
  'policies',
  'rules',
  'providers',
  'users',
  'groups',
]);

/** Above this number of one type, the order is oldest first: sorting them for every page would delay other requests. */
const MAX_SORTED = 5000;

function nodeOf(view: WorldView, one: StoredResource): TreeNode {
  const { environment_type: kind } = one.properties;
  const { word } = typeOf(one);
  const organization = closestAncestor(view, one, ORGANIZATION);
  return {
    id: one.id,
    name: one.name,
    ...(one.description !== undefined && { description: one.description }),
    word,
    type: one.type,
    fqon: organization ? fqonOf(view, organization) : 'root',
    ...(one.parent !== null && { parent: one.parent }),
    ...(typeof kind === 'string' && { environment_type: kind }),
    ...(word === 'users' && one.properties.disabled === true && { isDisabled: true }),
    modified: one.modified.at,
    children: view.children(one.id).length,
  };
}

function childrenInOrder(view: WorldView, parentId: Uuid, word: TypeWord): readonly StoredResource[] {
  const children = view.children(parentId, word);
  return children.length > MAX_SORTED ? children : [...children].sort(byName);
}

let collator: Intl.Collator | undefined;

function byName(one: StoredResource, other: StoredResource): number {
  // Created on first use, because the first one takes a large part of the start of a process.
  collator ??= new Intl.Collator('en', { numeric: true });
  return collator.compare(one.name, other.name);
}

/** The ids in a value, each with the pointer of its first occurrence. */
function idsIn(value: Json | undefined, pointer: string, found = new Map<Uuid, string>()): Map<Uuid, string> {
  if (typeof value === 'string') {
    const id = value.toLowerCase();
    if (isUuid(value) && !found.has(id)) found.set(id, pointer);
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, member] of Object.entries(value)) {
      idsIn(member, pointer + stepTo(name), found);
    }
  }
  return found;
}

const SERVES: Record<(typeof PROVIDER_KINDS)[number], (type: string) => boolean> = {
  CaaS: isContainerEngine,
  Lambda: isLambdaProvider,
  GatewayManager: isGatewayManager,
};

/**
 * The hierarchy piece by piece, for clients that do not read the whole world: what is directly below a place, the
 * way up from it, everything below it counted, what names it, and a search. All of it filtered by the right to view (D-118).
 */
export function treeRouter(guard: RouteGuard): Router {
  const { view, authorizer } = guard;
  const viewOf = (caller: Caller) => (one: StoredResource) =>
    caller.isRoot || authorizer.can(caller, `${typeOf(one).singular}.view`, one.id);
  const nodes = (records: readonly StoredResource[]): TreeNode[] => records.map((one) => nodeOf(view, one));
  const wordsOf = (sent: readonly TypeWord[] | undefined) => treeOrder.filter((word) => !sent || sent.includes(word));

  return mountRoutes(treeRoutes, guard, {
    searchTree({ caller, query }) {
      const isSeen = viewOf(caller);
      const isIn = scopeOf(view, query.scope);
      const isNamed = namedLike(query.q ?? '');
      const isBelowSeen = ({ parent }: StoredResource) => {
        const above = parent === null ? undefined : view.find(parent);
        return above !== undefined && isSeen(above);
      };
      const isWanted = (one: StoredResource) =>
        isNamed(one) && isIn(one.id) && isSeen(one) && !(query.tops && isBelowSeen(one));
      const all = ofTypes(wordsOf(query.word), (one) => view.all(one));
      const { rows, total } = counted(all, isWanted, query.offset, query.limit);
      const above = new Map(rows.flatMap((one) => [...ancestors(view, one)].slice(1).map((at) => [at.id, at])));
      return { rows: nodes(rows), above: nodes([...above.values()].filter(isSeen)), total };
    },
    countTree({ caller, query: { scope } }) {
      const isSeen = viewOf(caller);
      const isIn = scopeOf(view, scope);
      if (caller.isRoot && (scope ?? view.root.id) === view.root.id) {
        const counts = treeOrder.map((word) => [word, view.all(word).length] as const).filter(([, count]) => count > 0);
        return { total: counts.reduce((sum, [, count]) => sum + count, 0), types: Object.fromEntries(counts) };
      }
      const isWanted = (one: StoredResource) => isIn(one.id) && isSeen(one);
      const { total, types } = counted(
        ofTypes(treeOrder, (word) => view.all(word)),
        isWanted,
      );
      return { total, types };
    },
    readTreePlace({ caller, resource }) {
      const isSeen = viewOf(caller);
      const path = [...ancestors(view, resource)].slice(1).reverse().filter(isSeen);
      const children = ofTypes(treeOrder, (word) => view.children(resource.id, word));
      const { types } = counted(children, isSeen);
      return { resource: nodeOf(view, resource), path: nodes(path), types };
    },
    listTreeChildren({ caller, resource, query: { word, offset, limit } }) {
      const isSeen = viewOf(caller);
      const children = ofTypes(wordsOf(word), (one) => childrenInOrder(view, resource.id, one));
      const { rows, total } = counted(children, isSeen, offset, limit);
      const all = ofTypes(treeOrder, (one) => view.children(resource.id, one));
      return { rows: nodes(rows), total, types: counted(all, isSeen).types };
    },
    listTreeProviders: ({ resource, query: { type } }) => ({
      rows: nodes([...visibleProviders(view, resource, type ? SERVES[type] : () => true)]),
    }),
    countTreeBelow({ caller, resource, query: { word, offset, limit } }) {
      const isSeen = viewOf(caller);
      const words = wordsOf(word);
      const isWanted = (one: StoredResource) => words.includes(typeOf(one).word) && isSeen(one);
      const { rows, ...counts } = counted(allBelow(view, resource.id), isWanted, offset, limit);
      return { rows: nodes(rows), ...counts };
    },
    listRelations: ({ caller, resource, query }) => relationsOf(view, resource, viewOf(caller), query),
  });
}

/** What a resource names, and what names it. */
function relationsOf(
  view: WorldView,
  resource: StoredResource,
  isSeen: (one: StoredResource) => boolean,
  { offset, limit }: { offset: number; limit: number },
) {
  const names = [...idsIn(resource.properties, '/properties')].flatMap(([id, pointer]) => {
    const other = id === resource.id ? undefined : view.find(id);
    return other && isSeen(other) ? [{ resource: nodeOf(view, other), pointer }] : [];
  });
  const isWanted = (one: StoredResource) => one.id !== resource.id && isSeen(one);
  const { rows, total } = counted(view.referrers(resource.id), isWanted, offset, limit);
  const namedBy = rows.map((one) => ({
    resource: nodeOf(view, one),
    pointer: idsIn(one.properties, '/properties').get(resource.id) ?? '/properties',
  }));
  return { names, namedBy, total };
}

function* ofTypes(
  words: readonly TypeWord[],
  all: (word: TypeWord) => readonly StoredResource[],
): Generator<StoredResource> {
  for (const word of words) yield* all(word);
}

/** One page of the resources, and their number, total and by type. */
function counted(
  records: Iterable<StoredResource>,
  isWanted: (one: StoredResource) => boolean,
  offset = 0,
  limit = 0,
): { rows: StoredResource[]; types: Partial<Record<TypeWord, number>>; total: number } {
  const rows: StoredResource[] = [];
  const types: Partial<Record<TypeWord, number>> = {};
  let total = 0;
  for (const one of records) {
    if (!isWanted(one)) continue;
    const { word } = typeOf(one);
    if (total >= offset && rows.length < limit) rows.push(one);
    types[word] = (types[word] ?? 0) + 1;
    total += 1;
  }
  return { rows, types, total };
}

/**
 * Do the name, id, type or type label of a resource contain all words of the filter? Types are compared only once for the whole world.
 */
function namedLike(q: string): (one: StoredResource) => boolean {
  const wanted = q.trim().toLowerCase();
  const isNamed = new Map(treeOrder.map((word) => [word, namedLikeOf(wanted, word)]));
  return (one) => isNamed.get(typeOf(one).word)?.(one) === true;
}

function namedLikeOf(wanted: string, word: TypeWord): (one: StoredResource) => boolean {
  const ofType = `${typeOfWord(word).singular} ${word}`;
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
