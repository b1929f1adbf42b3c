import type { Uuid } from './ids.ts';
import { pointerTo, unescaped } from './pointer.ts';

/** What a path is made of; the root organization, and what is above all that is at hand, has no parent. */
interface Named {
  name: string;
  parent?: Uuid | null | undefined;
}

/**
 * The names from the root organization down to a resource, `/demo/website/development/contact-form`; `/` for the root organization.
 * A `/` inside a name is written `~1`, a `~` `~0`, as in a JSON Pointer.
 */
export function pathOf<T extends Named>(record: T, find: (id: Uuid) => T | undefined): string {
  const names: string[] = [];
  for (let at: T | undefined = record; at?.parent; at = find(at.parent)) names.unshift(at.name);
  return pointerTo(names) || '/';
}

/** The last name of a path, as it is called; of what is no path, itself. */
export function lastNameOf(path: string): string {
  return path.startsWith('/') ? unescaped(path.slice(path.lastIndexOf('/') + 1)) : path;
}

/** Resources and all that is above them, as `GET /inspect/tree` answers. */
export interface FoundInTree {
  rows: readonly (Named & { id: Uuid })[];
  above: readonly (Named & { id: Uuid })[];
}

/** The paths of the rows, in their order. */
export function pathsIn({ rows, above }: FoundInTree): string[] {
  const places = new Map([...above, ...rows].map((one) => [one.id, one]));
  return rows.map((one) => pathOf(one, (id) => places.get(id)));
}

/** Those of the rows that are meant by a path, or by a name. */
export function namedIn(found: FoundInTree, named: string): { id: Uuid; path: string }[] {
  const name = lastNameOf(named);
  const paths = pathsIn(found);
  return found.rows
    .map((one, at) => ({ ...one, path: paths[at] ?? '' }))
    .filter((one) => one.name === name && (!named.startsWith('/') || one.path === named));
}
