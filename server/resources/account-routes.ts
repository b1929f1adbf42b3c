import type { Router } from 'express';
import { accountRows } from '../contract/security.ts';
import { serve } from '../http/serve.ts';
import type { Caller } from '../model/caller.ts';
import { invalid, PlatformError } from '../model/errors.ts';
import type { Uuid } from '../model/ids.ts';
import type { StoredResource } from '../model/record.ts';
import { memberIds } from '../model/types/group.ts';
import { findUser, isRootUser } from '../security/accounts.ts';
import type { SecurityParts } from '../security/security-parts.ts';
import type { Act } from './act.ts';
import type { ResourceService } from './resource-service.ts';

const { patchAccount, deleteAccount, disableAccount, enableAccount, changeAccountGroup } = accountRows;
const rows = { patchAccount, deleteAccount, disableAccount, enableAccount, changeAccountGroup };

/** Changes of accounts and of the membership of groups, as the security service has them: made where users and groups live (D-072). */
export function accountChanges(service: ResourceService, { gate, finders, forms }: SecurityParts): Router {
  const { view } = service;
  const actOf = (caller: Caller): Act => ({ caller, via: 'api' });

  const setDisabled = async (caller: Caller, user: StoredResource, disabled: boolean) => {
    if (isRootUser(view, user.id)) {
      throw new PlatformError(409, `root's user cannot be ${disabled ? 'disabled' : 'enabled'}`);
    }
    const { disabled: _, ...properties } = user.properties;
    const after = { ...user, properties: { ...properties, ...(disabled && { disabled }) } };
    await service.commit(actOf(caller), 'user.update', [after]);
    return finders.account_id(user.id);
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

  return serve(
    rows,
    gate,
    {
      async patchAccount({ caller, resource, body, req }) {
        // Of his own account everybody may change some (D-117): what, the service says.
        await service.patch(actOf(caller), resource.id, body);
        return forms(req).account(finders.account_id(resource.id));
      },
      deleteAccount: ({ caller, resource }) => service.remove(actOf(caller), resource.id),
      disableAccount: async ({ caller, resource, req }) =>
        forms(req).account(await setDisabled(caller, resource, true)),
      enableAccount: async ({ caller, resource, req }) =>
        forms(req).account(await setDisabled(caller, resource, false)),
      async changeAccountGroup({ caller, resource: { id }, body, req }) {
        const users = membersAfter(finders.group_id(id), body);
        await service.setProperties(actOf(caller), id, 'update', ({ properties }) => ({ ...properties, users }));
        return forms(req).members(finders.group_id(id));
      },
    },
    finders,
  );
}
