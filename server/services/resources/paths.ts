import type { Request } from 'express';
import { referringLists } from '../../api/routes/meta-open.ts';
import { targetOf } from '../../api/server/mount-routes.ts';
import { PlatformError } from '../../model/errors.ts';
import { isUuid, parseUuid, type StoredResource, type WorldView } from '../../model/record.ts';
import { typeOf, typeOfWord, typeWords } from '../../model/registry.ts';
import { ancestors, findOrganization, subOrganizations } from '../../model/rules/hierarchy.ts';
import { describeKind } from '../../model/rules/references.ts';
import { parseTypeName, type TypeName } from '../../model/type-names.ts';
import { isTypeWord, listedOnlyWords, referenceWords, type TypeWord } from '../../model/type-words.ts';
import { isReservedName } from '../../model/types/organization.ts';
import type { Entitlement, EntitlementFinder } from '../security/entitlements.ts';

type Path = Readonly<Record<string, string>>;

const knownWords: ReadonlySet<string> = new Set([
  ...typeWords,
  ...listedOnlyWords,
  ...referenceWords,
  'resources',
  'entitlements',
]);
const COLLECTION_PARAMETERS = ['word', 'child_word', 'new_word'];

/** Such a word is the first segment of other routes, never the name of an organization (D-041). */
export function isResourcePath({ fqon }: Path): boolean {
  return !isReservedName(fqon);
}

/** Throws 400 for an unknown type word or a malformed id in the path, before anything is looked up (D-003). */
export function requirePath(path: Path): void {
  for (const name of COLLECTION_PARAMETERS) {
    const collection = path[name];
    if (collection === undefined || knownWords.has(collection)) continue;
    throw new PlatformError('invalid_parameter', `unknown resource type '${collection.slice(0, 64)}'`);
  }
  for (const [name, text] of Object.entries(path)) if (name.endsWith('_id') && name !== 'type_id') parseUuid(text);
}

/** The 404 of D-010, where a route exists for some types only. */
export function noRoute(req: Request): PlatformError {
  return new PlatformError('no_route', `no route: ${req.method} ${req.path}`);
}

/** The 404 of a write to a list that only refers to what is elsewhere; it says where (D-004). */
export function ofReferringList(path: Path, collection: TypeWord): PlatformError {
  const { singular: noun, parents } = typeOfWord(collection);
  const listPaths = parents.map((parentType) =>
    parentType === 'orgs' ? `/{fqon}/${collection}` : `/{fqon}/${parentType}/{id}/${collection}`,
  );
  const isMembership = path.word === 'groups' || collection === 'groups';
  const members = `; to add or remove members, PATCH or DELETE /${path.fqon}/groups/{id}/users?id={user id}`;
  return new PlatformError(
    'no_route',
    `${path.word} only refer to ${collection}: change or delete one at /${path.fqon}/${collection}/{id}; create a new ${noun} at ${listPaths.join(' or ')}${isMembership ? members : ''}`,
  );
}

/** Returns the resource if its type has PUT; else there is no such route. */
function replaceable(found: StoredResource, req: Request): StoredResource {
  if (typeOf(found).replaceable) return found;
  throw noRoute(req);
}

/** The word of a type that may stand there; throws 404 where it has no such parent. */
function creatable(collection: string, parentWord: string, req: Request): TypeWord {
  if (!isTypeWord(collection)) throw noRoute(req);
  const { parents } = typeOfWord(collection);
  const isAllowed =
    parentWord === 'resources' ? parents.length > 0 : parents.some((parentType) => parentType === parentWord);
  if (!isAllowed) throw noRoute(req);
  return collection;
}

function typeAsked(text: string): TypeName {
  const name = parseTypeName(text);
  if (name) return name;
  const isForm: boolean = text.includes('::') || isUuid(text);
  throw isForm
    ? new PlatformError('not_found', `resource type ${text} not found`)
    : new PlatformError(
        'invalid_parameter',
        `'${text.slice(0, 64)}' is neither the id nor the full name of a resource type`,
      );
}

function notBelow(parent: StoredResource, child: StoredResource): PlatformError {
  const [{ singular: owner }, { singular: noun }] = [typeOf(parent), typeOf(child)];
  return new PlatformError('not_found', `${noun} ${child.id} not found in ${owner} '${parent.name}'`);
}

export type PathResolvers = ReturnType<typeof pathResolvers>;

/** Returns the resolvers of path parameters. Each throws 404. A text that is not an id was rejected before with 400. */
export function pathResolvers(view: WorldView, finder: EntitlementFinder) {
  const organization = (fqon: string): StoredResource => {
    const found = findOrganization(view, fqon);
    if (!found) throw new PlatformError('not_found', `organization '${fqon}' not found`);
    return found;
  };
  /** Finds a resource of any type for `resources`, else of that type (D-003..D-005). */
  const resource = (collection: string, text: string): StoredResource => {
    if (isTypeWord(collection)) return targetOf({ view }, text, [collection]);
    const found = targetOf({ view }, text, []);
    if (collection === 'resources') return found;
    throw new PlatformError('not_found', `resource ${found.id} not found: ${describeKind(found)}`);
  };
  const ofType = (collection: TypeWord) => (text: string) => resource(collection, text);
  const resourceOf = (text: string, { word: collection = 'resources' }: Path) => resource(collection, text);
  const pair = (text: string, path: Path): [parent: StoredResource, child: StoredResource] => [
    resource(path.word ?? '', path.resource_id ?? ''),
    resource(path.child_word ?? '', text),
  ];
  /** To be read, it has to be listed below the first (D-004). */
  const listed = (text: string, path: Path): StoredResource => {
    const [parent, child] = pair(text, path);
    if (isListedBelow(view, parent, child)) return child;
    throw notBelow(parent, child);
  };
  /** To be written, it has to be its child (D-004). */
  const ownChild = (text: string, path: Path): StoredResource => {
    const [parent, child] = pair(text, path);
    if (child.parent === parent.id) return child;
    throw isListedBelow(view, parent, child) ? onlyReferred(path, parent, child) : notBelow(parent, child);
  };
  /** Its absence is 404, or 422 for types that say so (D-182), and one of another type has no such route. */
  const parent = (text: string, path: Path, req: Request): StoredResource => {
    const { word: collection = '', new_word: newWord = '' } = path;
    const [, referred] = referringLists.find(([owner, child]) => owner === collection && child === newWord) ?? [];
    if (referred) {
      resource(collection, text);
      throw ofReferringList(path, referred);
    }
    const { parents, unknownParentStatus: status = 404 } = typeOfWord(creatable(newWord, collection, req));
    let found: StoredResource;
    try {
      found = resource(collection, text);
    } catch (failure) {
      if (failure instanceof PlatformError && failure.status === 404)
        throw status === 422 ? new PlatformError('parent_not_found', failure.message) : failure;
      throw failure;
    }
    // The path may have named it by `resources`, which says nothing of its type (D-005).
    if (parents.includes(typeOf(found).collection)) return found;
    throw noRoute(req);
  };
  const entitlement = (text: string, path: Path): Entitlement => {
    const id = parseUuid(text);
    const node = path.resource_id === undefined ? undefined : resourceOf(path.resource_id, path);
    const found = finder.find(id, path.fqon === undefined ? view.root : organization(path.fqon));
    if (!found) throw new PlatformError('not_found', `entitlement ${id} not found`);
    if (!node || found.resource.id === node.id) return found;
    throw new PlatformError('not_found', `entitlement ${found.id} is not one of resource ${path.resource_id}`);
  };
  return {
    fqon: organization,
    resource_id: resourceOf,
    replaceable_id: (text: string, path: Path, req: Request) => replaceable(resourceOf(text, path), req),
    child_id: listed,
    own_id: ownChild,
    own_replaceable_id: (text: string, path: Path, req: Request) => replaceable(ownChild(text, path), req),
    parent_id: parent,
    new_word: (text: string, { word: collection = 'orgs' }: Path, req: Request) => creatable(text, collection, req),
    container_id: ofType('containers'),
    group_id: ofType('groups'),
    lambda_id: ofType('lambdas'),
    provider_id: ofType('providers'),
    entitlement_id: entitlement,
    /** An entitlement has no record, so it is looked for when no record has the id (D-005). */
    unrecorded_id: (text: string, { fqon = '' }: Path): Entitlement | undefined =>
      view.find(parseUuid(text)) ? undefined : finder.find(parseUuid(text), organization(fqon)),
    type_id: typeAsked,
  };
}

/** The 404 of a write through a list that only refers (D-004); it names the address that does what was meant. */
function onlyReferred({ fqon }: Path, parent: StoredResource, child: StoredResource): PlatformError {
  const [owner, childType] = [typeOf(parent), typeOf(child)];
  const at = `/${fqon}`;
  const [group, user] = childType.collection === 'groups' ? [child, parent] : [parent, child];
  const isMembership = typeOf(group).collection === 'groups';
  const membership = `; to end the membership, DELETE ${at}/groups/${group.id}/users?id=${user.id}`;
  return new PlatformError(
    'not_found',
    `${childType.singular} ${child.id} is not a child of ${owner.singular} ${parent.id}, which only refers to it: change or delete it at ${at}/${childType.collection}/${child.id}${isMembership ? membership : ''}`,
  );
}

type ListWord = TypeWord | 'resources';
type Resources = readonly StoredResource[];

/** Lists of these types include providers of parents (D-065). */
const ENVIRONMENT_LEVELS: readonly TypeWord[] = ['orgs', 'workspaces', 'environments'];

/** `F/{type}`: what the organization owns at any depth; also all organizations below it (D-186), providers from above (D-065). */
export function listOwned(view: WorldView, organization: StoredResource, collection: ListWord): Resources {
  if (collection === 'resources')
    return oldestFirst(typeWords.flatMap((childCollection) => view.ownedBy(organization.id, childCollection)));
  if (collection === 'orgs') return oldestFirst(subOrganizations(view, organization));
  return collection === 'providers'
    ? listFromAbove(view, organization, collection)
    : view.ownedBy(organization.id, collection);
}

/** Contents of a child list: direct children, or other resources that the path relates (D-186). */
export function listBelow(view: WorldView, parent: StoredResource, collection: ListWord): Resources {
  if (collection === 'resources') return view.children(parent.id);
  const above = typeOf(parent).collection;
  if (collection === 'providers' && ENVIRONMENT_LEVELS.includes(above)) return listFromAbove(view, parent, collection);
  const related = typeOfWord(collection).listedBelow?.[above];
  return related ? oldestFirst(related(parent, view)) : view.children(parent.id, collection);
}

/** Is a resource a child of another, or in one of the lists below it (D-004)? */
function isListedBelow(view: WorldView, parent: StoredResource, child: StoredResource): boolean {
  return child.parent === parent.id || listBelow(view, parent, typeOf(child).collection).includes(child);
}

export function listFromAbove(view: WorldView, resource: StoredResource, collection: TypeWord): Resources {
  return oldestFirst([...ancestors(view, resource)].flatMap((ancestor) => view.children(ancestor.id, collection)));
}

/** Lists that were put together from several keep the order of all lists (D-186). */
function oldestFirst(resources: Resources): Resources {
  return resources.toSorted((a, b) => Number(a.created.at > b.created.at) - Number(a.created.at < b.created.at));
}
