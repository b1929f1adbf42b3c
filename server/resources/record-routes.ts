import type { Operation } from 'fast-json-patch';
import { openRows } from '../contract/meta-open.ts';
import type { Served } from '../http/serve.ts';
import { PlatformError } from '../model/errors.ts';
import type { Json } from '../model/json.ts';
import type { StoredResource } from '../model/record.ts';
import { isTypeWord } from '../model/type-words.ts';
import type { DeletionQuery } from './deletion.ts';
import { listBelow, listOwned } from './lists.ts';
import { refuseListPatch } from './refused-routes.ts';
import { created, type Given, type ResourceRouteParts } from './route-parts.ts';
import { type Listing, list, read } from './selection.ts';

/**
 * The routes that are the same for every type of the registry (D-002, D-004, D-005, D-008): lists, child lists, create,
 * read, patch, replace and remove. What a type has beyond them stands in a file of its own.
 */
export function recordRoutes({ service, answer }: ResourceRouteParts): Served[] {
  const { view } = service;

  const patch = async ({ act, renderer, body }: Given & { body: Operation[] }, { id }: StoredResource) =>
    renderer.record(await service.patch(act, id, body, renderer));
  const replace = async ({ act, renderer, body }: Given & { body: Json | undefined }, { id }: StoredResource) =>
    renderer.record(await service.replace(act, id, body));
  const remove = ({ act, query }: Given & { query: DeletionQuery }, { id }: StoredResource) =>
    service.remove(act, id, query);
  /** Lists of words that are only listed are empty (D-190). */
  const listOf = (asked: Listing, word: string, resources: typeof listOwned, from: StoredResource) =>
    isTypeWord(word) || word === 'resources' ? list(service, asked, resources(view, from, word), word) : [];
  const refuseAction = (): never => {
    throw new PlatformError(501, 'actions on lists, such as import, are not emulated (D-211)');
  };

  return answer(openRows, {
    listRecords: (asked) => listOf(asked, asked.path.word, listOwned, asked.found.fqon),
    actOnList: refuseAction,
    createRecord: async ({ act, body, found, ...asked }) =>
      created(await service.create(act, found.fqon.id, found.new_word, body), asked),
    patchList: refuseListPatch,
    readRecord: (asked) => read(asked, asked.found.resource_id),
    patchRecord: (asked) => patch(asked, asked.found.resource_id),
    replaceRecord: (asked) => replace(asked, asked.found.replaceable_id),
    deleteRecord: (asked) => remove(asked, asked.found.resource_id),
    listChildRecords: (asked) => listOf(asked, asked.path.child_word, listBelow, asked.found.resource_id),
    actOnChildren: refuseAction,
    createChild: async ({ act, body, found, ...asked }) =>
      created(await service.create(act, found.parent_id.id, found.new_word, body), asked),
    patchChildren: refuseListPatch,
    readChild: (asked) => read(asked, asked.found.child_id),
    patchChild: (asked) => patch(asked, asked.found.own_id),
    replaceChild: (asked) => replace(asked, asked.found.own_replaceable_id),
    deleteChild: (asked) => remove(asked, asked.found.own_id),
  });
}
