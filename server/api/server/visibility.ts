import type { Caller } from '../../model/caller.ts';
import type { Uuid } from '../../model/record.ts';
import { typeOf } from '../../model/registry.ts';
import type { RouteGuard } from './mount-routes.ts';

/** The data beyond the public API that a caller can see. */
export interface Visibility {
  /** Can the caller view the entire platform, including data without an existing resource? Requires org.view on the root organization. */
  seesAll: boolean;
  /** Can the caller view the resource that the data belongs to? Pass undefined for data without a resource. */
  sees(id: Uuid | undefined): boolean;
}

/** Created per response: caches its results, because lists check the same few resources repeatedly. */
export function visibilityFor(
  { view, authorizer }: Pick<RouteGuard, 'view' | 'authorizer'>,
  caller: Caller,
): Visibility {
  if (caller.isRoot) return { seesAll: true, sees: () => true };
  const seesAll = authorizer.can(caller, 'org.view', view.root.id);
  const visibilityById = new Map<Uuid | undefined, boolean>([[undefined, seesAll]]);
  return {
    seesAll,
    sees(id) {
      const before = visibilityById.get(id);
      if (before !== undefined) return before;
      const record = id === undefined ? undefined : view.find(id);
      const isSeen =
        id !== undefined && record ? authorizer.can(caller, `${typeOf(record).singular}.view`, id) : seesAll;
      visibilityById.set(id, isSeen);
      return isSeen;
    },
  };
}
