import { booleanParameter, singleParameter } from '../http/query.ts';
import { PlatformError } from '../model/errors.ts';
import { parsePatch } from '../model/patch.ts';
import type { StoredResource } from '../model/record.ts';
import { fullNamesOf, typeOf, typeOfWord } from '../model/registry.ts';
import { providerTypesMatching } from '../model/type-names.ts';
import { listedOnlyWords, type TypeWord } from '../model/type-words.ts';
import { isReferringList, listBelow, listOwned } from './lists.ts';
import { type Answer, created, noRoute, ok, type ResourceRequest, type Route } from './request.ts';
import type { ResourceService } from './resource-service.ts';
import { list, read, ruleTypeOf } from './selection.ts';

const ruleTypes: readonly string[] = fullNamesOf(typeOfWord('rules'));

/**
 * The routes that are the same for every type of the registry (D-002, D-004, D-005, D-008): lists, child lists, create,
 * read, patch, replace and remove. What a type has beyond them stands in a file of its own.
 */
export function recordRoutes(service: ResourceService): Route[] {
  const { view } = service;

  const create = async (request: ResourceRequest, parent: StoredResource, word: TypeWord): Promise<Answer> => {
    return created(await service.create(request.act, parent.id, word, await request.json()), request.renderer);
  };
  const patch = async (request: ResourceRequest, resource: StoredResource): Promise<Answer> => {
    const { act, renderer } = request;
    const read = async () => parsePatch(await request.patchJson());
    const patched = await service.patch(act, resource.id, read, renderer);
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

  const byId = (path: string, find: (request: ResourceRequest) => StoredResource): Route[] => [
    { verb: 'get', path, handle: (request) => read(service, request, find(request)) },
    { verb: 'patch', path, handle: (request) => patch(request, find(request)) },
    { verb: 'put', path, handle: (request) => replace(request, replaceable(request, find(request))) },
    { verb: 'delete', path, handle: (request) => remove(request, find(request)) },
  ];

  return [
    { verb: 'get', path: '/:fqon', handle: (request) => read(service, request, request.organization()) },
    { verb: 'patch', path: '/:fqon', handle: (request) => patch(request, request.organization()) },
    { verb: 'delete', path: '/:fqon', handle: (request) => remove(request, request.organization()) },
    { verb: 'post', path: '/:fqon', handle: (request) => create(request, request.organization(), 'orgs') },

    {
      verb: 'get',
      path: '/:fqon/:word',
      handle: (request) => {
        const word = request.listWord('word');
        const organization = request.organization();
        demandSubType(request, word);
        return word ? list(service, request, listOwned(view, organization, word), word) : ok([]);
      },
    },
    {
      verb: 'post',
      path: '/:fqon/:word',
      handle: (request) => create(request, request.organization(), creatable(request, 'word', 'orgs')),
    },
    { verb: 'patch', path: '/:fqon/:word', handle: refuseListPatch },

    ...byId('/:fqon/:word/:id', (request) => request.resource()),

    {
      verb: 'get',
      path: '/:fqon/:word/:id/:childWord',
      handle: (request) => {
        const word = request.listWord('childWord');
        const parent = request.resource();
        demandSubType(request, word);
        return word ? list(service, request, listBelow(view, parent, word), word) : ok([]);
      },
    },
    {
      verb: 'post',
      path: '/:fqon/:word/:id/:childWord',
      handle: (request) => {
        demandOwnList(request);
        const word = creatable(request, 'childWord', request.segment('word'));
        return create(request, parentOf(request, word), word);
      },
    },
    {
      verb: 'delete',
      path: '/:fqon/:word/:id/:childWord',
      exists: (segment) => isReferringList(segment('word'), segment('childWord')),
      handle: (request) => {
        demandOwnList(request);
        throw noRoute(request);
      },
    },
    {
      verb: 'patch',
      path: '/:fqon/:word/:id/:childWord',
      handle: (request) => {
        demandOwnList(request);
        return refuseListPatch();
      },
    },

    ...byId('/:fqon/:word/:id/:childWord/:childId', (request) => request.childResource()),
  ];
}

/** Throws 404 for a write to a list that only refers to what stands elsewhere; it says where (D-004). */
function demandOwnList(request: ResourceRequest): void {
  const word = request.listWord('childWord');
  if (!word || word === 'resources' || !isReferringList(request.segment('word'), word)) return;
  request.resource();
  const { noun, parents } = typeOfWord(word);
  const places = parents.map((place) => (place === 'orgs' ? `/{fqon}/${word}` : `/{fqon}/${place}/{id}/${word}`));
  const at = `${request.segment('word')} only refer to ${word}`;
  throw new PlatformError(
    404,
    `${at}: ${request.verb} one at /${request.segment('fqon')}/${word}/{id}; a new ${noun} is made at ${places.join(' or ')}`,
  );
}

/** The type word of a POST to a list; throws 501 for types that are only listed (D-210), 404 where it has no such parent. */
function creatable(request: ResourceRequest, segment: string, parentWord: string): TypeWord {
  const text = request.segment(segment);
  if (singleParameter(request.query, 'action') !== undefined) {
    throw new PlatformError(501, 'actions on lists, such as import, are not emulated (D-211)');
  }
  if (listedOnlyWords.some((word) => word === text)) throw new PlatformError(501, `${text} are not emulated (D-210)`);
  const word = request.listWord(segment);
  if (word === undefined || word === 'resources') throw noRoute(request);
  const { parents } = typeOfWord(word);
  const isAllowed = parentWord === 'resources' ? parents.length > 0 : parents.some((one) => one === parentWord);
  if (!isAllowed) throw noRoute(request);
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
  throw noRoute(request);
}

function replaceable(request: ResourceRequest, resource: StoredResource): StoredResource {
  if (!typeOf(resource).replaceable) throw noRoute(request);
  return resource;
}

/** What a PATCH of a list is answered. Throws 400. */
export function refuseListPatch(): never {
  throw new PlatformError(400, 'a list cannot be patched; PATCH one of its resources (D-090)');
}

/** `?type=` on providers and rules must name one (D-065, D-187). */
export function demandSubType(request: ResourceRequest, word: string | undefined): void {
  const type = singleParameter(request.query, 'type');
  if (type === undefined) return;
  if (word === 'providers' && providerTypesMatching(type).size === 0) throw unknownType('provider', type);
  if (word === 'rules' && !ruleTypes.includes(ruleTypeOf(type))) throw unknownType('rule', type);
}

function unknownType(noun: string, type: string): PlatformError {
  return new PlatformError(400, `unknown ${noun} type '${type.slice(0, 64)}'`);
}
