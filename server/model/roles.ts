/** Sets of actions that people are given together; what somebody has besides is nobody's role. */
export const ROLES = ['viewer', 'developer', 'owner'] as const;
export type Role = (typeof ROLES)[number];

/** What a developer makes, changes and runs. */
const WORK = new Set(['lambda', 'api', 'apiendpoint', 'container', 'job', 'volume', 'secret']);

/** Which of the actions of a resource belong to a role; an owner has them all. */
export function actionsOfRole(role: Role, actions: Iterable<string>): string[] {
  return [...actions].filter((action) => {
    const [noun = '', verb] = action.split('.');
    if (role === 'owner') return true;
    // Who may do what is an owner's business.
    if (noun === 'entitlement') return false;
    return verb === 'view' || (role === 'developer' && WORK.has(noun));
  });
}

/** The largest role whose actions one has all of, on something with these actions; undefined for less than a viewer's. */
export function roleOf(mine: ReadonlySet<string>, actions: Iterable<string>): Role | undefined {
  const all = [...actions];
  return ROLES.toReversed().find((role) => actionsOfRole(role, all).every((action) => mine.has(action)));
}
