import type { Authorizer, Caller } from '../../model/caller.ts';
import type { ReferenceTarget } from '../../model/property-facts.ts';
import type { StoredResource, WorldView } from '../../model/record.ts';
import { typeOf } from '../../model/registry.ts';
import { isNear } from '../../model/rules/hierarchy.ts';
import { newlyNamed } from '../../model/rules/named-resources.ts';
import { requireRightTo } from '../../model/rules/rights.ts';

type Named = Pick<StoredResource, 'type' | 'properties'>;

export interface Naming {
  view: WorldView;
  authorizer: Authorizer;
  caller: Caller;
  /** Parent of the record, now or after the change. */
  parent: StoredResource;
}

/** Checks new references: the target exists (400, 404, 422 as the property says) and is within the caller's reach (403, D-117). */
export function requireReach(naming: Naming, record: Named, before?: Named): void {
  for (const { reference, resource } of newlyNamed(naming.view, record, before)) {
    requireWithin(naming, reference.target, resource, reference.pointer);
  }
}

/** Throws 403 with the missing right unless a resource may be named there (D-117). */
export function requireWithin(
  { view, authorizer, caller, parent }: Naming,
  { right, free }: ReferenceTarget,
  resource: StoredResource,
  pointer: string,
): void {
  if (caller.isRoot) return;
  if (free === 'near' && isNear(view, resource, parent)) return;
  if (free === 'public' && resource.properties.public !== false) return;
  requireRightTo(authorizer, { caller, action: `${typeOf(resource).singular}.${right}`, resource, pointer });
}
