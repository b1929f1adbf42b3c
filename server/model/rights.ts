import type { Caller, Judge } from './caller.ts';
import { forbidden } from './errors.ts';
import type { StoredResource } from './record.ts';
import { typeOf } from './registry.ts';

/** Who wants to do what to which resource. */
interface Demand {
  caller: Caller;
  action: string;
  /** Its id will do where the action tells its type. */
  resource: StoredResource | Pick<StoredResource, 'id'>;
  /** Where in the body the resource is named; default: where it stands in the world. */
  pointer?: string;
}

/** Throws the 403 of D-118, which names the resource, unless the caller may do the action on it (D-117). */
export function demandRight(judge: Judge, { caller, action, resource, pointer }: Demand): void {
  if (judge.may(caller, action, resource.id)) return;
  throw forbidden(action, {
    pointer: pointer ?? `/resources/${resource.id}`,
    message: described(judge, { caller, action, resource }),
  });
}

/** Of what the caller may not see no more is told than what he said himself: its id. */
function described(judge: Judge, { caller, action, resource }: Demand): string {
  if (!('type' in resource)) return `${action.split('.')[0]} ${resource.id}`;
  const { noun } = typeOf(resource);
  const isSeen = judge.may(caller, `${noun}.view`, resource.id);
  return isSeen ? `${noun} '${resource.name}' (${resource.id})` : `${noun} ${resource.id}`;
}
