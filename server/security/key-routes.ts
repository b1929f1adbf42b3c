import { Router } from 'express';
import { z } from 'zod';
import { readJson } from '../http/read-body.ts';
import type { Caller } from '../model/caller.ts';
import { invalid } from '../model/errors.ts';
import { ORGANIZATION, owningOrganization } from '../model/hierarchy.ts';
import type { Uuid } from '../model/ids.ts';
import type { StoredResource } from '../model/record.ts';
import { demandRight } from '../model/rights.ts';
import { parseWith } from '../model/validate.ts';
import { isUsableIn } from './accounts.ts';
import { type SecurityOptions, SecurityRequest } from './security-request.ts';

const KeyWish = z.object({ orgId: z.guid().nullish() });

/** API keys and the end of keys and tokens (D-173, D-174). */
export function keyRoutes(options: SecurityOptions): Router {
  const { view, credentials, judge } = options;
  const router = Router({ caseSensitive: true });

  router.post('/accounts/:id/apiKeys', async (http, res) => {
    const request = new SecurityRequest(options, http);
    const caller = request.basicCaller();
    const user = request.user();
    const isOwn = caller.userId === user.id;
    if (!isOwn) request.demand(caller, 'user.update', user);
    const { orgId } = parseWith(KeyWish, (await readJson(http)) ?? {});
    if (!orgId && !isOwn) throw invalid('/orgId', 'is required for a key of another account');
    const organization = orgId ? usableOrganization(user, orgId.toLowerCase()) : owningOrganization(view, user);
    const { key, secret } = await credentials.createKey(user.id, organization.id);
    res.status(201).set('Cache-Control', 'no-store');
    res.json({ apiKey: key, apiSecret: secret, accountId: user.id, disabled: false });
  });

  router.delete('/apiKeys/:key', async (http, res) => {
    const request = new SecurityRequest(options, http);
    const caller = request.caller();
    const key = request.segment('key');
    demandOwn(caller, credentials.findKey(key)?.accountId);
    res.json({ wasDeleted: await credentials.revokeKey(key) });
  });

  router.delete('/accessTokens/:token', async (http, res) => {
    const request = new SecurityRequest(options, http);
    const caller = request.caller();
    const token = request.segment('token');
    demandOwn(caller, credentials.findToken(token)?.accountId);
    res.json({ wasDeleted: await credentials.revokeToken(token) });
  });

  function usableOrganization(user: StoredResource, orgId: Uuid): StoredResource {
    const organization = view.find(orgId);
    if (organization?.type !== ORGANIZATION) throw invalid('/orgId', `names no organization: ${orgId}`);
    if (!isUsableIn(view, user, organization)) {
      throw invalid('/orgId', `names an organization where account '${user.name}' does not exist: ${orgId}`);
    }
    return organization;
  }

  /** Of whom there is nothing to end, nobody need be the owner. */
  function demandOwn(caller: Caller, accountId: Uuid | undefined): void {
    if (accountId === undefined || accountId === caller.userId) return;
    demandRight(judge, { caller, action: 'user.update', resource: view.find(accountId) ?? { id: accountId } });
  }

  return router;
}
