import { isDeepStrictEqual } from 'node:util';
import { type ErrorDetail, PlatformError } from '../../model/errors.ts';
import type { StoredResource, Uuid, WorldView } from '../../model/record.ts';
import { typeOf } from '../../model/registry.ts';
import type { WriteConstraints } from '../../model/resource-type.ts';
import { owningOrganization } from '../../model/rules/hierarchy.ts';
import { namedBy } from '../../model/rules/references.ts';
import type { TypeWord } from '../../model/type-words.ts';
import { WorldIndex } from '../../storage/world/world-index.ts';

/**
 * Returns why changes would leave an invalid world: something is missing, a name is taken, or the rules of a type
 * reject a record.
 */
export function violationsIn(
  view: WorldView,
  constraints: WriteConstraints,
  changes: { put: readonly StoredResource[]; remove: readonly Uuid[] },
): ErrorDetail[] {
  const after = new ChangedView(view, changes);
  const violations: ErrorDetail[] = [];
  for (const id of changes.remove) {
    violations.push(...violationsInRemoval(view, after, id));
  }
  for (const record of changes.put) {
    violations.push(...violationsInRecord(record, { previous: view.find(record.id), after, constraints }));
  }
  return violations;
}

function violationsInRemoval(view: WorldView, after: WorldView, id: Uuid): ErrorDetail[] {
  const pointer = `/resources/${id}`;
  if (id === view.root.id || id === view.root.owner) {
    return [{ pointer, message: 'the root organization and the root user cannot be deleted' }];
  }
  const name = (resource: StoredResource) => `${typeOf(resource).singular} '${resource.name}'`;
  return [
    ...after.children(id).map((child) => ({ pointer, message: `${name(child)} is below it` })),
    ...after.referrers(id).map((referrer) => ({ pointer, message: `${name(referrer)} names it` })),
  ];
}

function violationsInRecord(
  record: StoredResource,
  {
    previous,
    after,
    constraints,
  }: { previous: StoredResource | undefined; after: WorldView; constraints: WriteConstraints },
): ErrorDetail[] {
  const pointer = `/resources/${record.id}`;
  const type = typeOf(record);
  const violations: ErrorDetail[] = [];

  const parent = after.find(record.parent ?? '');
  if (!parent && record.parent !== null) {
    return [{ pointer: `${pointer}/parent`, message: `its parent ${record.parent} does not exist` }];
  }
  const scope = type.nameScope === 'world' ? undefined : (record.parent ?? undefined);
  const namesakes = after.named(type.collection, record.name, scope).filter(({ id }) => id !== record.id);
  if (namesakes.length > 0) {
    violations.push({
      pointer: `${pointer}/name`,
      message: `the name '${record.name}' is taken by another ${type.singular}`,
    });
  }
  const named = new Set(previous && namedBy(previous));
  const missing = namedBy(record).filter((id) => !named.has(id) && !after.find(id));
  for (const id of new Set(missing)) violations.push({ pointer, message: `it names ${id}, which does not exist` });
  if (violations.length > 0 || !parent) return violations;

  if (previous && isDeepStrictEqual(previous.properties, record.properties) && previous.name === record.name) return [];
  try {
    type.validate?.(record, { ...constraints, view: after, parent, ...(previous && { previous }) });
    return [];
  } catch (error) {
    if (error instanceof PlatformError) return [{ pointer, message: error.message }];
    throw error;
  }
}

/** The world as some changes would leave it, without applying them: for checks before the changes. */
export class ChangedView implements WorldView {
  readonly #view: WorldView;
  readonly #put = new WorldIndex();
  readonly #changed: ReadonlyMap<Uuid, StoredResource | undefined>;

  constructor(view: WorldView, changes: { put: readonly StoredResource[]; remove: readonly Uuid[] }) {
    this.#view = view;
    this.#put.begin(changes.put);
    this.#changed = new Map<Uuid, StoredResource | undefined>([
      ...changes.remove.map((id) => [id, undefined] as const),
      ...changes.put.map((record) => [record.id, record] as const),
    ]);
  }

  get root(): StoredResource {
    return this.find(this.#view.root.id) ?? this.#view.root;
  }

  find(id: Uuid): StoredResource | undefined {
    return this.#changed.has(id) ? this.#changed.get(id) : this.#view.find(id);
  }

  children(parentId: Uuid, collection?: TypeWord): readonly StoredResource[] {
    return this.#merged(this.#view.children(parentId, collection), this.#put.children(parentId, collection));
  }

  ownedBy(orgId: Uuid, collection: TypeWord): readonly StoredResource[] {
    const put = this.#put.all(collection).filter((record) => owningOrganization(this, record).id === orgId);
    return this.#merged(this.#view.ownedBy(orgId, collection), put);
  }

  all(collection: TypeWord): readonly StoredResource[] {
    return this.#merged(this.#view.all(collection), this.#put.all(collection));
  }

  named(collection: TypeWord, name: string, parentId?: Uuid): readonly StoredResource[] {
    return this.#merged(this.#view.named(collection, name, parentId), this.#put.named(collection, name, parentId));
  }

  referrers(id: string, collection?: TypeWord): readonly StoredResource[] {
    return this.#merged(this.#view.referrers(id, collection), this.#put.referrers(id, collection));
  }

  referrersOutside(orgId: Uuid, id: string, collection: TypeWord): readonly StoredResource[] {
    return this.referrers(id, collection).filter((record) => owningOrganization(this, record).id !== orgId);
  }

  #merged(present: readonly StoredResource[], put: readonly StoredResource[]): readonly StoredResource[] {
    return [...present.filter(({ id }) => !this.#changed.has(id)), ...put];
  }
}
