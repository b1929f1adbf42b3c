import { actionsOf } from '../model/actions.ts';
import type { Judge } from '../model/caller.ts';
import { lineage } from '../model/hierarchy.ts';
import type { WorldView } from '../model/world-view.ts';
import { isEntitled } from './entitlements.ts';

/** The rights of D-117 over the present world. */
export function createJudge(view: WorldView): Judge {
  return {
    may(caller, action, resourceId) {
      if (caller.isRoot || (action === 'user.view' && resourceId === caller.userId)) return true;
      const resource = view.find(resourceId);
      if (!resource) return false;
      if (resource.owner === caller.userId) return true;
      for (const at of lineage(view, resource)) {
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
