import { booleanParameter, singleParameter } from '../http/query.ts';
import { PlatformError } from '../model/errors.ts';
import { lineage, subOrganizations } from '../model/hierarchy.ts';
import { parsePatch } from '../model/patch.ts';
import type { StoredResource } from '../model/record.ts';
import { typeOf, typeOfWord } from '../model/registry.ts';
import { providerTypesMatching } from '../model/type-names.ts';
import { listedOnlyWords, type TypeWord, typeWords } from '../model/type-words.ts';
import { type Answer, ok, type ResourceRequest, type Route } from './request.ts';
import type { ResourceService } from './resource-service.ts';
import { embedWords, renderList } from './selection.ts';

/**
 * The routes that are the same for every type of the registry (D-002, D-004, D-005, D-008): lists, child lists, create,
 * read, patch, replace and remove. What a type has beyond them stands in a file of its own.
 */
export function recordRoutes(service: ResourceService): Route[] {
  const { view } = service;

  const read = (request: ResourceRequest, resource: StoredResource): Answer => {
    service.demandView(request.act, resource);
    return ok(request.renderer.record(resource, embedWords(request.query, resource)));
  };
  const list = (request: ResourceRequest, resources: readonly StoredResource[]): Answer =>
    ok(
      renderList(
        resources.filter((one) => service.canView(request.act, one)),
        request.query,
        request.renderer,
      ),
    );
  const create = async (request: ResourceRequest, parent: StoredResource, word: TypeWord): Promise<Answer> => {
    const record = await service.create(request.act, parent.id, word, await request.json());
    return {
      status: 201,
      body: request.renderer.record(record),
      headers: { Location: request.renderer.hrefOf(record) },
    };
  };
  const patch = async (request: ResourceRequest, resource: StoredResource): Promise<Answer> => {
    service.demand(request.act, `${typeOf(resource).noun}.update`, resource);
    const operations = parsePatch(await request.patchJson());
    const { renderer } = request;
    const patched = await service.patch(request.act, resource.id, operations, (seen) => renderer.record(seen));
    return ok(renderer.record(patched));
  };
  const replace = async (request: ResourceRequest, resource: StoredResource): Promise<Answer> =>
    ok(request.renderer.record(await service.replace(request.act, resource.id, await request.json())));
  const remove = async (request: ResourceRequest, resource: StoredResource): Promise<Answer> => {
    const wish = {
      force: booleanParameter(request.query, 'force'),
      deleteContainers: booleanParameter(request.query, 'deleteContainers'),
    };
    await service.remove(request.act, resource.id, wish);
    return { status: 204 };
  };

  /** All of a word that an organization owns; providers also from above (D-065), organizations at any depth (D-186). */
  const owned = (organization: StoredResource, word: TypeWord | 'resources'): readonly StoredResource[] => {
    if (word === 'resources') return typeWords.flatMap((one) => owned(organization, one));
    if (word === 'orgs') return subOrganizations(view, organization);
    return word === 'providers' ? providersAt(organization) : view.ownedBy(organization.id, word);
  };
  /** Own providers and those of all above, the farthest first. */
  const providersAt = (resource: StoredResource): StoredResource[] =>
    [...lineage(view, resource)].reverse().flatMap((one) => [...view.children(one.id, 'providers')]);
  const below = (parent: StoredResource, word: TypeWord | 'resources'): readonly StoredResource[] => {
    if (word === 'resources') return view.children(parent.id);
    const inherits = ['orgs', 'workspaces', 'environments'].includes(typeOf(parent).word);
    if (word === 'providers' && inherits) return providersAt(parent);
    return (RELATED[`${typeOf(parent).word}/${word}`] ?? children)(parent, word);
  };
  const children = (parent: StoredResource, word: TypeWord): readonly StoredResource[] =>
    view.children(parent.id, word);
  const named = (target: StoredResource, word: TypeWord) =>
    view.referrers(target.id).filter((one) => typeOf(one).word === word && references(one, target));
  /** Lists below a resource that hold what names it rather than its children (D-055, D-062, D-072, D-073). */
  const RELATED: Record<string, (parent: StoredResource, word: TypeWord) => readonly StoredResource[]> = {
    'providers/containers': named,
    'lambdas/apiendpoints': (target, word) =>
      named(target, word).filter((one) => one.properties.implementation_id === target.id),
    'containers/apiendpoints': (target, word) =>
      named(target, word).filter((one) => one.properties.implementation_id === target.id),
    'users/groups': named,
    'groups/users': (group) => memberIds(group).flatMap((id) => view.find(id) ?? []),
  };
  /** The second of two `(type, id)` pairs, which must belong to the first (D-004). */
  const second = (request: ResourceRequest): StoredResource => {
    const parent = request.resource();
    const child = request.resource(request.segment('childWord'), request.segment('childId'));
    const isBelow = child.parent === parent.id || below(parent, typeOf(child).word).some((one) => one.id === child.id);
    if (isBelow) return child;
    throw new PlatformError(
      404,
      `${typeOf(child).word} ${child.id} not found in ${typeOf(parent).noun} '${parent.name}'`,
    );
  };

  return [
    { verb: 'get', path: '/:fqon', handle: (request) => read(request, request.organization()) },
    { verb: 'patch', path: '/:fqon', handle: (request) => patch(request, request.organization()) },
    { verb: 'delete', path: '/:fqon', handle: (request) => remove(request, request.organization()) },
    { verb: 'post', path: '/:fqon', handle: (request) => create(request, request.organization(), 'orgs') },

    {
      verb: 'get',
      path: '/:fqon/:word',
      handle: (request) => {
        const word = request.listWord('word');
        const organization = request.organization();
        demandProviderType(request, word);
        return list(request, word ? owned(organization, word) : []);
      },
    },
    {
      verb: 'post',
      path: '/:fqon/:word',
      handle: (request) => create(request, request.organization(), creatable(request, 'word', 'orgs')),
    },
    { verb: 'patch', path: '/:fqon/:word', handle: refuseListPatch },

    { verb: 'get', path: '/:fqon/:word/:id', handle: (request) => read(request, request.resource()) },
    { verb: 'patch', path: '/:fqon/:word/:id', handle: (request) => patch(request, request.resource()) },
    {
      verb: 'put',
      path: '/:fqon/:word/:id',
      handle: (request) => replace(request, replaceable(request, request.resource())),
    },
    { verb: 'delete', path: '/:fqon/:word/:id', handle: (request) => remove(request, request.resource()) },

    {
      verb: 'get',
      path: '/:fqon/:word/:id/:childWord',
      handle: (request) => {
        const word = request.listWord('childWord');
        const parent = request.resource();
        demandProviderType(request, word);
        return list(request, word ? below(parent, word) : []);
      },
    },
    {
      verb: 'post',
      path: '/:fqon/:word/:id/:childWord',
      handle: (request) => {
        const parentWord = request.segment('word');
        const word = creatable(request, 'childWord', parentWord);
        return create(request, parentOf(request, word), word);
      },
    },
    { verb: 'patch', path: '/:fqon/:word/:id/:childWord', handle: refuseListPatch },

    { verb: 'get', path: '/:fqon/:word/:id/:childWord/:childId', handle: (request) => read(request, second(request)) },
    {
      verb: 'patch',
      path: '/:fqon/:word/:id/:childWord/:childId',
      handle: (request) => patch(request, second(request)),
    },
    {
      verb: 'put',
      path: '/:fqon/:word/:id/:childWord/:childId',
      handle: (request) => replace(request, replaceable(request, second(request))),
    },
    {
      verb: 'delete',
      path: '/:fqon/:word/:id/:childWord/:childId',
      handle: (request) => remove(request, second(request)),
    },
  ];
}

/** Ids of a group's members. */
export function memberIds(group: StoredResource): string[] {
  const { users } = group.properties;
  return Array.isArray(users) ? users.filter((id) => typeof id === 'string') : [];
}

function references(resource: StoredResource, target: StoredResource): boolean {
  return (typeOf(resource).references?.(resource) ?? []).includes(target.id);
}

function noRoute(request: ResourceRequest, verb: string): PlatformError {
  return new PlatformError(404, `no route: ${verb} ${request.path}`);
}

/** Words that stand where a type word may, and are routes of some types only (D-213). */
const ACTIONS = new Set(['migrate', 'promote', 'scale', 'redeploy']);

/** The type word of a POST to a list; throws 501 for types that are only listed (D-210), 404 where it has no such parent. */
function creatable(request: ResourceRequest, segment: string, parentWord: string): TypeWord {
  const text = request.segment(segment);
  if (singleParameter(request.query, 'action') !== undefined) {
    throw new PlatformError(501, 'actions on lists, such as import, are not emulated (D-211)');
  }
  if (ACTIONS.has(text)) throw noRoute(request, 'POST');
  if (listedOnlyWords.some((word) => word === text)) throw new PlatformError(501, `${text} are not emulated (D-210)`);
  const word = request.listWord(segment);
  if (word === undefined || word === 'resources') throw noRoute(request, 'POST');
  const { parents } = typeOfWord(word);
  const isAllowed = parentWord === 'resources' ? parents.length > 0 : parents.some((one) => one === parentWord);
  if (!isAllowed) throw noRoute(request, 'POST');
  return word;
}

/** The parent of a create; its absence is 404, or 422 for types that say so (D-182), and one of another type has no such route. */
function parentOf(request: ResourceRequest, word: TypeWord): StoredResource {
  const { parents, unknownParentStatus: status = 404 } = typeOfWord(word);
  request.organization(); // An unknown organization is 404 whatever the type.
  try {
    const parent = request.resource();
    // The path may have named it by `resources`, which says nothing of its type (D-005).
    if (parents.includes(typeOf(parent).word)) return parent;
  } catch (failure) {
    if (failure instanceof PlatformError && failure.status === 404 && status !== 404) {
      throw new PlatformError(status, failure.message);
    }
    throw failure;
  }
  throw noRoute(request, 'POST');
}

function replaceable(request: ResourceRequest, resource: StoredResource): StoredResource {
  if (!typeOf(resource).replaceable) throw noRoute(request, 'PUT');
  return resource;
}

/** What a PATCH of a list is answered. Throws 400. */
export function refuseListPatch(): never {
  throw new PlatformError(400, 'a list cannot be patched; PATCH one of its resources (D-090)');
}

/** `?type=` on providers must name one (D-065). */
function demandProviderType(request: ResourceRequest, word: string | undefined): void {
  const type = singleParameter(request.query, 'type');
  if (word === 'providers' && type !== undefined && providerTypesMatching(type).size === 0) {
    throw new PlatformError(400, `unknown provider type '${type.slice(0, 64)}'`);
  }
}
