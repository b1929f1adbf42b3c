import { resourceTypes, typeOf } from './registry.ts';
import type { ResourceType } from './resource-type.ts';
import type { TypeWord } from './type-words.ts';

const BASE_VERBS = ['create', 'view', 'update', 'delete'] as const;

/** Entitlements are no type of the registry, but every resource has them, and rights on them (D-116). */
const ENTITLEMENT_ACTIONS = BASE_VERBS.map((verb) => `entitlement.${verb}`);

/** What of a type its actions follow from. */
export type ActionRow = Pick<ResourceType, 'word' | 'noun' | 'verbs' | 'parents'>;

/** The actions whose noun is that of the type: the four of every type, then its own verbs (D-116). */
function ownActions(type: Pick<ActionRow, 'noun' | 'verbs'>): string[] {
  return [...BASE_VERBS, ...(type.verbs ?? [])].map((verb) => `${type.noun}.${verb}`);
}

/**
 * For each type the actions that its resources have an entitlement for: its own and those of whatever may stand below
 * it, at any depth (D-115). So an action that a resource has, all above it have too.
 */
export function actionsByWord(types: readonly ActionRow[]): ReadonlyMap<TypeWord, ReadonlySet<string>> {
  return new Map(
    types.map((type) => {
      const below = new Set<ActionRow>([type]);
      // A set visits what is added while it is walked, so this ends when no further type is found.
      for (const { word } of below) for (const child of types) if (child.parents.includes(word)) below.add(child);
      return [type.word, new Set([...[...below].flatMap(ownActions), ...ENTITLEMENT_ACTIONS])];
    }),
  );
}

/** Every action that there is (D-116, D-125, D-213). */
export function allActions(): ReadonlySet<string> {
  return new Set([...resourceTypes.flatMap(ownActions), ...ENTITLEMENT_ACTIONS]);
}

let ofRegistry: ReadonlyMap<TypeWord, ReadonlySet<string>> | undefined;

/** The actions a stored resource has an entitlement for (D-115, D-116), own ones first; what is not in it is unknown there. */
export function actionsOf(resource: { type: string }): ReadonlySet<string> {
  ofRegistry ??= actionsByWord(resourceTypes);
  return ofRegistry.get(typeOf(resource).word) ?? new Set();
}
