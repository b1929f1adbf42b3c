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
import { created, type Given, type ResourceRouteParts } from './route-parts.ts';
import { type Listing, list, read } from './selection.ts';

/** The routes that are the same for every type (D-002, D-004, D-005, D-008). */
export function recordRouter({ service, answer }: ResourceRouteParts): MountedRoute[] {
  const { view } = service;

  const patch = async ({ actor, renderer, body }: Given & { body: Operation[] }, { id }: StoredResource) =>
    renderer.record(await service.patch(actor, id, body, renderer));
  const replace = async ({ actor, renderer, body }: Given & { body: Json | undefined }, { id }: StoredResource) =>
    renderer.record(await service.replace(actor, id, body));
  const remove = ({ actor, query }: Given & { query: DeletionQuery }, { id }: StoredResource) =>
    service.remove(actor, id, query);
  /** Lists of words that are only listed are empty (D-190). */
  const listOf = (asked: Listing, word: string, resources: typeof listOwned, from: StoredResource) =>
    isTypeWord(word) || word === 'resources' ? list(service, asked, resources(view, from, word), word) : [];
  const refuseAction = (): never => {
    throw new PlatformError('not_supported', 'actions on lists, such as import, are not emulated (D-211)');
  };

  return answer(openRoutes, {
    listRecords: (asked) => listOf(asked, asked.path.word, listOwned, asked.found.fqon),
    actOnList: refuseAction,
    createRecord: async ({ actor, body, found, ...asked }) =>
      created(await service.create(actor, found.fqon.id, found.new_word, body), asked),
    patchList: refuseListPatch,
    readRecord: (asked) => read(asked, asked.found.resource_id),
    patchRecord: (asked) => patch(asked, asked.found.resource_id),
    replaceRecord: (asked) => replace(asked, asked.found.replaceable_id),
    deleteRecord: (asked) => remove(asked, asked.found.resource_id),
    listChildRecords: (asked) => listOf(asked, asked.path.child_word, listBelow, asked.found.resource_id),
    actOnChildren: refuseAction,
    createChild: async ({ actor, body, found, ...asked }) =>
      created(await service.create(actor, found.parent_id.id, found.new_word, body), asked),
    patchChildren: refuseListPatch,
    readChild: (asked) => read(asked, asked.found.child_id),
    patchChild: (asked) => patch(asked, asked.found.own_id),
    replaceChild: (asked) => replace(asked, asked.found.own_replaceable_id),
    deleteChild: (asked) => remove(asked, asked.found.own_id),
  });
}
