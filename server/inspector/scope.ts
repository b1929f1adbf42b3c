import { parseUuid, type Uuid } from '../model/ids.ts';
import type { WorldView } from '../model/world-view.ts';

/** Is something below the resource that a list is narrowed to? Undefined: everything is. Throws 400. */
export function scopeOf(view: WorldView, written: string | undefined): (id: Uuid | undefined) => boolean {
  if (written === undefined) return () => true;
  const scope = parseUuid(written, 'scope');
  const known = new Map<Uuid, boolean>();
  return (id) => {
    if (id === undefined) return false;
    const found = known.get(id) ?? isBelow(view, id, scope);
    known.set(id, found);
    return found;
  };
}

function isBelow(view: WorldView, id: Uuid, scope: Uuid): boolean {
  let at = view.find(id);
  while (at && at.id !== scope) at = at.parent === null ? undefined : view.find(at.parent);
  return at !== undefined;
}
