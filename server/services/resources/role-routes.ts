import type { Router } from 'express';
import { type RoleHolder, roleRoutes } from '../../api/routes/roles.ts';
import { mountRoutes, type RouteGuard } from '../../api/server/mount-routes.ts';
import { type Visibility, visibilityFor } from '../../api/server/visibility.ts';
import type { Caller } from '../../model/caller.ts';
import { invalid } from '../../model/errors.ts';
import type { StoredResource, Uuid, WorldView } from '../../model/record.ts';
import { typeWords } from '../../model/registry.ts';
import { actionsOf, allActions } from '../../model/rules/actions.ts';
import { actionsOfRole, roleOf } from '../../model/rules/roles.ts';
import { USER } from '../../model/type-names.ts';
import { groupsOf, isIdentity } from '../../model/types/group.ts';
import { entitlementsOf, grantsAfter, isEntitled } from '../security/entitlements.ts';
import { actorOf } from './actor.ts';
import type { ResourceService } from './resource-service.ts';

/** Rights given together: roles are no third kind of right, but a way to change many entitlements at once. */
export function roleRouter(service: Pick<ResourceService, 'view' | 'setGrants'>, guard: RouteGuard): Router {
  const { view } = service;
  const rolesView = (caller: Caller, resource: StoredResource) =>
    rolesOn(view, resource, visibilityFor(guard, caller).sees);
  return mountRoutes(roleRoutes, guard, {
    readPermissions({ caller, query: { on } }) {
      const { seesAll, sees } = visibilityFor(guard, caller);
      if (caller.isRoot) return { actions: [...allActions()], seesAll };
      const at = on === undefined ? undefined : view.find(on);
      if (on !== undefined) {
        const actions = at && sees(on) ? [...actionsOf(at)] : [];
        return { actions: actions.filter((action) => guard.authorizer.can(caller, action, on)), seesAll };
      }
      const identities = [caller.userId, ...caller.groupIds];
      const actions = new Set<string>();
      for (const collection of typeWords) {
        for (const resource of view.all(collection)) {
          if (resource.owner === caller.userId) for (const action of actionsOf(resource)) actions.add(action);
          for (const [action, { add }] of Object.entries(resource.grants ?? {})) {
            if (add?.some((id) => identities.includes(id))) actions.add(action);
          }
        }
      }
      return { actions: [...actions], seesAll };
    },
    readRoles: ({ caller, resource }) => rolesView(caller, resource),
    async setRoles({ caller, resource, body: { identities, role, sameAs }, req }) {
      if ((role === undefined) === (sameAs === undefined)) throw invalid('/role', 'either role or sameAs is required');
      const { sees } = visibilityFor(guard, caller);
      const demand = (identity: string, pointer: string): Uuid => {
        const id = identity.toLowerCase();
        if (isIdentity(view.find(id)) && sees(id)) return id;
        throw invalid(pointer, `is not a user or group that you may view: ${identity}`);
      };
      const ids = identities.map((id, at) => demand(id, `/identities/${at}`));
      const model = sameAs === undefined ? undefined : demand(sameAs, '/sameAs');
      const all = actionsOf(resource);
      const ofRole = new Set(role === undefined || role === 'none' ? [] : actionsOfRole(role, all));
      await service.setGrants(actorOf(caller, req), resource.id, (before) => {
        const isWanted = (action: string) =>
          model === undefined ? ofRole.has(action) : isEntitled(view, before, action, model);
        let after = before;
        for (const { action, identities: present, value } of entitlementsOf(view, before)) {
          const ownIdentities = new Set(before.grants?.[action]?.add);
          // What is inherited is not refused here by taking a role.
          const remaining = present.filter((id) => !ids.includes(id) || !ownIdentities.has(id));
          const newGrant = {
            identities: isWanted(action) ? [...present, ...ids] : remaining,
            ...(value !== undefined && { value }),
          };
          const { grants: _, ...rest } = after;
          const grants = grantsAfter(view, after, action, newGrant);
          after = { ...rest, ...(grants && { grants }) };
        }
        return { grants: after.grants };
      });
      return rolesView(caller, view.find(resource.id) ?? resource);
    },
  });
}

/** Permissions of users and groups on a resource, as far as the caller may view them: their own, and those of their groups. */
function rolesOn(view: WorldView, resource: StoredResource, sees: Visibility['sees']) {
  const actions = actionsOf(resource);
  const rights = new Map<Uuid, Set<string>>();
  for (const { action, identities } of entitlementsOf(view, resource)) {
    for (const id of identities) rights.set(id, (rights.get(id) ?? new Set()).add(action));
  }
  const ownRights = new Map([...rights].map(([id, actionsOfHolder]) => [id, new Set(actionsOfHolder)]));
  // Members of a group have its permissions.
  const granting = new Map<Uuid, string[]>();
  for (const user of view.all('users')) {
    for (const group of groupsOf(user, view)) {
      const granted = ownRights.get(group.id);
      if (!granted) continue;
      rights.set(user.id, new Set([...(rights.get(user.id) ?? []), ...granted]));
      granting.set(user.id, [...(granting.get(user.id) ?? []), group.name]);
    }
  }
  const holders = [...rights].flatMap(([id, actionsOfHolder]): RoleHolder[] => {
    const holder = view.find(id);
    if (!holder || !sees(id)) return [];
    const role = roleOf(actionsOfHolder, actions);
    return [
      {
        id,
        name: holder.name,
        kind: holder.type === USER ? 'user' : 'group',
        ...(role && { role }),
        rights: actionsOfHolder.size,
        isOwn: Object.values(resource.grants ?? {}).some(({ add }) => add?.includes(id)),
        groups: granting.get(id) ?? [],
      },
    ];
  });
  return { holders: holders.sort((a, b) => (a.name < b.name ? -1 : 1)), actions: actions.size };
}
