import type { Router } from 'express';
import type { BodyOf } from '../../api/routes/route.ts';
import { keyRoutes } from '../../api/routes/security.ts';
import { accessRoutes } from '../../api/routes/window.ts';
import { mountRoutes, type RouteGuard } from '../../api/server/mount-routes.ts';
import type { Caller } from '../../model/caller.ts';
import { invalid, PlatformError } from '../../model/errors.ts';
import { timeOf } from '../../model/iso-time.ts';
import type { StoredResource, Uuid } from '../../model/record.ts';
import { requireRightTo } from '../../model/rules/actions.ts';
import { USER } from '../../model/type-names.ts';
import { isDisabled, organizationFor } from './authenticator.ts';
import type { Credentials } from './credentials.ts';
import type { RandomPasswords } from './passwords.ts';
import type { SecurityParts } from './security-parts.ts';

/** Maximum number of keys and of tokens in a response: the newest. */
const MAX_SHOWN = 1000;

/**
 * Lists keys and tokens without their secrets: root sees all, other users their own. New ones are shown once.
 * @param firstKey the key that comes back at the next start: root's first, once it is known
 */
export function accessRouter(
  credentials: Credentials,
  passwords: RandomPasswords,
  firstKey: () => string | undefined,
  guard: RouteGuard,
): Router {
  const { view, authorizer } = guard;
  const isSeen = (caller: Caller, accountId: Uuid) => caller.isRoot || caller.userId === accountId;
  const accountView = (
    { accountId, lastUsedAtMs }: { accountId: Uuid; lastUsedAtMs: number | undefined },
    createdAtMs: number,
  ) => ({
    user: { id: accountId, name: view.find(accountId)?.name ?? accountId },
    created: timeOf(createdAtMs),
    ...(lastUsedAtMs !== undefined && { lastUsed: timeOf(lastUsedAtMs) }),
  });
  /** The account that is meant, and for which organization. Throws 403 when it is not the caller's to change. */
  const targetOf = (caller: Caller, { userId, orgId }: BodyOf<typeof accessRoutes.makeApiKey>) => {
    const user = view.find(userId.toLowerCase());
    if (user?.type !== USER) throw new PlatformError('not_found', `user ${userId} not found`);
    if (caller.userId !== user.id) requireRightTo(authorizer, { caller, action: 'user.update', resource: user });
    return { user, organization: organizationFor(view, user, orgId?.toLowerCase()) };
  };
  return mountRoutes(accessRoutes, guard, {
    listKeysAndTokens({ caller }) {
      const first = firstKey();
      const keys = [...credentials.keys()].filter(({ accountId }) => isSeen(caller, accountId));
      const tokens = [...credentials.tokens()].filter(({ accountId }) => isSeen(caller, accountId));
      return {
        keys: newest(keys).map((key) => ({
          id: key.key, // half of the pair, and no secret
          isDisabled: key.disabled,
          ...accountView(key, key.createdAtMs),
          isFirst: key.key === first,
        })),
        tokens: newest(tokens).map((token) => ({
          id: token.id,
          ...accountView(token, token.issuedAtMs),
          expires: timeOf(token.expiresAtMs),
          isOwn: token.id === caller.tokenId,
        })),
        total: { keys: keys.length, tokens: tokens.length },
      };
    },
    async listPasswords() {
      const named = passwords.users().flatMap((user) => view.named('users', user));
      const passwordViews = named.map(async ({ id, name, properties }) => {
        const password = await passwords.inForce(name, properties.password);
        return password === undefined ? [] : [{ user: { id, name }, password }];
      });
      return (await Promise.all(passwordViews)).flat();
    },
    async endToken({ caller, path: { token_id: id } }) {
      const found = [...credentials.tokens()].find((token) => token.id === id);
      const isVisible = found && isSeen(caller, found.accountId);
      if (!isVisible || !(await credentials.endToken(id))) {
        throw new PlatformError('not_found', `you have no token '${id.slice(0, 64)}'; it may have expired`);
      }
    },
    async makeApiKey({ caller, body }) {
      const { user, organization } = targetOf(caller, body);
      return newKey(credentials, user, organization);
    },
    async makeToken({ caller, body }) {
      const { user, organization } = targetOf(caller, body);
      // As the security service does, and not a token that is refused from the start (D-170).
      if (isDisabled(user))
        throw new PlatformError('invalid_state', `account '${user.name}' is disabled. Enable it first.`);
      const accessToken = await credentials.issueToken(user.id, organization.id);
      return { accessToken, accountId: user.id, expiresInS: credentials.tokenLifetimeMs / 1000 };
    },
  });
}

function newest<T>(oldestFirst: readonly T[]): T[] {
  return oldestFirst.slice(-MAX_SHOWN).reverse();
}

/** A new key pair of an account, as it is answered once (D-173). */
async function newKey(credentials: Credentials, { id }: StoredResource, organization: StoredResource) {
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
