import type { Router } from 'express';
import { accountRoutes } from '../../api/routes/security.ts';
import { accountError } from '../../api/schemas/account-patch.ts';
import { invalid, PlatformError } from '../../model/errors.ts';
import type { StoredResource, Uuid } from '../../model/record.ts';
import { memberIds } from '../../model/types/group.ts';
import { findUser, isRootUser } from '../security/authenticator.ts';
import type { SecurityParts } from '../security/security-parts.ts';
import { type Actor, actorOf } from './actor.ts';
import type { ResourceService } from './resource-service.ts';

const { patchAccount, deleteAccount, disableAccount, enableAccount, changeAccountGroup } = accountRoutes;
const rows = { patchAccount, deleteAccount, disableAccount, enableAccount, changeAccountGroup };

/** Changes of accounts and of the membership of groups, as the security service has them: made where users and groups live (D-072). */
export function accountChanges(service: ResourceService, { mount, resolvers, forms }: SecurityParts): Router {
  const { view } = service;
  const setDisabled = async (actor: Actor, user: StoredResource, disabled: boolean) => {
    if (isRootUser(view, user.id)) {
      throw new PlatformError('protected_resource', `root's user cannot be ${disabled ? 'disabled' : 'enabled'}`);
    }
    const { disabled: _, ...properties } = user.properties;
    const after = { ...user, properties: { ...properties, ...(disabled && { disabled }) } };
    await service.commit(actor, 'user.update', [after]);
    return resolvers.account_id(user.id);
  };
  /** The membership after the operations, in order; throws 400 for an account that does not exist (D-073). */
  const membersAfter = (
    group: StoredResource,
    operations: readonly { op: 'add' | 'remove'; value: Uuid }[],
  ): Uuid[] => {
    const members = new Set(memberIds(group));
    operations.forEach(({ op, value }, index) => {
      const id = value.toLowerCase();
      if (op === 'remove') members.delete(id);
      else if (findUser(view, id)) members.add(id);
      else throw invalid(`/${index}/value`, `names no account: ${id}`);
    });
    return [...members];
  };

  return mount(rows, {
    async patchAccount({ caller, resource, body, req }) {
      // All users can change some members of their own account (D-117); the service decides which ones.
      await service.patch(actorOf(caller, req), resource.id, body).catch((failure: unknown) => {
        throw failure instanceof PlatformError ? accountError(failure) : failure;
      });
      return forms(req).account(resolvers.account_id(resource.id));
    },
    deleteAccount: ({ caller, resource, req }) => service.remove(actorOf(caller, req), resource.id),
    disableAccount: async ({ caller, resource, req }) =>
      forms(req).account(await setDisabled(actorOf(caller, req), resource, true)),
    enableAccount: async ({ caller, resource, req }) =>
      forms(req).account(await setDisabled(actorOf(caller, req), resource, false)),
    async changeAccountGroup({ caller, resource: { id }, body, req }) {
      const users = membersAfter(resolvers.group_id(id), body);
      await service.setProperties(actorOf(caller, req), id, 'update', ({ properties }) => ({ ...properties, users }));
      return forms(req).members(resolvers.group_id(id));
    },
  });
}
