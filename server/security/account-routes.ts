import type { Router } from 'express';
import { accountRows } from '../contract/security.ts';
import { serve } from '../http/serve.ts';
import type { Caller } from '../model/caller.ts';
import { invalid, PlatformError } from '../model/errors.ts';
import type { Uuid } from '../model/ids.ts';
import type { StoredResource } from '../model/record.ts';
import { memberIds } from '../model/types/group.ts';
import { findUser, isRootUser } from './accounts.ts';
import type { SecurityParts } from './security-parts.ts';

/** Accounts and the membership of groups (D-178, D-179). */
export function accountRoutes({ options, gate, finders, forms, self }: SecurityParts): Router {
  const { view, accounts } = options;

  const setDisabled = async (caller: Caller, user: StoredResource, isDisabled: boolean) => {
    if (isRootUser(view, user.id)) {
      throw new PlatformError(409, `root's user cannot be ${isDisabled ? 'disabled' : 'enabled'}`);
    }
    await accounts.setDisabled(caller, user.id, isDisabled);
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
    accountRows,
    gate,
    {
      readOwnAccount: ({ caller, req }) => forms(req).account(self(caller)),
      readAccount: ({ resource, req }) => forms(req).account(resource),
      async patchAccount({ caller, resource, body, req }) {
        // Of his own account everybody may change some (D-117): what, the writer says.
        await accounts.patchUser(caller, resource.id, body);
        return forms(req).account(finders.account_id(resource.id));
      },
      deleteAccount: ({ caller, resource }) => accounts.deleteUser(caller, resource.id),
      disableAccount: async ({ caller, resource, req }) =>
        forms(req).account(await setDisabled(caller, resource, true)),
      enableAccount: async ({ caller, resource, req }) =>
        forms(req).account(await setDisabled(caller, resource, false)),
      readAccountGroup: ({ resource, req }) => forms(req).group(resource),
      async changeAccountGroup({ caller, resource: { id }, body, req }) {
        await accounts.setMembers(caller, id, membersAfter(finders.group_id(id), body));
        return forms(req).members(finders.group_id(id));
      },
    },
    finders,
  );
}
