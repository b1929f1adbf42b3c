import { randomUUID } from 'node:crypto';
import type { JsonObject } from '../model/json.ts';
import type { Grant, StoredResource, Uuid } from '../model/record.ts';
import type { TypeWord } from '../model/type-words.ts';
import { WorldIndex } from '../storage/world/world-index.ts';
import { record } from './small-world.ts';

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
export class TestWorld extends WorldIndex {
  readonly rootUser: StoredResource;

  constructor() {
    super();
    const rootUserId = randomUUID();
    const root = this.#put('orgs', null, { name: 'root', owner: rootUserId });
    this.rootUser = this.add('users', root, { id: rootUserId, name: 'root', owner: rootUserId });
  }

  add(collection: TypeWord, parent: StoredResource, init: ResourceInit = {}): StoredResource {
    return this.#put(collection, parent.id, { owner: this.root.owner, ...init });
  }

  /** Replaces a resource with a changed copy, like the store. */
  change(id: Uuid, changes: Partial<StoredResource>): void {
    const before = this.find(id);
    if (before) this.apply([{ before, after: { ...before, ...changes } }]);
  }

  remove(id: Uuid): void {
    const before = this.find(id);
    if (before) this.apply([{ before }]);
  }

  #put(collection: TypeWord, parent: Uuid | null, init: ResourceInit): StoredResource {
    const { id = randomUUID(), owner = id, name = id, ...members } = init;
    const at = '2026-01-01T00:00:00.000Z';
    const [created, modified] = [
      { by: owner, at },
      { action: 'create' as const, by: owner, at },
    ];
    const after = record(collection, name, { id, parent, owner, created, modified, ...members });
    this.apply([{ after }]);
    return after;
  }
}
