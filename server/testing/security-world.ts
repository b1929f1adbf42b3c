import { randomUUID } from 'node:crypto';
import type { JsonObject } from '../model/json.ts';
import type { Grant, StoredResource, Uuid, WorldView } from '../model/record.ts';
import { typeOf, typeOfWord } from '../model/registry.ts';
import { owningOrganization } from '../model/rules/hierarchy.ts';
import type { TypeWord } from '../model/type-words.ts';

/** The members of a resource that a test sets; the others get default values. */
export interface ResourceInit {
  id?: Uuid;
  name?: string;
  description?: string;
  owner?: Uuid;
  properties?: JsonObject;
  grants?: Record<string, Grant>;
}

/** A world in memory with a root organization and its user, for tests that do not need the store. */
export class TestWorld implements WorldView {
  readonly root: StoredResource;
  readonly rootUser: StoredResource;
  readonly #resources = new Map<Uuid, StoredResource>();

  constructor() {
    const rootUserId = randomUUID();
    this.root = this.#put('orgs', null, { name: 'root', owner: rootUserId });
    this.rootUser = this.add('users', this.root, { id: rootUserId, name: 'root', owner: rootUserId });
  }

  add(collection: TypeWord, parent: StoredResource, init: ResourceInit = {}): StoredResource {
    return this.#put(collection, parent.id, init);
  }

  /** Replaces a resource with a changed copy, like the store. */
  change(id: Uuid, changes: Partial<StoredResource>): void {
    const before = this.#resources.get(id);
    if (before) this.#resources.set(id, { ...before, ...changes });
  }

  remove(id: Uuid): void {
    this.#resources.delete(id);
  }

  find(id: Uuid): StoredResource | undefined {
    return this.#resources.get(id);
  }

  children(parentId: Uuid, collection?: TypeWord): StoredResource[] {
    return this.#where(
      (candidate) =>
        candidate.parent === parentId && (collection === undefined || typeOf(candidate).collection === collection),
    );
  }

  ownedBy(orgId: Uuid, collection: TypeWord): StoredResource[] {
    return this.all(collection).filter(
      (candidate) => candidate.parent !== null && owningOrganization(this, candidate).id === orgId,
    );
  }

  all(collection: TypeWord): StoredResource[] {
    return this.#where((candidate) => typeOf(candidate).collection === collection);
  }

  named(collection: TypeWord, name: string, parentId?: Uuid): StoredResource[] {
    return this.all(collection).filter(
      (candidate) => candidate.name === name && (parentId === undefined || candidate.parent === parentId),
    );
  }

  referrers(id: Uuid, collection?: TypeWord): StoredResource[] {
    const names = (candidate: StoredResource) => JSON.stringify([candidate.properties, candidate.grants]).includes(id);
    return this.#where((candidate) => (!collection || typeOf(candidate).collection === collection) && names(candidate));
  }

  referrersOutside(orgId: Uuid, id: string, collection: TypeWord): StoredResource[] {
    return this.referrers(id, collection).filter((candidate) => owningOrganization(this, candidate).id !== orgId);
  }

  #where(matches: (candidate: StoredResource) => boolean): StoredResource[] {
    return [...this.#resources.values()].filter(matches);
  }

  #put(collection: TypeWord, parent: Uuid | null, init: ResourceInit): StoredResource {
    const { id = randomUUID(), owner = this.root.owner, name = id, properties = {}, ...rest } = init;
    const at = '2026-01-01T00:00:00.000Z';
    const resource: StoredResource = {
      id,
      type: typeOfWord(collection).name,
      name,
      parent,
      state: 'Active',
      owner,
      created: { by: owner, at },
      modified: { action: 'create', by: owner, at },
      properties,
      ...rest,
    };
    this.#resources.set(id, resource);
    return resource;
  }
}
