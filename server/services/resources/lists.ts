import type { StoredResource, WorldView } from '../../model/record.ts';
import { typeOf, typeOfWord, typeWords } from '../../model/registry.ts';
import { ancestors, subOrganizations } from '../../model/rules/hierarchy.ts';
import type { TypeWord } from '../../model/type-words.ts';

type ListWord = TypeWord | 'resources';
type Resources = readonly StoredResource[];

/** Lists of these types include providers of parents (D-065). */
const ENVIRONMENT_LEVELS: readonly TypeWord[] = ['orgs', 'workspaces', 'environments'];

/** `F/{type}`: what the organization owns at any depth; also all organizations below it (D-186), providers from above (D-065). */
export function listOwned(view: WorldView, organization: StoredResource, collection: ListWord): Resources {
  if (collection === 'resources')
    return oldestFirst(typeWords.flatMap((childCollection) => view.ownedBy(organization.id, childCollection)));
  if (collection === 'orgs') return oldestFirst(subOrganizations(view, organization));
  return collection === 'providers'
    ? listFromAbove(view, organization, collection)
    : view.ownedBy(organization.id, collection);
}

/** Contents of a child list: direct children, or other resources that the path relates (D-186). */
export function listBelow(view: WorldView, parent: StoredResource, collection: ListWord): Resources {
  if (collection === 'resources') return view.children(parent.id);
  const above = typeOf(parent).collection;
  if (collection === 'providers' && ENVIRONMENT_LEVELS.includes(above)) return listFromAbove(view, parent, collection);
  const related = typeOfWord(collection).listedBelow?.[above];
  return related ? oldestFirst(related(parent, view)) : view.children(parent.id, collection);
}

/** Is a resource a child of another, or in one of the lists below it (D-004)? */
export function isListedBelow(view: WorldView, parent: StoredResource, child: StoredResource): boolean {
  return child.parent === parent.id || listBelow(view, parent, typeOf(child).collection).includes(child);
}

export function listFromAbove(view: WorldView, resource: StoredResource, collection: TypeWord): Resources {
  return oldestFirst([...ancestors(view, resource)].flatMap((ancestor) => view.children(ancestor.id, collection)));
}

/** Lists that were put together from several keep the order of all lists (D-186). */
function oldestFirst(resources: Resources): Resources {
  return resources.toSorted((a, b) => Number(a.created.at > b.created.at) - Number(a.created.at < b.created.at));
}
