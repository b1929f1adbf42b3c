import type { Uuid } from './ids.ts';
import type { WorldView } from './world-view.ts';

/**
 * Is something the resource that a list is narrowed to, or below it? Undefined: everything is. Remembers the places
 * that it came by: of 100,000 resources few have a place of their own.
 */
export function scopeOf(view: WorldView, scope: Uuid | undefined): (id: Uuid | undefined) => boolean {
  if (scope === undefined) return () => true;
  const known = new Map<Uuid | null, boolean>([
    [scope, true],
    [null, false],
  ]);
  const isPlaceIn = (id: Uuid | null): boolean => {
    const found = known.get(id);
    if (found !== undefined) return found;
    const isIn = isPlaceIn((id && view.find(id)?.parent) ?? null);
    known.set(id, isIn);
    return isIn;
  };
  return (id) =>
    id !== undefined && (id === scope ? view.find(id) !== undefined : isPlaceIn(view.find(id)?.parent ?? null));
}
