import type { Authorizer } from '../../model/caller.ts';
import type { Json } from '../../model/json.ts';
import { derivedId, type Grant, type StoredResource, type Uuid, type WorldView } from '../../model/record.ts';
import { typeWords } from '../../model/registry.ts';
import { actionsOf } from '../../model/rules/actions.ts';
import { ancestors } from '../../model/rules/hierarchy.ts';

/** The identities that may do one action on one resource (D-115). It is computed, never stored. */
export interface Entitlement {
  /** UUIDv5 of the resource's id and the action. */
  id: Uuid;
  /** `{resource id}.{action}` */
  name: string;
  action: string;
  resource: StoredResource;
  /** Users and groups that exist: the creator, those inherited, those added here. */
  identities: Uuid[];
  value?: Json;
}

/** The entitlements of a resource itself, one per action, its own actions first (D-115, D-119). */
export function entitlementsOf(view: WorldView, resource: StoredResource): Entitlement[] {
  return Array.from(actionsOf(resource), (action) => compute(view, resource, action));
}

/** The entitlement of a resource for an action; undefined when the resource has no such action (D-116). */
export function findEntitlement(view: WorldView, resource: StoredResource, action: string): Entitlement | undefined {
  return actionsOf(resource).has(action) ? compute(view, resource, action) : undefined;
}

function compute(view: WorldView, resource: StoredResource, action: string): Entitlement {
  const value = resource.grants?.[action]?.value;
  return {
    id: derivedId(resource.id, action),
    name: `${resource.id}.${action}`,
    action,
    resource,
    identities: [...identitiesOf(view, resource, action)].filter((id) => view.find(id) !== undefined),
    ...(value !== undefined && { value }),
  };
}

/** Identities that are entitled without the grants of the resource itself: its creator, then the inherited ones. */
function inheritedBy(view: WorldView, resource: StoredResource, action: string): Set<Uuid> {
  const parent = resource.parent === null ? undefined : view.find(resource.parent);
  // What has an action is below nothing that has it not (actionsByWord), so the parent need not be asked for it.
  return new Set([resource.owner, ...(parent ? identitiesOf(view, parent, action) : [])]);
}

function identitiesOf(view: WorldView, resource: StoredResource, action: string): Set<Uuid> {
  const identities = inheritedBy(view, resource, action);
  const grant = resource.grants?.[action];
  for (const id of grant?.add ?? []) identities.add(id);
  for (const id of grant?.remove ?? []) identities.delete(id);
  return identities;
}

/** Returns the result of `findEntitlement` without a list: walks up until the identity is named. */
export function isEntitled(view: WorldView, resource: StoredResource, action: string, identity: Uuid): boolean {
  let at: StoredResource | undefined = resource;
  while (at) {
    const grant: Grant | undefined = at.grants?.[action];
    if (grant?.remove?.includes(identity)) return false;
    if (at.owner === identity || grant?.add?.includes(identity)) return true;
    at = at.parent === null ? undefined : view.find(at.parent);
  }
  return false;
}

/** All grants that give an entitlement exactly these identities (D-119): the difference to what is inherited. Undefined if none. */
export function grantsAfter(
  view: WorldView,
  resource: StoredResource,
  action: string,
  target: { identities: readonly Uuid[]; value?: Json },
): Record<string, Grant> | undefined {
  const inherited = inheritedBy(view, resource, action);
  const grant = grantOf({
    add: [...new Set(target.identities)].filter((id) => !inherited.has(id)),
    // A deleted creator is not shown, so its absence in the request has no meaning.
    remove: [...inherited].filter((id) => !target.identities.includes(id) && view.find(id) !== undefined),
    value: target.value,
  });
  const { [action]: _, ...otherGrants } = resource.grants ?? {};
  return noneAsUndefined(grant ? { ...otherGrants, [action]: grant } : otherGrants);
}

/** The grants without any mention of a deleted user or group (D-072); undefined when there are none left. */
export function grantsWithout({ grants }: StoredResource, identity: Uuid): Record<string, Grant> | undefined {
  return noneAsUndefined(withIdentities(grants, (ids) => ids.filter((id) => id !== identity)));
}

/** The grants with other identities, and without parts that have no effect: empty lists, and actions with nothing. */
export function withIdentities(
  grants: Readonly<Record<string, Grant>> = {},
  change: (ids: readonly Uuid[]) => Uuid[],
): Record<string, Grant> {
  const changedGrants = Object.entries(grants).flatMap(([action, { add = [], remove = [], value }]) => {
    const grant = grantOf({ add: change(add), remove: change(remove), value });
    return grant ? [[action, grant] as const] : [];
  });
  return Object.fromEntries(changedGrants);
}

/** A grant of what there is of these; undefined when that is nothing. */
function grantOf({ add, remove, value }: { add: Uuid[]; remove: Uuid[]; value: Json | undefined }) {
  const grant: Grant = {
    ...(add.length > 0 && { add }),
    ...(remove.length > 0 && { remove }),
    ...(value !== undefined && { value }),
  };
  return Object.keys(grant).length > 0 ? grant : undefined;
}

/** All grants of a resource as it has them: no member when there are none. */
export function noneAsUndefined(grants: Readonly<Record<string, Grant>>): Record<string, Grant> | undefined {
  return Object.keys(grants).length > 0 ? grants : undefined;
}

/** The rights of D-117 over the present world. */
export function createAuthorizer(view: WorldView): Authorizer {
  return {
    can(caller, action, resourceId) {
      if (caller.isRoot || (action === 'user.view' && resourceId === caller.userId)) return true;
      const resource = view.find(resourceId);
      if (!resource) return false;
      if (resource.owner === caller.userId) return true;
      for (const at of ancestors(view, resource)) {
        if (!actionsOf(at).has(action)) continue;
        return (
          isEntitled(view, at, action, caller.userId) ||
          caller.groupIds.some((groupId) => isEntitled(view, at, action, groupId))
        );
      }
      return false;
    },
  };
}

/** Most entitlement ids kept in memory, some 100 bytes each; above it all are forgotten and learnt again. */
const MAX_REMEMBERED = 250_000;

/** Position of the version in a UUID. A derived one has version 5; others cannot be found. */
const VERSION_AT = 14;

/** Ids do not reveal resources (D-115), so they are computed once: the first search for an unknown one reads the world, later ones what is new. */
export class EntitlementFinder {
  readonly #view: WorldView;
  readonly #targets = new Map<Uuid, { resourceId: Uuid; action: string }>();
  readonly #learnt = new Set<Uuid>();

  constructor(view: WorldView) {
    this.#view = view;
  }

  /** @param organization where to look first */
  find(id: Uuid, organization: StoredResource): Entitlement | undefined {
    if (id[VERSION_AT] !== '5') return undefined;
    for (const resource of this.#candidates(organization)) {
      if (this.#targets.has(id)) break;
      this.remember(resource);
    }
    const { resourceId = '', action = '' } = this.#targets.get(id) ?? {};
    const resource = this.#view.find(resourceId);
    return resource && findEntitlement(this.#view, resource, action);
  }

  /** Learns the ids of a resource's entitlements, for clients that come back with one. */
  remember({ id: resourceId, type }: StoredResource): void {
    if (this.#learnt.has(resourceId)) return;
    if (this.#targets.size > MAX_REMEMBERED) {
      this.#targets.clear();
      this.#learnt.clear();
    }
    for (const action of actionsOf({ type })) this.#targets.set(derivedId(resourceId, action), { resourceId, action });
    this.#learnt.add(resourceId);
  }

  *#candidates(organization: StoredResource): Generator<StoredResource> {
    yield organization;
    for (const collection of typeWords) yield* this.#view.ownedBy(organization.id, collection);
    for (const collection of typeWords) yield* this.#view.all(collection);
  }
}
