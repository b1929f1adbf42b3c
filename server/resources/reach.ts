import type { Caller, Judge } from '../model/caller.ts';
import { isNear } from '../model/hierarchy.ts';
import { newlyNamed } from '../model/named-resources.ts';
import type { StoredResource } from '../model/record.ts';
import type { ReferenceTarget } from '../model/reference-facts.ts';
import { typeOf } from '../model/registry.ts';
import { demandRight } from '../model/rights.ts';
import type { WorldView } from '../model/world-view.ts';

type Named = Pick<StoredResource, 'type' | 'properties'>;

/** Who names something, and for what. */
export interface Naming {
  view: WorldView;
  judge: Judge;
  caller: Caller;
  /** What the record stands below, or will. */
  parent: StoredResource;
}

/**
 * Checks that what a record newly names is there, of the right type, and within the caller's reach (D-117).
 *
 * @param before the record as it was; absent for a new one
 * @throws PlatformError 400, 404 or 422 for what is not there, as the property decides; 403 with the missing right
 */
export function demandReach(naming: Naming, record: Named, before?: Named): void {
  for (const { reference, resource } of newlyNamed(naming.view, record, before)) {
    demandWithin(naming, reference.target, resource, reference.pointer);
  }
}

/** Throws 403 with the missing right unless a resource may be named there (D-117). */
export function demandWithin(
  { view, judge, caller, parent }: Naming,
  { right, free }: ReferenceTarget,
  resource: StoredResource,
  pointer: string,
): void {
  if (caller.isRoot) return;
  if (free === 'near' && isNear(view, resource, parent)) return;
  if (free === 'public' && resource.properties.public !== false) return;
  demandRight(judge, { caller, action: `${typeOf(resource).noun}.${right}`, resource, pointer });
}
