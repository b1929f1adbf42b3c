import type { Operation } from 'fast-json-patch';
import type { Change } from '../../model/commit.ts';
import { isJsonObject, type Json, type JsonObject } from '../../model/json.ts';
import type { Grant, ResourcesById, StoredResource, Uuid, WorldView } from '../../model/record.ts';
import type { TypeWord } from '../../model/type-words.ts';
import { WorldIndex } from '../../storage/world/world-index.ts';
import { applyChanges, changesBetween, type WorldDifference } from '../../storage/world/world-patch.ts';
import type { CommitRequest, WorldStore } from '../../storage/world/world-store.ts';
import type { Actor } from '../resources/actor.ts';
import type { ControlPlane } from '../resources/control-plane.ts';
import { noneAsUndefined, withIdentities } from '../security/entitlements.ts';
import { type RandomPasswords, verifyPassword } from '../security/passwords.ts';

/** The world that a seed is applied to; acts as the root user. What it refuses it throws as PlatformError. */
export interface SeedTarget {
  readonly view: WorldView;
  /** Makes the default providers that are missing (D-067). */
  initializeProviders(): Promise<unknown>;
  create(parentId: Uuid, collection: TypeWord, body: JsonObject): Promise<{ id: Uuid }>;
  patch(id: Uuid, operations: readonly Operation[]): Promise<unknown>;
  /** Replaces all grants of a resource (D-115). */
  setGrants(id: Uuid, grants: Grants): Promise<unknown>;
  /** Deletes a resource, unless something is in the way. */
  remove(id: Uuid): Promise<unknown>;
  isPassword(text: string, hash: string): Promise<boolean>;
}

/**
 * A world as seeds are applied to it: every change goes through the resource service, as if its client had made it. A user without a
 * password gets a random one (D-220).
 */
export function seedTarget(
  { service, defaults }: Pick<ControlPlane, 'service' | 'defaults'>,
  actor: Actor,
  passwords: RandomPasswords,
): SeedTarget {
  return {
    view: service.view,
    initializeProviders: () => defaults.initialize(actor),
    async create(parentId, collection, body) {
      const { name } = body;
      const properties = isJsonObject(body.properties) ? body.properties : {};
      const isWithoutPassword = collection === 'users' && properties.password === undefined;
      if (!isWithoutPassword || typeof name !== 'string') return service.create(actor, parentId, collection, body);
      const password = await passwords.draw(name);
      return service.create(actor, parentId, collection, { ...body, properties: { ...properties, password } });
    },
    patch: (id, operations) => service.patch(actor, id, operations),
    setGrants: (id, grants) => service.setGrants(actor, id, () => ({ grants: noneAsUndefined(grants) })),
    remove: (id) => service.remove(actor, id),
    isPassword: verifyPassword,
  };
}

export const identityWords: readonly TypeWord[] = ['groups', 'users'];

/** The identities that are added to and removed from the entitlements of one resource, by action (D-115). */
type Grants = Readonly<Record<string, Grant>>;

/** An entry of a document whose references to identities lead to something. */
export interface GrantEntry<Identity = Uuid> {
  actions: readonly string[];
  add: readonly Identity[];
  remove: readonly Identity[];
  value: Json | undefined;
}

/** Combines the grants of entries: identities of the same action add up, and the last value applies. */
export function grantsOf(entries: readonly GrantEntry[]): Grants {
  const grants: Record<string, Grant> = {};
  for (const { actions, add, remove, value } of entries) {
    for (const action of actions) {
      const before = grants[action];
      grants[action] = {
        ...before,
        add: [...(before?.add ?? []), ...add],
        remove: [...(before?.remove ?? []), ...remove],
        ...(value !== undefined && { value }),
      };
    }
  }
  return plainGrants(grants);
}

/** Returns the grants without parts that have no effect: empty lists, repeated identities, actions with neither. */
export function plainGrants(grants: Grants | undefined): Grants {
  return withIdentities(grants, (ids) => [...new Set(ids)]);
}

/** Grants as a document writes them: actions that are granted alike in one entry, in the order of their names. */
export function entriesOf(grants: Grants | undefined, refer: (id: Uuid) => string): JsonObject[] {
  const entries = new Map<string, JsonObject & { actions: string[] }>();
  const byAction = Object.entries(plainGrants(grants)).sort(([a], [other]) => (a < other ? -1 : 1));
  for (const [action, { add, remove, value }] of byAction) {
    const rest = {
      ...(add && { identities: add.map(refer) }),
      ...(remove && { without: remove.map(refer) }),
      ...(value !== undefined && { value }),
    };
    const alike = JSON.stringify(rest);
    const entry = entries.get(alike);
    if (entry) entry.actions.push(action);
    else entries.set(alike, { actions: [action], ...rest });
  }
  return [...entries.values()];
}

/** A copy of a world to try changes on: commits change the copy only, and what they come to can be read off in the end. */
export class TrialWorld implements Pick<WorldStore, 'view' | 'commit'> {
  /** The copied world. Its records are shared, since records never change in place. */
  readonly before: ResourcesById;
  readonly #index: WorldIndex;
  readonly #present: Map<Uuid, StoredResource>;

  constructor(resources: ResourcesById) {
    this.before = new Map(resources);
    this.#present = new Map(resources);
    this.#index = WorldIndex.indexOf(resources.values());
  }

  get view(): WorldView {
    return this.#index;
  }

  async commit({ put = [], remove = [] }: CommitRequest): Promise<undefined> {
    const change = (id: Uuid, after?: StoredResource): Change => {
      const before = this.#present.get(id);
      return { ...(before && { before }), ...(after && { after }) };
    };
    const changes = [...put.map((record) => change(record.id, record)), ...remove.map((id) => change(id))];
    this.#index.apply(changes);
    applyChanges(this.#present, changes);
  }

  /** The changes that turn the copied world into the current copy. */
  difference(): WorldDifference {
    return changesBetween(this.before, this.#present);
  }
}
