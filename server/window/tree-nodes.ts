import type { TreeNode } from '../contract/tree.ts';
import { enclosing, fqonOf, ORGANIZATION } from '../model/hierarchy.ts';
import { isUuid, type Uuid } from '../model/ids.ts';
import type { Json } from '../model/json.ts';
import { stepTo } from '../model/pointer.ts';
import type { StoredResource } from '../model/record.ts';
import { typeOf, typeWordsFrom } from '../model/registry.ts';
import type { TypeWord } from '../model/type-words.ts';
import type { WorldView } from '../model/world-view.ts';

/** In which order types stand below a place: places first, then workloads, then what serves them. */
export const treeOrder = typeWordsFrom([
  'orgs',
  'workspaces',
  'environments',
  'containers',
  'jobs',
  'lambdas',
  'apis',
  'apiendpoints',
  'volumes',
  'secrets',
  'policies',
  'rules',
  'providers',
  'users',
  'groups',
]);

/** More than so many of one type stay oldest first: to sort them for every page would hold up everybody else. */
const MAX_SORTED = 5000;

/** A resource as a row. */
export function nodeOf(view: WorldView, one: StoredResource): TreeNode {
  const { environment_type: kind } = one.properties;
  const { word } = typeOf(one);
  const organization = enclosing(view, one, ORGANIZATION);
  return {
    id: one.id,
    name: one.name,
    ...(one.description !== undefined && { description: one.description }),
    word,
    type: one.type,
    fqon: organization ? fqonOf(view, organization) : 'root',
    ...(one.parent !== null && { parent: one.parent }),
    ...(typeof kind === 'string' && { environment_type: kind }),
    ...(word === 'users' && one.properties.disabled === true && { isDisabled: true }),
    modified: one.modified.at,
    children: view.children(one.id).length,
  };
}

/** The children of a type, by name. */
export function childrenInOrder(view: WorldView, parentId: Uuid, word: TypeWord): readonly StoredResource[] {
  const children = view.children(parentId, word);
  return children.length > MAX_SORTED ? children : [...children].sort(byName);
}

let collator: Intl.Collator | undefined;

function byName(one: StoredResource, other: StoredResource): number {
  // Made when needed: the first one of a process takes a good part of its start.
  collator ??= new Intl.Collator('en', { numeric: true });
  return collator.compare(one.name, other.name);
}

/** The ids in a value, each with the pointer where it stands first. */
export function idsIn(value: Json | undefined, pointer: string, found = new Map<Uuid, string>()): Map<Uuid, string> {
  if (typeof value === 'string') {
    const id = value.toLowerCase();
    if (isUuid(value) && !found.has(id)) found.set(id, pointer);
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, member] of Object.entries(value)) {
      idsIn(member, pointer + stepTo(name), found);
    }
  }
  return found;
}
