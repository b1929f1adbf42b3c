import type { Uuid } from './ids.ts';
import type { StoredResource } from './record.ts';
import { pointerTo } from './validate.ts';

/**
 * The names from the root organization down to a resource, `/demo/website/development/contact-form`; `/` for the root organization.
 * A `/` inside a name is written `~1`, a `~` `~0`, as in a JSON Pointer.
 */
export function pathOf(record: StoredResource, find: (id: Uuid) => StoredResource | undefined): string {
  const names: string[] = [];
  for (let at: StoredResource | undefined = record; at?.parent; at = find(at.parent)) names.unshift(at.name);
  return pointerTo(names) || '/';
}
