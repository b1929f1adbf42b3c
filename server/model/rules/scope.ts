import type { Uuid, WorldView } from '../record.ts';

/** Is a resource equal to this ancestor or below it? Caches visited parents, because many resources have few. */
export function scopeOf(view: WorldView, scope: Uuid | undefined): (id: Uuid | undefined) => boolean {
  if (scope === undefined) return () => true;
  const scopeResults = new Map<Uuid | null, boolean>([
    [scope, true],
    [null, false],
  ]);
  const isPlaceIn = (id: Uuid | null): boolean => {
    const found = scopeResults.get(id);
    if (found !== undefined) return found;
    const isIn = isPlaceIn((id && view.find(id)?.parent) ?? null);
    scopeResults.set(id, isIn);
    return isIn;
  };
  return (id) =>
    id !== undefined && (id === scope ? view.find(id) !== undefined : isPlaceIn(view.find(id)?.parent ?? null));
}
