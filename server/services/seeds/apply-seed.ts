import { isDeepStrictEqual } from 'node:util';
import type { Operation } from 'fast-json-patch';
import { decodeText } from '../../model/decode-text.ts';
import { PlatformError, reasonOf } from '../../model/errors.ts';
import { isJsonObject, type Json, type JsonObject, memberOf } from '../../model/json.ts';
import { pointerTo, segmentsOf } from '../../model/patch/pointer.ts';
import type { StoredResource, Uuid, WorldView } from '../../model/record.ts';
import { typeOf, typeOfWord } from '../../model/registry.ts';
import { currentPathOf } from '../../model/resource-path.ts';
import { actionsOf } from '../../model/rules/actions.ts';
import { allBelow } from '../../model/rules/hierarchy.ts';
import { replaceAt } from '../../model/rules/property-places.ts';
import { replaceReferences } from '../../model/rules/references.ts';
import { hashedProperties, replaceSecrets } from '../../model/rules/secrets.ts';
import { parseTypeName } from '../../model/type-names.ts';
import type { TypeWord } from '../../model/type-words.ts';
import { isIdentity } from '../../model/types/group.ts';
import { mountedIds } from '../../model/types/mounts.ts';
import { descendants, NOT_EXPORTED, type Seed, type SeedNode, storedSecret } from './seed-node.ts';
import { type Found, LITERAL, SeedScope } from './seed-scope.ts';
import { type GrantEntry, grantsOf, identityWords, plainGrants, type SeedTarget } from './seed-target.ts';

/**
 * Makes a world what a seed says: the default providers, then each resource after those it names, created or patched, then the
 * rights. What is as the seed says is left alone, so applying a seed again does nothing.
 *
 * A resource is known by its id where the seed gives one, else by its name and place. Of its members those are changed that the
 * seed has: description, tags, variables, the properties as a whole, the entitlements as a whole.
 *
 * All references are resolved before the first change; what the target refuses later leaves the changes before it made. Who
 * wants all or nothing hands in a copy of the world.
 *
 * @param options.prune delete what is below the organizations of the seed and is not in it; what stays must not use it
 * @returns the ids of all resources that the seed speaks of, in its order, then of the volumes that its containers asked for
 * @throws SeedError that names the line of what could not be applied
 */
export async function applySeed(
  seed: Seed,
  target: SeedTarget,
  { prune = false }: { prune?: boolean } = {},
): Promise<Uuid[]> {
  if (seed.defaultProviders) await blaming(seed, seed.root, () => target.initializeProviders());
  const scope = SeedScope.ofWorld(seed.root, target.view);
  return new Application(seed, target, scope).run(prune);
}

class Application {
  readonly #seed: Seed;
  readonly #target: SeedTarget;
  readonly #scope: SeedScope;
  readonly #ids = new Map<SeedNode, Uuid>();
  readonly #derived: Uuid[] = [];

  constructor(seed: Seed, target: SeedTarget, scope: SeedScope) {
    this.#seed = seed;
    this.#target = target;
    this.#scope = scope;
  }

  async run(prune: boolean): Promise<Uuid[]> {
    const { root, scope } = this.#seed;
    const order = this.#order();
    const grants: { node: SeedNode; entries: GrantEntry<Found>[] }[] = [];
    for (const node of order) {
      if (node.grants) grants.push({ node, entries: this.#grantEntries(node) });
    }
    for (const node of order) {
      await blaming(this.#seed, node, () => this.#settle(node));
    }
    for (const { node, entries } of grants) {
      await blaming(this.#seed, node, () => this.#grant(node, entries));
    }
    const named = [...[root, ...descendants(root)].map((node) => this.#idOf(node)), ...this.#derived];
    const organizations = scope.map((node) => this.#idOf(node));
    if (prune) await pruneWorld(this.#target, organizations, new Set(named));
    return named;
  }

  /** All resources in the order of the document, but each after its parent and whatever it names. */
  #order(): SeedNode[] {
    const order = new Set<SeedNode>();
    const underway = new Set<SeedNode>();
    const visit = (node: SeedNode) => {
      if (order.has(node)) return;
      if (underway.has(node)) {
        if (this.#scope.present(node)) return;
        throw this.#seed.errorAt(node.path, 'cannot be created: circular reference');
      }
      underway.add(node);
      if (node.parent) visit(node.parent);
      this.#referring(node, (found) => {
        if (typeof found !== 'string') visit(found);
        return '';
      });
      order.add(node);
    };
    const nodes = [this.#seed.root, ...descendants(this.#seed.root)];
    // Organizations first, because a user's home can name one by its fqon, in any order in the document.
    for (const node of [...nodes.filter(({ collection }) => collection === 'orgs'), ...nodes]) {
      visit(node);
    }
    return [...order];
  }

  async #settle(node: SeedNode): Promise<void> {
    const { view } = this.#target;
    const stored = view.find(this.#scope.present(node)?.id ?? '');
    const properties = await this.#written(node, stored);
    if (stored) {
      this.#requireSame(node, stored);
      this.#ids.set(node, stored.id);
      const operations = operationsTo(stored, node, properties);
      if (operations.length > 0) await this.#target.patch(stored.id, operations);
    } else {
      const parentId = this.#idOf(node.parent ?? this.#seed.root);
      const body = { ...node.record, name: node.name, properties: properties ?? {} };
      const { id } = await this.#target.create(parentId, node.collection, body);
      this.#ids.set(node, id);
    }
    const storedRecord = view.find(this.#idOf(node));
    if (storedRecord && node.properties) this.#derived.push(...madeVolumes(node.properties, storedRecord));
  }

  /** Throws if the seed differs in a member of a resource that cannot be changed. */
  #requireSame({ path, name, parent, record }: SeedNode, stored: StoredResource): void {
    const refuse = (member: string, reason: string) => {
      throw this.#seed.errorAt([...path, member], reason);
    };
    const { id, resource_type: type } = record;
    if (typeof id === 'string' && id.toLowerCase() !== stored.id) {
      refuse('id', `in this world '${name}' has the id ${stored.id}, which cannot be changed. Remove the id.`);
    }
    if (parent && this.#idOf(parent) !== stored.parent) {
      refuse('id', `in this world it is the id of '${stored.name}' with another parent, and resources cannot be moved`);
    }
    if (typeof type === 'string' && parseTypeName(type) !== stored.type) {
      refuse('resource_type', `in this world '${name}' is a ${stored.type}, which cannot be changed`);
    }
  }

  /** The properties to store: ids in place of references, and stored values in place of their placeholders. */
  async #written(node: SeedNode, stored: StoredResource | undefined): Promise<JsonObject | undefined> {
    if (!node.properties) return undefined;
    const referring = this.#referring(node, (found) => this.#idOf(found));
    if (!stored) {
      // A user who is created without a password gets a random one.
      for (const name of hashedProperties(typeOfWord(node.collection))) {
        if (referring[name] === NOT_EXPORTED) delete referring[name];
      }
    }
    const properties = replaceSecrets(typeOfWord(node.collection), referring, (value, path) => {
      if (value !== NOT_EXPORTED) return value;
      const storedValue = stored && storedSecret(stored.properties, referring, path);
      if (storedValue !== undefined) return storedValue;
      const reason = `'${NOT_EXPORTED}' keeps the stored value, but no value is stored. Write the value instead.`;
      throw this.#seed.errorAt([...node.path, 'properties', ...path], reason);
    });
    if (!stored) return properties;
    const merged = { ...withCreatedVolumes(properties, stored, this.#target.view) };
    for (const name of hashedProperties(typeOfWord(node.collection))) {
      const [newValue, hash] = [merged[name], stored.properties[name]];
      if (newValue === hash || typeof hash !== 'string') continue;
      const isKept =
        typeof newValue === 'string' ? await this.#target.isPassword(newValue, hash) : newValue === undefined;
      if (isKept) merged[name] = hash;
    }
    return merged;
  }

  #grantEntries(node: SeedNode): GrantEntry<Found>[] {
    const knownActions = actionsOf({ type: typeOfWord(node.collection).name });
    return (node.grants ?? []).map(({ actions, identities = [], without: excluded = [], value }, index) => {
      const at = (...path: PropertyKey[]) => ['entitlements', index, ...path];
      const unknown = actions.findIndex((action) => !knownActions.has(action));
      if (unknown >= 0) {
        const reason = `'${actions[unknown]}' is not an action of ${typeOfWord(node.collection).collection} (D-116)`;
        throw this.#seed.errorAt([...node.path, ...at('actions', unknown)], reason);
      }
      const resolveAll = (names: readonly string[], member: string) =>
        names.map((name, position) => this.#resolve(node, name, identityWords, at(member, position)));
      return { actions, add: resolveAll(identities, 'identities'), remove: resolveAll(excluded, 'without'), value };
    });
  }

  async #grant(node: SeedNode, entries: readonly GrantEntry<Found>[]): Promise<void> {
    const id = this.#idOf(node);
    const idsOf = (identities: readonly Found[]) => identities.map((found) => this.#idOf(found));
    const expectedGrants = grantsOf(
      entries.map((entry) => ({ ...entry, add: idsOf(entry.add), remove: idsOf(entry.remove) })),
    );
    if (isDeepStrictEqual(plainGrants(this.#target.view.find(id)?.grants), expectedGrants)) return;
    for (const identity of Object.values(expectedGrants).flatMap(({ add = [] }) => add)) {
      if (isIdentity(this.#target.view.find(identity))) continue;
      throw this.#seed.errorAt([...node.path, 'entitlements'], `${identity} is not the id of a user or group`);
    }
    await this.#target.setGrants(id, expectedGrants);
  }

  #referring(node: SeedNode, replace: (found: Found) => string): JsonObject {
    return replaceReferences(node.collection, node.properties ?? {}, (text, collections, path) =>
      text.startsWith(LITERAL)
        ? text.slice(LITERAL.length)
        : replace(this.#resolve(node, text, collections, ['properties', ...path])),
    );
  }

  #resolve(node: SeedNode, text: string, collections: readonly TypeWord[], path: readonly PropertyKey[]): Found {
    try {
      return this.#scope.resolve(text, collections, node);
    } catch (cause) {
      throw this.#seed.errorAt([...node.path, ...path], reasonOf(cause), cause);
    }
  }

  #idOf(found: Found): Uuid {
    if (typeof found === 'string') return found;
    const id = this.#ids.get(found) ?? this.#scope.present(found)?.id;
    if (id === undefined) throw new Error(`${pointerTo(found.path)} is named before it is created`);
    return id;
  }
}

/** Runs a part of the work; an error of the target is attributed to the part of the document that it comes from. */
async function blaming<T>(seed: Seed, node: SeedNode, actor: () => Promise<T>): Promise<T> {
  try {
    return await actor();
  } catch (cause) {
    if (!(cause instanceof PlatformError) || cause.status >= 500) throw cause;
    const [detail] = cause.details ?? [];
    const within = detail ? segmentsOf(detail.pointer) : [];
    throw seed.errorAt([...node.path, ...within], detail?.message ?? cause.message, cause);
  }
}

/** Deletes what is not kept: its users first, children before parents. Throws 409 if something that stays uses it; deletions stay. */
async function pruneWorld(
  target: Pick<SeedTarget, 'view' | 'remove'>,
  organizations: readonly Uuid[],
  keptIds: ReadonlySet<Uuid>,
): Promise<void> {
  const { view } = target;
  const doomed = new Set(
    organizations.flatMap((id) => [...allBelow(view, id)]).flatMap(({ id }) => (keptIds.has(id) ? [] : [id])),
  );
  const remove = async (record: StoredResource): Promise<void> => {
    if (!doomed.delete(record.id)) return;
    for (const dependant of [...view.children(record.id), ...view.referrers(record.id)]) await remove(dependant);
    const path = currentPathOf(view, record);
    try {
      await target.remove(record.id);
    } catch (cause) {
      if (!(cause instanceof PlatformError)) throw cause;
      throw new PlatformError(cause.reason, `${path} cannot be pruned: ${cause.message}`, { cause });
    }
  };
  for (const id of doomed) {
    const record = view.find(id);
    if (record) await remove(record);
  }
}

const MOUNT = ['volumes', '*'];
const REQUEST = 'volume_resource';

/** The wanted properties of a container or job in which a volume that was asked for and made before (D-045) is not asked for again. */
function withCreatedVolumes(properties: JsonObject, stored: StoredResource, view: WorldView): JsonObject {
  if (!canMount(stored)) return properties;
  const mounted = mountedIds(stored, 'volumes').flatMap((id) => view.find(id) ?? []);
  return replaceAt(properties, MOUNT, (mount) => {
    const createdVolume = mounted.find(({ name }) => name === memberOf(memberOf(mount, REQUEST), 'name'));
    if (!createdVolume || !isJsonObject(mount)) return mount;
    const { [REQUEST]: _, ...rest } = mount;
    return { ...rest, volume_id: createdVolume.id };
  });
}

/** The volumes that a container or job got for what it asked for. */
function madeVolumes(properties: JsonObject, stored: StoredResource): Uuid[] {
  if (!canMount(stored) || !Array.isArray(properties.volumes)) return [];
  const ids = mountedIds(stored, 'volumes');
  return properties.volumes.flatMap((mount, index) =>
    memberOf(mount, REQUEST) === undefined ? [] : (ids[index] ?? []),
  );
}

function canMount(record: StoredResource): boolean {
  return ['containers', 'jobs'].includes(typeOf(record).collection);
}

/**
 * The JSON Patch that sets each member that a node has, the properties as a whole. Empty when a record has them already.
 * @param properties of the node, with ids in place of references; undefined when it has none
 */
function operationsTo(
  stored: StoredResource,
  { name, record }: Pick<SeedNode, 'name' | 'record'>,
  properties: JsonObject | undefined,
): Operation[] {
  const { description, tags, variables } = record;
  const newMembers = Object.entries({ name, description, tags, variables });
  const members = newMembers.flatMap(([member, value]) =>
    value === undefined || isDeepStrictEqual(value, memberOf(stored, member)) ? [] : [add(value, member)],
  );
  return [...members, ...(properties ? propertyOperations(stored, properties) : [])];
}

function propertyOperations(stored: StoredResource, properties: JsonObject): Operation[] {
  const type = typeOf(stored);
  const fixed = ['parent', ...type.serverSet];
  const [before, after] = [stored.properties, properties].map((propertySet) => comparable(stored, propertySet));
  const names = new Set([...Object.keys(stored.properties), ...Object.keys(properties)]);
  return [...names].flatMap((name): Operation[] => {
    const value = memberOf(properties, name) ?? null;
    if (fixed.includes(name) || isDeepStrictEqual(memberOf(before, name), memberOf(after, name))) return [];
    // A member that is null counts as absent (D-030).
    if (value !== null) return [add(value, 'properties', name)];
    return Object.hasOwn(stored.properties, name) ? [{ op: 'remove', path: pointerTo(['properties', name]) }] : [];
  });
}

function add(value: Json, ...path: string[]): Operation {
  return { op: 'add', path: pointerTo(path), value };
}

/** Properties in which what means the same is the same: ids in lower case, code as source (D-056). */
function comparable(record: StoredResource, properties: JsonObject): JsonObject {
  const { collection } = typeOf(record);
  const copy = replaceReferences(collection, properties, (text) => text.toLowerCase());
  return collection === 'lambdas' && typeof copy.code === 'string' ? { ...copy, code: decodeText(copy.code) } : copy;
}
