import type { Router } from 'express';
import { keyRows } from '../contract/security.ts';
import { serve } from '../http/serve.ts';
import type { Caller } from '../model/caller.ts';
import { invalid } from '../model/errors.ts';
import type { Uuid } from '../model/ids.ts';
import type { StoredResource } from '../model/record.ts';
import { demandRight } from '../model/rights.ts';
import { organizationFor } from './accounts.ts';
import type { Credentials } from './credentials.ts';
import type { SecurityParts } from './security-parts.ts';

/** A new key pair of an account, as it is answered once (D-173). */
export async function newKey(credentials: Credentials, { id }: StoredResource, organization: StoredResource) {
  const { key, secret } = await credentials.createKey(id, organization.id);
  return { apiKey: key, apiSecret: secret, accountId: id, disabled: false };
}

/** API keys and the end of keys and tokens (D-173, D-174). */
export function keyRoutes({ options, gate, finders }: SecurityParts): Router {
  const { view, credentials, judge } = options;

  /** Of whom there is nothing to end, nobody need be the owner. */
  const demandOwn = (caller: Caller, accountId: Uuid | undefined) => {
    if (accountId === undefined || accountId === caller.userId) return;
    demandRight(judge, { caller, action: 'user.update', resource: view.find(accountId) ?? { id: accountId } });
  };

  return serve(
    keyRows,
    gate,
    {
      async createApiKey({ caller, resource: user, body: { orgId } }) {
        if (!orgId && caller.userId !== user.id) throw invalid('/orgId', 'is required for a key of another account');
        return newKey(credentials, user, organizationFor(view, user, orgId?.toLowerCase()));
      },
      async deleteApiKey({ caller, path: { api_key: key } }) {
        demandOwn(caller, credentials.findKey(key)?.accountId);
        return { wasDeleted: await credentials.revokeKey(key) };
      },
      async deleteAccessToken({ caller, path: { token } }) {
        demandOwn(caller, credentials.findToken(token)?.accountId);
        return { wasDeleted: await credentials.revokeToken(token) };
      },
    },
    finders,
  );
}
