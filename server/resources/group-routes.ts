import { membershipRows } from '../contract/meta-types.ts';
import type { Served } from '../http/serve.ts';
import { PlatformError } from '../model/errors.ts';
import type { Uuid } from '../model/ids.ts';
import type { StoredResource } from '../model/record.ts';
import { USER } from '../model/type-names.ts';
import { memberIds } from '../model/types/group.ts';
import type { Given, ResourceRouteParts } from './route-parts.ts';

/** Membership of a group by query: `PATCH|DELETE F/groups/{id}/users?id=..&id=..` (D-073). */
export function groupRoutes({ service, answer }: ResourceRouteParts): Served[] {
  const { view } = service;

  const change = async (
    { act, renderer, query, found }: Given & { query: { id: Uuid[] }; found: { group_id: StoredResource } },
    membersAfter: (before: Uuid[], ids: Uuid[]) => Uuid[],
  ) => {
    for (const id of query.id) if (view.find(id)?.type !== USER) throw new PlatformError(400, `user ${id} not found`);
    const after = await service.setProperties(act, found.group_id.id, 'update', (before) => ({
      ...before.properties,
      users: membersAfter(memberIds(before), query.id),
    }));
    return memberIds(after).map((id) => renderer.linkTo(id, USER));
  };
  return answer(membershipRows, {
    addGroupMembers: (asked) => change(asked, (before, ids) => [...new Set([...before, ...ids])]),
    removeGroupMembers: (asked) => change(asked, (before, ids) => before.filter((id) => !ids.includes(id))),
  });
}
