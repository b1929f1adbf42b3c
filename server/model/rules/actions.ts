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
