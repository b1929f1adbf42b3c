import { lineage, subOrganizations } from '../model/hierarchy.ts';
import type { StoredResource } from '../model/record.ts';
import { typeOf, typeWords } from '../model/registry.ts';
import type { TypeWord } from '../model/type-words.ts';
import { CONTAINER } from '../model/types/container.ts';
import { endpointsOf } from '../model/types/embedded.ts';
import { groupsOf, memberIds } from '../model/types/group.ts';
import { providerIdOf } from '../model/types/provider-rules.ts';
import type { WorldView } from '../model/world-view.ts';

type ListWord = TypeWord | 'resources';
type Resources = readonly StoredResource[];

/**
 * What `F/{type}` holds: all of that type that the organization owns, whatever the parent, but organizations at any depth
 * (D-186) and providers from above, too (D-065).
 */
export function listOwned(view: WorldView, organization: StoredResource, word: ListWord): Resources {
  if (word === 'resources') return oldestFirst(typeWords.flatMap((one) => view.ownedBy(organization.id, one)));
  if (word === 'orgs') return oldestFirst(subOrganizations(view, organization));
  return word === 'providers' ? listFromAbove(view, organization, word) : view.ownedBy(organization.id, word);
}

/** What a child list holds: direct children, or what the words of the path relate otherwise (D-186). */
export function listBelow(view: WorldView, parent: StoredResource, word: ListWord): Resources {
  if (word === 'resources') return view.children(parent.id);
  const related = relations[`${typeOf(parent).word}/${word}`];
  return related ? related(parent, view) : view.children(parent.id, word);
}

/** Is a resource a child of another, or in one of the lists below it (D-004)? */
export function isListedBelow(view: WorldView, parent: StoredResource, child: StoredResource): boolean {
  return child.parent === parent.id || listBelow(view, parent, typeOf(child).word).includes(child);
}

/** Lists below a resource that do not hold its children, by the two words of the path. */
const relations: Record<string, (parent: StoredResource, view: WorldView) => Resources> = {
  // D-065
  'orgs/providers': (place, view) => listFromAbove(view, place, 'providers'),
  'workspaces/providers': (place, view) => listFromAbove(view, place, 'providers'),
  'environments/providers': (place, view) => listFromAbove(view, place, 'providers'),
  // D-055: containers of all organizations.
  'providers/containers': (provider, view) =>
    view.referrers(provider.id).filter((one) => one.type === CONTAINER && providerIdOf(one) === provider.id),
  // D-062
  'lambdas/apiendpoints': endpointsOf,
  'containers/apiendpoints': endpointsOf,
  // D-072, D-073
  'users/groups': groupsOf,
  'groups/users': (group, view) => oldestFirst(memberIds(group).flatMap((id) => view.find(id) ?? [])),
};

/** Those of a type in a place and in all above it. */
export function listFromAbove(view: WorldView, place: StoredResource, word: TypeWord): Resources {
  return oldestFirst([...lineage(view, place)].flatMap((one) => view.children(one.id, word)));
}

/** Lists that were put together from several keep the order of all lists (D-186). */
function oldestFirst(resources: Resources): Resources {
  return resources.toSorted((a, b) => Number(a.created.at > b.created.at) - Number(a.created.at < b.created.at));
}
