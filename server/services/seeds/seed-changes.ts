import { isDeepStrictEqual } from 'node:util';
import jsonPatch from 'fast-json-patch';
import type { SeedChange } from '../../api/routes/seeds.ts';
import type { JsonObject } from '../../model/json.ts';
import type { StoredResource, Uuid, WorldView } from '../../model/record.ts';
import { typeOf } from '../../model/registry.ts';
import { pathOf } from '../../model/resource-path.ts';
import { type FormOptions, formOf } from './seed-form.ts';
import { storedSecret } from './seed-secrets.ts';

const { compare } = jsonPatch;

/** A world before and after a seed was applied to it. */
export interface AppliedWorld extends Pick<FormOptions, 'typePrefix'> {
  before(id: Uuid): StoredResource | undefined;
  after: WorldView;
}

/** Placeholders in a patch for values that cannot be read. */
const HIDDEN = '<hidden>';
const NEW_AND_HIDDEN = '<hidden, another than before>';

/** The changes of each of these resources, in their order, with references as paths. */
export function seedChanges(ids: Iterable<Uuid>, world: AppliedWorld): SeedChange[] {
  const find = (id: Uuid) => world.after.find(id) ?? world.before(id);
  const formed = (record: StoredResource, previous?: StoredResource): JsonObject => ({
    name: record.name,
    ...formOf(record, {
      ...world,
      refer: (id) => {
        const target = find(id);
        return target ? pathOf(target, find) : id;
      },
      secret: (value, path) => {
        const previousValue = previous && storedSecret(previous.properties, record.properties, path);
        return !previous || isDeepStrictEqual(value, previousValue) ? HIDDEN : NEW_AND_HIDDEN;
      },
    }),
  });
  const changeOf = (
    before: StoredResource | undefined,
    after: StoredResource | undefined,
  ): Pick<SeedChange, 'action' | 'patch'> => {
    if (!after) return { action: 'delete', patch: [{ op: 'remove', path: '' }] };
    if (!before) return { action: 'create', patch: [{ op: 'add', path: '', value: formed(after) }] };
    if (isDeepStrictEqual(before, after)) return { action: 'unchanged', patch: [] };
    return { action: 'update', patch: compare(formed(before), formed(after, before)) };
  };
  const changes: SeedChange[] = [];
  for (const id of new Set(ids)) {
    const record = find(id);
    if (!record) continue;
    const change = changeOf(world.before(id), world.after.find(id));
    changes.push({ path: pathOf(record, find), type: typeOf(record).collection, id, ...change });
  }
  return changes;
}
