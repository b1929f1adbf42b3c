import type { Operation } from 'fast-json-patch';
import { openRoutes } from '../../api/routes/meta-open.ts';
import type { MountedRoute } from '../../api/server/mount-routes.ts';
import { PlatformError } from '../../model/errors.ts';
import type { Json } from '../../model/json.ts';
import type { StoredResource } from '../../model/record.ts';
import { isTypeWord } from '../../model/type-words.ts';
import type { DeletionQuery } from './deletion.ts';
import { listBelow, listOwned } from './lists.ts';
import { refuseListPatch } from './refused-routes.ts';
import { created, type ExtraInput, type ResourceRouteParts } from './route-parts.ts';
import { type Listing, list, read } from './selection.ts';

/** The routes that are the same for every type (D-002, D-004, D-005, D-008). */
export function recordRouter({ service, answer }: ResourceRouteParts): MountedRoute[] {
  const { view } = service;

  const patch = async ({ actor, renderer, body }: ExtraInput & { body: Operation[] }, { id }: StoredResource) =>
    renderer.record(await service.patch(actor, id, body, renderer));
  const replace = async ({ actor, renderer, body }: ExtraInput & { body: Json | undefined }, { id }: StoredResource) =>
    renderer.record(await service.replace(actor, id, body));
  const remove = ({ actor, query }: ExtraInput & { query: DeletionQuery }, { id }: StoredResource) =>
    service.remove(actor, id, query);
  /** Lists of words that are only listed are empty (D-190). */
  const listOf = (input: Listing, collection: string, resources: typeof listOwned, from: StoredResource) =>
    isTypeWord(collection) || collection === 'resources'
      ? list(service, input, resources(view, from, collection), collection)
      : [];
  const refuseAction = (): never => {
    throw new PlatformError('not_supported', 'actions on lists, such as import, are not emulated (D-211)');
  };

  return answer(openRoutes, {
    listRecords: (input) => listOf(input, input.path.word, listOwned, input.found.fqon),
    actOnList: refuseAction,
    createRecord: async ({ actor, body, found, ...input }) =>
      created(await service.create(actor, found.fqon.id, found.new_word, body), input),
    patchList: refuseListPatch,
    readRecord: (input) => read(input, input.found.resource_id),
    patchRecord: (input) => patch(input, input.found.resource_id),
    replaceRecord: (input) => replace(input, input.found.replaceable_id),
    deleteRecord: (input) => remove(input, input.found.resource_id),
    listChildRecords: (input) => listOf(input, input.path.child_word, listBelow, input.found.resource_id),
    actOnChildren: refuseAction,
    createChild: async ({ actor, body, found, ...input }) =>
      created(await service.create(actor, found.parent_id.id, found.new_word, body), input),
    patchChildren: refuseListPatch,
    readChild: (input) => read(input, input.found.child_id),
    patchChild: (input) => patch(input, input.found.own_id),
    replaceChild: (input) => replace(input, input.found.own_replaceable_id),
    deleteChild: (input) => remove(input, input.found.own_id),
  });
}
