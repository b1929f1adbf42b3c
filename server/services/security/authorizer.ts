import type { Authorizer } from '../../model/caller.ts';
import type { WorldView } from '../../model/record.ts';
import { actionsOf } from '../../model/rules/actions.ts';
import { ancestors } from '../../model/rules/hierarchy.ts';
import { isEntitled } from './entitlements.ts';

/** The rights of D-117 over the present world. */
export function createAuthorizer(view: WorldView): Authorizer {
  return {
    can(caller, action, resourceId) {
      if (caller.isRoot || (action === 'user.view' && resourceId === caller.userId)) return true;
      const resource = view.find(resourceId);
      if (!resource) return false;
      if (resource.owner === caller.userId) return true;
      for (const at of ancestors(view, resource)) {
        if (!actionsOf(at).has(action)) continue;
        return (
          isEntitled(view, at, action, caller.userId) ||
          caller.groupIds.some((groupId) => isEntitled(view, at, action, groupId))
        );
      }
      return false;
    },
  };
}
