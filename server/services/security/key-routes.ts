import type { Router } from 'express';
import { keyRoutes } from '../../api/routes/security.ts';
import type { Caller } from '../../model/caller.ts';
import { invalid } from '../../model/errors.ts';
import type { StoredResource, Uuid } from '../../model/record.ts';
import { requireRightTo } from '../../model/rules/rights.ts';
import { organizationFor } from './accounts.ts';
import type { Credentials } from './credentials.ts';
import type { SecurityParts } from './security-parts.ts';

/** A new key pair of an account, as it is answered once (D-173). */
export async function newKey(credentials: Credentials, { id }: StoredResource, organization: StoredResource) {
  const { key, secret } = await credentials.createKey(id, organization.id);
  return { apiKey: key, apiSecret: secret, accountId: id, disabled: false };
}

/** API keys and the end of keys and tokens (D-173, D-174). */
export function keyRouter({ options, mount }: SecurityParts): Router {
  const { view, credentials, authorizer } = options;

  /** An account without keys and tokens need not exist. */
  const requireOwn = (caller: Caller, accountId: Uuid | undefined) => {
    if (accountId === undefined || accountId === caller.userId) return;
    requireRightTo(authorizer, { caller, action: 'user.update', resource: view.find(accountId) ?? { id: accountId } });
  };

  return mount(keyRoutes, {
    async createApiKey({ caller, resource: user, body: { orgId } }) {
      if (!orgId && caller.userId !== user.id) throw invalid('/orgId', 'is required for a key of another account');
      return newKey(credentials, user, organizationFor(view, user, orgId?.toLowerCase()));
    },
    async deleteApiKey({ caller, path: { api_key: key } }) {
      requireOwn(caller, credentials.findKey(key)?.accountId);
      return { wasDeleted: await credentials.revokeKey(key) };
    },
    async deleteAccessToken({ caller, path: { token } }) {
      requireOwn(caller, credentials.findToken(token)?.accountId);
      return { wasDeleted: await credentials.revokeToken(token) };
    },
  });
}
