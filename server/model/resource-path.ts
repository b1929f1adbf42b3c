import type { CommitResource } from './commit.ts';
import { pointerTo, unescaped } from './patch/pointer.ts';
import type { StoredResource, Uuid, WorldView } from './record.ts';

/** The input for a path; the root organization, and the topmost known resource, has no parent. */
interface Named {
  name: string;
  parent?: Uuid | null | undefined;
}

/** `/demo/website/development/contact-form`, or `/` for the root organization. As in a JSON Pointer, `/` in a name is `~1`, and `~` is `~0`. */
export function pathOf<T extends Named>(record: T, find: (id: Uuid) => T | undefined): string {
  const names: string[] = [];
  for (let at: T | undefined = record; at?.parent; at = find(at.parent)) names.unshift(at.name);
  return pointerTo(names) || '/';
}

/** The path of a resource in the current world. */
export function currentPathOf(view: WorldView, record: StoredResource): string {
  return pathOf(record, (id) => view.find(id));
}

export function describeResource(
  record: StoredResource,
  find: (id: Uuid) => StoredResource | undefined,
): CommitResource {
  return { id: record.id, type: record.type, name: record.name, path: pathOf(record, find) };
}

/** The unescaped last name of a path; a text that is not a path is returned unchanged. */
export function lastNameOf(path: string): string {
  return path.startsWith('/') ? unescaped(path.slice(path.lastIndexOf('/') + 1)) : path;
}

/** Resources with all their ancestors, as in the response of `GET /inspect/tree`. */
export interface FoundInTree {
  rows: readonly (Named & { id: Uuid })[];
  above: readonly (Named & { id: Uuid })[];
}

export function pathsIn({ rows, above }: FoundInTree): string[] {
  const resourcesById = new Map([...above, ...rows].map((resource) => [resource.id, resource]));
  return rows.map((resource) => pathOf(resource, (id) => resourcesById.get(id)));
}

export function namedIn(found: FoundInTree, named: string): { id: Uuid; path: string }[] {
  const name = lastNameOf(named);
  const paths = pathsIn(found);
  return found.rows
    .map((resource, index) => ({ ...resource, path: paths[index] ?? '' }))
    .filter((resource) => resource.name === name && (!named.startsWith('/') || resource.path === named));
}
