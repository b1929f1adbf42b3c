import type { Router } from 'express';
import { type RoleHolder, roleRows } from '../contract/roles.ts';
import { eyesOf } from '../http/eyes.ts';
import { type Gate, serve } from '../http/serve.ts';
import { viaOf } from '../http/via.ts';
import { actionsOf } from '../model/actions.ts';
import type { Caller } from '../model/caller.ts';
import { invalid } from '../model/errors.ts';
import type { Uuid } from '../model/ids.ts';
import type { StoredResource } from '../model/record.ts';
import { actionsOfRole, roleOf } from '../model/roles.ts';
import { USER } from '../model/type-names.ts';
import { GROUP } from '../model/types/group.ts';
import { entitlementsOf, grantsAfter, isEntitled } from '../security/entitlements.ts';
import type { ResourceService } from './resource-service.ts';

/** Rights given together: roles are no third kind of right, but a way to change many entitlements at once. */
export function roleRoutes(service: Pick<ResourceService, 'view' | 'setGrants'>, gate: Gate): Router {
  const { view } = service;
  const shown = (caller: Caller, resource: StoredResource) => {
    const { sees } = eyesOf(gate, caller);
    const actions = actionsOf(resource);
    const rights = new Map<Uuid, Set<string>>();
    for (const { action, identities } of entitlementsOf(view, resource)) {
      for (const id of identities) rights.set(id, (rights.get(id) ?? new Set()).add(action));
    }
    const holders = [...rights].flatMap(([id, mine]): RoleHolder[] => {
      const holder = view.find(id);
      if (!holder || !sees(id)) return [];
      const role = roleOf(mine, actions);
      return [
        {
          id,
          name: holder.name,
          kind: holder.type === USER ? 'user' : 'group',
          ...(role && { role }),
          rights: mine.size,
          isOwn: Object.values(resource.grants ?? {}).some(({ add }) => add?.includes(id)),
        },
      ];
    });
    return { holders: holders.sort((a, b) => (a.name < b.name ? -1 : 1)), actions: actions.size };
  };
  return serve(roleRows, gate, {
    readRoles: ({ caller, resource }) => shown(caller, resource),
    async setRoles({ caller, resource, body: { identities, role, sameAs }, req }) {
      if ((role === undefined) === (sameAs === undefined)) throw invalid('/role', 'or sameAs is needed, and not both');
      const { sees } = eyesOf(gate, caller);
      const demand = (sent: string, pointer: string): Uuid => {
        const id = sent.toLowerCase();
        const { type } = view.find(id) ?? {};
        if ((type === USER || type === GROUP) && sees(id)) return id;
        throw invalid(pointer, `is no user or group that you may view: ${sent}`);
      };
      const ids = identities.map((id, at) => demand(id, `/identities/${at}`));
      const model = sameAs === undefined ? undefined : demand(sameAs, '/sameAs');
      const all = actionsOf(resource);
      const ofRole = new Set(role === undefined || role === 'none' ? [] : actionsOfRole(role, all));
      await service.setGrants({ caller, via: viaOf(req) }, resource.id, (before) => {
        const isWanted = (action: string) =>
          model === undefined ? ofRole.has(action) : isEntitled(view, before, action, model);
        let after = before;
        for (const { action, identities: present, value } of entitlementsOf(view, before)) {
          const own = new Set(before.grants?.[action]?.add);
          // What is inherited is not refused here by taking a role.
          const kept = present.filter((id) => !ids.includes(id) || !own.has(id));
          const wanted = {
            identities: isWanted(action) ? [...present, ...ids] : kept,
            ...(value !== undefined && { value }),
          };
          const { grants: _, ...rest } = after;
          const grants = grantsAfter(view, after, action, wanted);
          after = { ...rest, ...(grants && { grants }) };
        }
        return { grants: after.grants };
      });
      return shown(caller, view.find(resource.id) ?? resource);
    },
  });
}
