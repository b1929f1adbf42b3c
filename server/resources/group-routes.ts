import { PlatformError } from '../model/errors.ts';
import { parseUuid, type Uuid } from '../model/ids.ts';
import type { StoredResource } from '../model/record.ts';
import { USER } from '../model/type-names.ts';
import { memberIds } from '../model/types/group.ts';
import { type Answer, ok, type ResourceRequest, type Route } from './request.ts';
import type { ResourceService } from './resource-service.ts';

/** Membership of a group by query: `PATCH|DELETE F/groups/{id}/users?id=..&id=..` (D-073). */
export function groupRoutes(service: ResourceService): Route[] {
  const { view } = service;

  const change = async (
    request: ResourceRequest,
    membersAfter: (before: Uuid[], ids: Uuid[]) => Uuid[],
  ): Promise<Answer> => {
    const group = request.resource('groups');
    const ids = request.query.getAll('id').map((id) => demandUser(parseUuid(id, "query parameter 'id'")));
    if (ids.length === 0) throw new PlatformError(400, "query parameter 'id' is required: one or more user ids");
    const after = await service.setProperties(request.act, group.id, 'update', (before) => ({
      ...before.properties,
      users: membersAfter(memberIds(before), ids),
    }));
    return ok(memberIds(after).map((id) => request.renderer.linkTo(id, USER)));
  };
  const demandUser = (id: Uuid): Uuid => {
    const user: StoredResource | undefined = view.find(id);
    if (user?.type !== USER) throw new PlatformError(400, `user ${id} not found`);
    return id;
  };

  const path = '/:fqon/groups/:id/users';
  return [
    { verb: 'patch', path, handle: (request) => change(request, (before, ids) => [...new Set([...before, ...ids])]) },
    {
      verb: 'delete',
      path,
      handle: (request) => change(request, (before, ids) => before.filter((id) => !ids.includes(id))),
    },
  ];
}
