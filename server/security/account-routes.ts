import { Router } from 'express';
import { z } from 'zod';
import { readJson } from '../http/read-body.ts';
import { invalid, PlatformError } from '../model/errors.ts';
import type { Uuid } from '../model/ids.ts';
import type { StoredResource } from '../model/record.ts';
import { parseWith } from '../model/validate.ts';
import { userPatchOf } from './account-patch.ts';
import { findUser, isRootUser, memberIds } from './accounts.ts';
import { type SecurityOptions, SecurityRequest } from './security-request.ts';

const JSON_PATCH = { types: ['application/json-patch+json'] };

const MembershipPatch = z.array(
  z.object({ op: z.enum(['add', 'remove']), path: z.literal('/accounts'), value: z.guid() }),
);

/** Accounts and the membership of groups (D-178, D-179). */
export function accountRoutes(options: SecurityOptions): Router {
  const { view, accounts } = options;
  const router = Router({ caseSensitive: true });

  router.get('/accounts/self', (http, res) => {
    const request = new SecurityRequest(options, http);
    res.json(request.forms.account(request.self()));
  });

  router.get('/accounts/:id', (http, res) => {
    const request = new SecurityRequest(options, http);
    const caller = request.caller();
    const user = request.user();
    if (user.id !== caller.userId) request.demand(caller, 'user.view', user);
    res.json(request.forms.account(user));
  });

  router.patch('/accounts/:id', async (http, res) => {
    const request = new SecurityRequest(options, http);
    const caller = request.caller();
    const user = request.user();
    // Of his own account everybody may change some (D-117): what, the writer says.
    if (user.id !== caller.userId) request.demand(caller, 'user.update', user);
    await accounts.patchUser(caller, user.id, userPatchOf(await readJson(http, JSON_PATCH)));
    res.json(request.forms.account(request.user()));
  });

  router.delete('/accounts/:id', async (http, res) => {
    const request = new SecurityRequest(options, http);
    const caller = request.caller();
    const user = request.user();
    request.demand(caller, 'user.delete', user);
    await accounts.deleteUser(caller, user.id);
    res.status(204).end();
  });

  for (const verb of ['disable', 'enable'] as const) {
    router.post(`/accounts/:id/${verb}`, async (http, res) => {
      const request = new SecurityRequest(options, http);
      const caller = request.caller();
      const user = request.user();
      request.demand(caller, 'user.update', user);
      if (isRootUser(view, user.id)) throw new PlatformError(409, `root's user cannot be ${verb}d`);
      await accounts.setDisabled(caller, user.id, verb === 'disable');
      res.json(request.forms.account(request.user()));
    });
  }

  router.get('/groups/:id', (http, res) => {
    const request = new SecurityRequest(options, http);
    const caller = request.caller();
    const group = request.group();
    request.demand(caller, 'group.view', group);
    res.json(request.forms.group(group));
  });

  router.patch('/groups/:id/accounts', async (http, res) => {
    const request = new SecurityRequest(options, http);
    const caller = request.caller();
    const group = request.group();
    request.demand(caller, 'group.update', group);
    const operations = parseWith(MembershipPatch, await readJson(http, JSON_PATCH));
    await accounts.setMembers(caller, group.id, membersAfter(request.group(), operations));
    res.json(request.forms.members(request.group()));
  });

  /** The membership after the operations, in order; throws 400 for an account that does not exist (D-073). */
  function membersAfter(group: StoredResource, operations: z.infer<typeof MembershipPatch>): Uuid[] {
    const members = new Set(memberIds(group));
    operations.forEach(({ op, value }, index) => {
      const id = value.toLowerCase();
      if (op === 'remove') members.delete(id);
      else if (findUser(view, id)) members.add(id);
      else throw invalid(`/${index}/value`, `names no account: ${id}`);
    });
    return [...members];
  }

  return router;
}
