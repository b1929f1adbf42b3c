import type { Router } from 'express';
import { type PROVIDER_KINDS, type TreeNode, treeRoutes } from '../../api/routes/tree.ts';
import { mountRoutes, type RouteGuard } from '../../api/server/mount-routes.ts';
import type { Caller } from '../../model/caller.ts';
import type { Json } from '../../model/json.ts';
import { stepTo } from '../../model/patch/pointer.ts';
import { isUuid, type StoredResource, type Uuid, type WorldView } from '../../model/record.ts';
import { typeOf, typeWordsFrom } from '../../model/registry.ts';
import { allBelow, ancestors, closestAncestor, fqonOf, ORGANIZATION, scopeOf } from '../../model/rules/hierarchy.ts';
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

function nodeOf(view: WorldView, resource: StoredResource): TreeNode {
  const { environment_type: kind } = resource.properties;
  const { collection: collections } = typeOf(resource);
  const organization = closestAncestor(view, resource, ORGANIZATION);
  return {
    id: resource.id,
    name: resource.name,
    ...(resource.description !== undefined && { description: resource.description }),
    word: collections,
    type: resource.type,
    fqon: organization ? fqonOf(view, organization) : 'root',
    ...(resource.parent !== null && { parent: resource.parent }),
    ...(typeof kind === 'string' && { environment_type: kind }),
    ...(collections === 'users' && resource.properties.disabled === true && { isDisabled: true }),
    modified: resource.modified.at,
    children: view.children(resource.id).length,
  };
}

function childrenInOrder(view: WorldView, parentId: Uuid, collection: TypeWord): readonly StoredResource[] {
  const children = view.children(parentId, collection);
  return children.length > MAX_SORTED ? children : [...children].sort(byName);
}

let collator: Intl.Collator | undefined;

function byName(resourceA: StoredResource, other: StoredResource): number {
  // Created on first use, because the first one takes a large part of the start of a process.
  collator ??= new Intl.Collator('en', { numeric: true });
  return collator.compare(resourceA.name, other.name);
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
  const viewOf = (caller: Caller) => (resource: StoredResource) =>
    caller.isRoot || authorizer.can(caller, `${typeOf(resource).singular}.view`, resource.id);
  const nodes = (records: readonly StoredResource[]): TreeNode[] => records.map((resource) => nodeOf(view, resource));
  const wordsOf = (types: readonly TypeWord[] | undefined) =>
    treeOrder.filter((collection) => !types || types.includes(collection));

  return mountRoutes(treeRoutes, guard, {
    searchTree({ caller, query }) {
      const isSeen = viewOf(caller);
      const isIn = scopeOf(view, query.scope);
      const isNamed = namedLike(query.q ?? '');
      const isBelowSeen = ({ parent }: StoredResource) => {
        const above = parent === null ? undefined : view.find(parent);
        return above !== undefined && isSeen(above);
      };
      const isWanted = (resource: StoredResource) =>
        isNamed(resource) && isIn(resource.id) && isSeen(resource) && !(query.tops && isBelowSeen(resource));
      const all = ofTypes(wordsOf(query.word), (collection) => view.all(collection));
      const { rows, total } = counted(all, isWanted, query.offset, query.limit);
      const above = new Map(
        rows.flatMap((resource) => [...ancestors(view, resource)].slice(1).map((at) => [at.id, at])),
      );
      return { rows: nodes(rows), above: nodes([...above.values()].filter(isSeen)), total };
    },
    countTree({ caller, query: { scope } }) {
      const isSeen = viewOf(caller);
      const isIn = scopeOf(view, scope);
      const isWanted = (candidate: StoredResource) => isIn(candidate.id) && isSeen(candidate);
      const { total, types } = counted(
        ofTypes(treeOrder, (collection) => view.all(collection)),
        isWanted,
      );
      return { total, types };
    },
    readTreePlace({ caller, resource }) {
      const isSeen = viewOf(caller);
      const path = [...ancestors(view, resource)].slice(1).reverse().filter(isSeen);
      const children = ofTypes(treeOrder, (collection) => view.children(resource.id, collection));
      const { types } = counted(children, isSeen);
      return { resource: nodeOf(view, resource), path: nodes(path), types };
    },
    listTreeChildren({ caller, resource, query: { word: collections, offset, limit } }) {
      const isSeen = viewOf(caller);
      const children = ofTypes(wordsOf(collections), (collection) => childrenInOrder(view, resource.id, collection));
      const { rows, total } = counted(children, isSeen, offset, limit);
      const all = ofTypes(treeOrder, (collection) => view.children(resource.id, collection));
      return { rows: nodes(rows), total, types: counted(all, isSeen).types };
    },
    listTreeProviders: ({ resource, query: { type } }) => ({
      rows: nodes([...visibleProviders(view, resource, type ? SERVES[type] : () => true)]),
    }),
    countTreeBelow({ caller, resource, query: { word: collections, offset, limit } }) {
      const isSeen = viewOf(caller);
      const countedCollections = wordsOf(collections);
      const isWanted = (candidate: StoredResource) =>
        countedCollections.includes(typeOf(candidate).collection) && isSeen(candidate);
      const { rows, ...counts } = counted(allBelow(view, resource.id), isWanted, offset, limit);
      return { rows: nodes(rows), ...counts };
    },
    listRelations: ({ caller, resource, query }) => relationsOf(view, resource, viewOf(caller), query),
  });
}

/** Returns the resources that a resource refers to, and those that refer to it. */
function relationsOf(
  view: WorldView,
  resource: StoredResource,
  isSeen: (candidate: StoredResource) => boolean,
  { offset, limit }: { offset: number; limit: number },
) {
  const names = [...idsIn(resource.properties, '/properties')].flatMap(([id, pointer]) => {
    const other = id === resource.id ? undefined : view.find(id);
    return other && isSeen(other) ? [{ resource: nodeOf(view, other), pointer }] : [];
  });
  const isWanted = (candidate: StoredResource) => candidate.id !== resource.id && isSeen(candidate);
  const { rows, total } = counted(view.referrers(resource.id), isWanted, offset, limit);
  const namedBy = rows.map((referrer) => ({
    resource: nodeOf(view, referrer),
    pointer: idsIn(referrer.properties, '/properties').get(resource.id) ?? '/properties',
  }));
  return { names, namedBy, total };
}

function* ofTypes(
  collections: readonly TypeWord[],
  all: (collection: TypeWord) => readonly StoredResource[],
): Generator<StoredResource> {
  for (const collection of collections) yield* all(collection);
}

/** One page of the resources, and their number, total and by type. */
function counted(
  records: Iterable<StoredResource>,
  isWanted: (candidate: StoredResource) => boolean,
  offset = 0,
  limit = 0,
): { rows: StoredResource[]; types: Partial<Record<TypeWord, number>>; total: number } {
  const rows: StoredResource[] = [];
  const types: Partial<Record<TypeWord, number>> = {};
  let total = 0;
  for (const record of records) {
    if (!isWanted(record)) continue;
    const { collection: collections } = typeOf(record);
    if (total >= offset && rows.length < limit) rows.push(record);
    types[collections] = (types[collections] ?? 0) + 1;
    total += 1;
  }
  return { rows, types, total };
}

/** Returns a test for resources whose name, id, type or type label contains all words of the filter. */
function namedLike(q: string): (resource: StoredResource) => boolean {
  const terms = q.toLowerCase().split(/\s+/);
  return (resource) => {
    const { singular, collection } = typeOf(resource);
    const texts = [resource.name.toLowerCase(), resource.id, `${singular} ${collection}`];
    return terms.every((term) => texts.some((text) => text.includes(term)));
  };
}
