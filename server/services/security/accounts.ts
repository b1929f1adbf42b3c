import type { Caller } from '../../model/caller.ts';
import { invalid } from '../../model/errors.ts';
import type { StoredResource, Uuid, WorldView } from '../../model/record.ts';
import { isNear, ORGANIZATION, owningOrganization } from '../../model/rules/hierarchy.ts';
import { USER } from '../../model/type-names.ts';
import { GROUP, groupsOf } from '../../model/types/group.ts';

/** The user behind an account: one id serves both (D-072). */
export function findUser(view: WorldView, id: Uuid): StoredResource | undefined {
  const found = view.find(id);
  return found?.type === USER ? found : undefined;
}

export function findGroup(view: WorldView, id: Uuid): StoredResource | undefined {
  const found = view.find(id);
  return found?.type === GROUP ? found : undefined;
}

/** Was the account disabled (D-179)? Held in the hidden, server-set property `disabled` of its user. */
export function isDisabled(user: StoredResource): boolean {
  return user.properties.disabled === true;
}

/** True for the root user, who created the root organization (D-175). */
export function isRootUser(view: WorldView, userId: Uuid): boolean {
  return userId === view.root.owner;
}

/** The organization of a key or token; default: the account's. Throws 400 if it is none, or has no such account (D-170, D-173). */
export function organizationFor(view: WorldView, user: StoredResource, orgId: Uuid | undefined): StoredResource {
  const organization = orgId === undefined ? owningOrganization(view, user) : view.find(orgId);
  if (organization?.type !== ORGANIZATION) throw invalid('/orgId', `names no organization: ${orgId}`);
  if (!isNear(view, user, organization)) {
    throw invalid('/orgId', `names an organization where account '${user.name}' does not exist: ${orgId}`);
  }
  return organization;
}

export function callerOf(view: WorldView, user: StoredResource, scheme: Caller['scheme']): Caller {
  const groupIds = groupsOf(user, view).map((group) => group.id);
  return { userId: user.id, name: user.name, isRoot: isRootUser(view, user.id), groupIds, scheme };
}
