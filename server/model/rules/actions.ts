import type { Authorizer, Caller } from '../caller.ts';
import { forbidden } from '../errors.ts';
import type { StoredResource } from '../record.ts';
import { resourceTypes, typeOf } from '../registry.ts';
import type { ResourceType } from '../resource-type.ts';
import type { TypeWord } from '../type-words.ts';

const BASE_VERBS = ['create', 'view', 'update', 'delete'] as const;

/** Entitlements are not a type of the registry, but all resources have them, with permissions (D-116). */
const ENTITLEMENT_ACTIONS = BASE_VERBS.map((verb) => `entitlement.${verb}`);

export type ActionRow = Pick<ResourceType, 'collection' | 'singular' | 'verbs' | 'parents'>;

/** The actions with the noun of the type: the four of every type, then its own verbs (D-116). */
function ownActions(type: Pick<ActionRow, 'singular' | 'verbs'>): string[] {
  return [...BASE_VERBS, ...(type.verbs ?? [])].map((verb) => `${type.singular}.${verb}`);
}

/** The actions for which resources of a type have an entitlement: its own and those of all possible descendants (D-115). */
export function actionsByWord(types: readonly ActionRow[]): ReadonlyMap<TypeWord, ReadonlySet<string>> {
  return new Map(
    types.map((type) => {
      const below = new Set<ActionRow>([type]);
      // Iterating a set includes items that are added meanwhile, so the loop ends when no further type is found.
      for (const { collection } of below)
        for (const child of types) if (child.parents.includes(collection)) below.add(child);
      return [type.collection, new Set([...[...below].flatMap(ownActions), ...ENTITLEMENT_ACTIONS])];
    }),
  );
}

export function allActions(): ReadonlySet<string> {
  return new Set([...resourceTypes.flatMap(ownActions), ...ENTITLEMENT_ACTIONS]);
}

let ofRegistry: ReadonlyMap<TypeWord, ReadonlySet<string>> | undefined;

/** The actions for which a stored resource has an entitlement (D-115, D-116), own ones first; others are unknown there. */
export function actionsOf(resource: { type: string }): ReadonlySet<string> {
  ofRegistry ??= actionsByWord(resourceTypes);
  return ofRegistry.get(typeOf(resource).collection) ?? new Set();
}

interface Demand {
  caller: Caller;
  action: string;
  /** The id is sufficient if the action determines the type. */
  resource: StoredResource | Pick<StoredResource, 'id'>;
  /** Pointer to the resource in the body; default: its position in the world. */
  pointer?: string;
}

/** Throws the 403 of D-118, which names the resource, unless the caller has the permission (D-117). */
export function requireRightTo(authorizer: Authorizer, { caller, action, resource, pointer }: Demand): void {
  if (authorizer.can(caller, action, resource.id)) return;
  throw forbidden(action, {
    pointer: pointer ?? `/resources/${resource.id}`,
    message: described(authorizer, { caller, action, resource }),
  });
}

/** If the caller cannot view the resource, the error contains only the id. */
function described(authorizer: Authorizer, { caller, action, resource }: Demand): string {
  if (!('type' in resource)) return `${action.split('.')[0]} ${resource.id}`;
  const { singular } = typeOf(resource);
  const isSeen = authorizer.can(caller, `${singular}.view`, resource.id);
  return isSeen ? `${singular} '${resource.name}' (${resource.id})` : `${singular} ${resource.id}`;
}
