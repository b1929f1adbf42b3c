/** Roles: sets of actions that are granted together; other permissions belong to no role. */
export const ROLES = ['viewer', 'developer', 'owner'] as const;
export type Role = (typeof ROLES)[number];

const WORK = new Set(['lambda', 'api', 'apiendpoint', 'container', 'job', 'volume', 'secret']);

/** The actions of a resource that belong to a role; an owner has all. */
export function actionsOfRole(role: Role, actions: Iterable<string>): string[] {
  return [...actions].filter((action) => {
    const [singular = '', verb] = action.split('.');
    if (role === 'owner') return true;
    // Only owners can change permissions.
    if (singular === 'entitlement') return false;
    return verb === 'view' || (role === 'developer' && WORK.has(singular));
  });
}

/** The highest role whose actions are all granted on something with these actions; undefined below viewer. */
export function roleOf(grantedActions: ReadonlySet<string>, actions: Iterable<string>): Role | undefined {
  const all = [...actions];
  return ROLES.toReversed().find((role) => actionsOfRole(role, all).every((action) => grantedActions.has(action)));
}
