import { randomUUID } from 'node:crypto';
import { applyPatch, type Operation } from 'fast-json-patch';
import { PlatformError } from '../model/errors.ts';
import { isJsonObject, type JsonObject } from '../model/json.ts';
import type { Grant, StoredResource, Uuid } from '../model/record.ts';
import { typeOfWord } from '../model/registry.ts';
import { parseWith } from '../model/rules/validate.ts';
import { parseTypeName } from '../model/type-names.ts';
import type { TypeWord } from '../model/type-words.ts';
import type { SeedTarget } from '../services/seeds/seed-target.ts';
import { WorldIndex } from '../storage/world/world-index.ts';
import { record } from './small-world.ts';

export const DEFAULT_PROVIDERS = ['default-docker', 'default-lambda', 'default-gateway', 'default-gateway-manager'];

interface Created {
  id: Uuid;
  parentId: Uuid | null;
  collection: TypeWord;
  body: JsonObject;
}

/** A world for tests that accepts everything the schemas of its types allow. */
export class PlainWorld implements SeedTarget {
  readonly rootId = randomUUID();
  readonly created: Created[] = [];
  readonly patches: { id: Uuid; operations: readonly Operation[] }[] = [];
  readonly grants = new Map<Uuid, Record<string, Grant>>();
  readonly view = new WorldIndex();

  constructor() {
    this.#save({ id: this.rootId, parentId: null, collection: 'orgs', body: { name: 'root' } });
  }

  #save(created: Created): void {
    const before = this.view.find(created.id);
    this.view.apply([{ ...(before && { before }), after: this.#record(created) }]);
  }

  #record({ id, parentId, collection, body }: Created): StoredResource {
    const { name, resource_type: type, ...members } = body;
    return record(collection, String(name), {
      ...members,
      id,
      ...(typeof type === 'string' && { type: parseTypeName(type) ?? typeOfWord(collection).name }),
      parent: parentId,
      grants: this.grants.get(id) ?? {},
    });
  }

  async initializeProviders() {
    for (const name of DEFAULT_PROVIDERS) {
      if (!this.#find('providers', name, this.rootId)) await this.create(this.rootId, 'providers', { name });
    }
  }

  #find(collection: TypeWord, name: string, parentId: Uuid): Uuid | undefined {
    return this.created.find(
      (candidate) =>
        candidate.collection === collection && candidate.parentId === parentId && candidate.body.name === name,
    )?.id;
  }

  async create(parentId: Uuid, collection: TypeWord, body: JsonObject) {
    const { name } = body;
    if (typeof name !== 'string') throw new Error('a body without a name');
    if (this.#find(collection, name, parentId)) throw new PlatformError('name_taken', `'${name}' already exists`);
    // Applying a seed draws the password (D-220).
    const drawn = collection === 'users' && { password: 'drawn' };
    parseWith(
      typeOfWord(collection).properties,
      { ...drawn, ...(isJsonObject(body.properties) && body.properties) },
      '/properties',
    );
    const id = typeof body.id === 'string' ? body.id : randomUUID();
    const created = { id, parentId, collection, body };
    this.created.push(created);
    this.#save(created);
    return { id };
  }

  async patch(id: Uuid, operations: readonly Operation[]) {
    this.patches.push({ id, operations });
    const created = this.created.find((candidate) => candidate.id === id);
    if (!created) throw new PlatformError('not_found', `resource ${id} not found`);
    const body = applyPatch(created.body, operations, true, false).newDocument;
    parseWith(typeOfWord(created.collection).properties, body.properties ?? {}, '/properties');
    created.body = body;
    this.#save(created);
  }

  async setGrants(resourceId: Uuid, grants: Record<string, Grant>) {
    this.grants.set(resourceId, grants);
    const before = this.view.find(resourceId);
    if (before) this.view.apply([{ before, after: { ...before, grants } }]);
  }

  async remove(id: Uuid) {
    const at = this.created.findIndex((candidate) => candidate.id === id);
    if (this.view.children(id).length > 0) throw new PlatformError('in_use', 'it has children');
    this.created.splice(at, 1);
    const before = this.view.find(id);
    if (before) this.view.apply([{ before }]);
  }

  isPassword = async (text: string, hash: string) => hash === `hash of ${text}`;

  /** Returns the resource at a path of plural names and names from root, e.g. `orgs/demo/lambdas/hello`. */
  at(path: string): Created {
    const parts = path.split('/');
    let id: Uuid | undefined = this.rootId;
    // In the seeds of these tests, every second part is a plural name.
    for (let at = 0; at < parts.length; at += 2) id = id && this.#find(parts[at] as TypeWord, parts[at + 1] ?? '', id);
    const found = this.created.find((candidate) => candidate.id === id);
    if (!found) throw new Error(`${path} does not exist`);
    return found;
  }

  propertiesAt(path: string) {
    return this.at(path).body.properties;
  }
}
