import type { Authorizer, Caller } from '../caller.ts';
import { forbidden } from '../errors.ts';
import type { StoredResource } from '../record.ts';
import { typeOf } from '../registry.ts';

interface Demand {
  caller: Caller;
  action: string;
  /** The id is sufficient if the action determines the type. */
  resource: StoredResource | Pick<StoredResource, 'id'>;
  /** Pointer to the resource in the body; default: its position in the world. */
  pointer?: string;
}

/** Throws the 403 of D-118, which names the resource, unless the caller has the permission (D-117). */
export function requireRightTo(authorizer: Authorizer, { caller, action, resource, pointer }: Demand): void {
  if (authorizer.can(caller, action, resource.id)) return;
  throw forbidden(action, {
    pointer: pointer ?? `/resources/${resource.id}`,
    message: described(authorizer, { caller, action, resource }),
  });
}

/** If the caller cannot view the resource, the error contains only the id. */
function described(authorizer: Authorizer, { caller, action, resource }: Demand): string {
  if (!('type' in resource)) return `${action.split('.')[0]} ${resource.id}`;
  const { singular } = typeOf(resource);
  const isSeen = authorizer.can(caller, `${singular}.view`, resource.id);
  return isSeen ? `${singular} '${resource.name}' (${resource.id})` : `${singular} ${resource.id}`;
}
