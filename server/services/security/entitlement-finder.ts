import type { StoredResource, Uuid, WorldView } from '../../model/record.ts';
import { typeWords } from '../../model/registry.ts';
import { actionsOf } from '../../model/rules/actions.ts';
import { type Entitlement, entitlementId, findEntitlement } from './entitlements.ts';

/** Most entitlement ids kept in memory, some 100 bytes each; above it all are forgotten and learnt again. */
const MAX_REMEMBERED = 250_000;

/** Position of the version in a UUID. A derived one has version 5; others cannot be found. */
const VERSION_AT = 14;

/** Ids do not reveal resources (D-115), so they are computed once: the first search for an unknown one reads the world, later ones what is new. */
export class EntitlementFinder {
  readonly #view: WorldView;
  readonly #resourceOf = new Map<Uuid, Uuid>();
  readonly #learnt = new Set<Uuid>();

  constructor(view: WorldView) {
    this.#view = view;
  }

  /** @param organization where to look first */
  find(id: Uuid, organization: StoredResource): Entitlement | undefined {
    if (id[VERSION_AT] !== '5') return undefined;
    const resourceId = this.#resourceOf.get(id);
    if (resourceId !== undefined) return this.#at(resourceId, id);
    for (const resource of this.#candidates(organization)) {
      if (this.remember(resource).has(id)) return this.#at(resource.id, id);
    }
    return undefined;
  }

  /** Learns the ids of a resource's entitlements, for clients that come back with one. Returns those that are new. */
  remember(resource: StoredResource): ReadonlySet<Uuid> {
    if (this.#learnt.has(resource.id)) return NO_IDS;
    if (this.#resourceOf.size > MAX_REMEMBERED) {
      this.#resourceOf.clear();
      this.#learnt.clear();
    }
    const ids = new Set(Array.from(actionsOf(resource), (action) => entitlementId(resource.id, action)));
    for (const id of ids) this.#resourceOf.set(id, resource.id);
    this.#learnt.add(resource.id);
    return ids;
  }

  #at(resourceId: Uuid, id: Uuid): Entitlement | undefined {
    const resource = this.#view.find(resourceId);
    if (!resource) return undefined;
    for (const action of actionsOf(resource)) {
      if (entitlementId(resourceId, action) === id) return findEntitlement(this.#view, resource, action);
    }
    return undefined;
  }

  *#candidates(organization: StoredResource): Generator<StoredResource> {
    yield organization;
    for (const collection of typeWords) yield* this.#view.ownedBy(organization.id, collection);
    for (const collection of typeWords) yield* this.#view.all(collection);
  }
}

const NO_IDS: ReadonlySet<Uuid> = new Set();
