import type { Router } from 'express';
import type { BodyOf } from '../contract/row.ts';
import { accessRows } from '../contract/window.ts';
import { type Gate, serve } from '../http/serve.ts';
import type { Caller } from '../model/caller.ts';
import { PlatformError } from '../model/errors.ts';
import type { Uuid } from '../model/ids.ts';
import { timeOf } from '../model/iso-time.ts';
import { demandRight } from '../model/rights.ts';
import { USER } from '../model/type-names.ts';
import { isDisabled, organizationFor } from '../security/accounts.ts';
import type { Credentials } from '../security/credentials.ts';
import { newKey } from '../security/key-routes.ts';

/** Most of either that one answer holds: the newest. */
const MAX_SHOWN = 1000;

export interface AccessOptions {
  credentials: Credentials;
  /** The key that comes back at the next start: root's first, once it is known. */
  firstKey(): string | undefined;
}

/** Keys and tokens, never what proves them: the root user sees all, everybody else their own; and new ones of both, shown once. */
export function accessRoutes({ credentials, firstKey }: AccessOptions, gate: Gate): Router {
  const { view, judge } = gate;
  const isSeen = (caller: Caller, accountId: Uuid) => caller.isRoot || caller.userId === accountId;
  const shown = (
    { accountId, lastUsedAtMs }: { accountId: Uuid; lastUsedAtMs: number | undefined },
    createdAtMs: number,
  ) => ({
    user: { id: accountId, name: view.find(accountId)?.name ?? accountId },
    created: timeOf(createdAtMs),
    ...(lastUsedAtMs !== undefined && { lastUsed: timeOf(lastUsedAtMs) }),
  });
  /** The account that is meant, and for which organization. Throws 403 when it is not the caller's to change. */
  const wanted = (caller: Caller, { userId, orgId }: BodyOf<typeof accessRows.makeApiKey>) => {
    const user = view.find(userId.toLowerCase());
    if (user?.type !== USER) throw new PlatformError(404, `user ${userId} not found`);
    if (caller.userId !== user.id) demandRight(judge, { caller, action: 'user.update', resource: user });
    return { user, organization: organizationFor(view, user, orgId?.toLowerCase()) };
  };
  return serve(accessRows, gate, {
    listKeysAndTokens({ caller }) {
      const first = firstKey();
      const keys = [...credentials.keys()].filter(({ accountId }) => isSeen(caller, accountId));
      const tokens = [...credentials.tokens()].filter(({ accountId }) => isSeen(caller, accountId));
      return {
        keys: newest(keys).map((key) => ({
          id: key.key, // half of the pair, and no secret
          isDisabled: key.disabled,
          ...shown(key, key.createdAtMs),
          isFirst: key.key === first,
        })),
        tokens: newest(tokens).map((token) => ({
          id: token.id,
          ...shown(token, token.issuedAtMs),
          expires: timeOf(token.expiresAtMs),
          isOwn: token.id === caller.tokenId,
        })),
        total: { keys: keys.length, tokens: tokens.length },
      };
    },
    async endToken({ caller, path: { token_id: id } }) {
      const found = [...credentials.tokens()].find((token) => token.id === id);
      const isSeenHere = found && isSeen(caller, found.accountId);
      if (!isSeenHere || !(await credentials.endToken(id))) {
        throw new PlatformError(404, `there is no token '${id.slice(0, 64)}' of yours; it may have ended already`);
      }
    },
    async makeApiKey({ caller, body }) {
      const { user, organization } = wanted(caller, body);
      return newKey(credentials, user, organization);
    },
    async makeToken({ caller, body }) {
      const { user, organization } = wanted(caller, body);
      // As the security service does, and not a token that is refused from the start (D-170).
      if (isDisabled(user)) throw new PlatformError(409, `account '${user.name}' is disabled: enable it first`);
      const accessToken = await credentials.issueToken(user.id, organization.id);
      return { accessToken, accountId: user.id, expiresInS: credentials.tokenLifetimeMs / 1000 };
    },
  });
}

function newest<T>(oldestFirst: readonly T[]): T[] {
  return oldestFirst.slice(-MAX_SHOWN).reverse();
}
