import type { Router } from 'express';
import type { BodyOf } from '../contract/row.ts';
import { accessRows } from '../contract/window.ts';
import { type Gate, serve } from '../http/serve.ts';
import type { Caller } from '../model/caller.ts';
import { PlatformError } from '../model/errors.ts';
import type { Uuid } from '../model/ids.ts';
import { demandRight } from '../model/rights.ts';
import { USER } from '../model/type-names.ts';

/** An API key as one may see it: what proves it is not known to anybody. */
export interface KnownKey {
  /** The key itself, which is half of the pair and no secret. */
  id: string;
  accountId: Uuid;
  createdAtMs: number;
  /** Since the platform was started. */
  lastUsedAtMs?: number;
  isDisabled: boolean;
}

/** An access token as one may see it. */
export interface KnownToken {
  /** SHA-256 of the token, hex: it names the token and cannot be used in its place. */
  id: string;
  accountId: Uuid;
  createdAtMs: number;
  expiresAtMs: number;
  lastUsedAtMs?: number;
}

/** Who keeps keys and tokens. */
export interface AccessDesk {
  /** Oldest first. */
  keys(): readonly KnownKey[];
  /** Those that are still good, oldest first. */
  tokens(): readonly KnownToken[];
  /** Resolves to whether there was one. */
  revokeToken(id: string): Promise<boolean>;
  /** The id of the token that a request was sent with. */
  idOfToken(authorization: string | undefined): string | undefined;
  /** The key that comes back at the next start: root's first. */
  firstKey(): string | undefined;
}

/** Most of either that one answer holds: the newest. */
const MAX_SHOWN = 1000;

/** A key pair as it is answered once (D-173). */
export interface NewKey {
  apiKey: string;
  apiSecret: string;
  accountId: Uuid;
  disabled: boolean;
}

/** An access token as it is answered once (D-170). */
export interface NewToken {
  accessToken: string;
  accountId: Uuid;
  /** How long it is good, seconds. */
  expiresInS: number;
}

/** Who makes key pairs and access tokens. */
export interface KeyMaker {
  /**
   * @param orgId the organization it is for; that of the account unless given
   * @throws PlatformError 400 for an organization where the account does not exist
   */
  create(accountId: Uuid, orgId: Uuid | undefined): Promise<NewKey>;
  /** The same with a token. */
  issueToken(accountId: Uuid, orgId: Uuid | undefined): Promise<NewToken>;
}

/** Keys and tokens, never what proves them: the root user sees all, everybody else their own; and new ones of both, shown once. */
export function accessRoutes({ desk, keys }: { desk(): AccessDesk; keys: KeyMaker }, gate: Gate): Router {
  const { view, judge } = gate;
  const isSeen = (caller: Caller, accountId: Uuid) => caller.isRoot || caller.userId === accountId;
  const userOf = (id: Uuid) => ({ id, name: view.find(id)?.name ?? id });
  /** The account that is meant, and for which organization. Throws 403 when it is not the caller's to change. */
  const wanted = (caller: Caller, { userId, orgId }: BodyOf<typeof accessRows.makeApiKey>) => {
    const user = view.find(userId.toLowerCase());
    if (user?.type !== USER) throw new PlatformError(404, `user ${userId} not found`);
    if (caller.userId !== user.id) demandRight(judge, { caller, action: 'user.update', resource: user });
    return [user.id, orgId?.toLowerCase()] as const;
  };
  return serve(accessRows, gate, {
    listKeysAndTokens({ caller, req }) {
      const own = desk().idOfToken(req.headers.authorization);
      const first = desk().firstKey();
      const known = desk()
        .keys()
        .filter(({ accountId }) => isSeen(caller, accountId));
      const tokens = desk()
        .tokens()
        .filter(({ accountId }) => isSeen(caller, accountId));
      return {
        keys: newest(known).map(({ accountId, createdAtMs, lastUsedAtMs, ...key }) => ({
          ...key,
          user: userOf(accountId),
          created: timeOf(createdAtMs),
          ...(lastUsedAtMs !== undefined && { lastUsed: timeOf(lastUsedAtMs) }),
          isFirst: key.id === first,
        })),
        tokens: newest(tokens).map(({ accountId, createdAtMs, lastUsedAtMs, expiresAtMs, id }) => ({
          id,
          user: userOf(accountId),
          created: timeOf(createdAtMs),
          ...(lastUsedAtMs !== undefined && { lastUsed: timeOf(lastUsedAtMs) }),
          expires: timeOf(expiresAtMs),
          isOwn: id === own,
        })),
        total: { keys: known.length, tokens: tokens.length },
      };
    },
    async endToken({ caller, path: { token_id: id } }) {
      const found = desk()
        .tokens()
        .find((token) => token.id === id);
      const isSeenHere = found && isSeen(caller, found.accountId);
      if (!isSeenHere || !(await desk().revokeToken(id))) {
        throw new PlatformError(404, `there is no token '${id.slice(0, 64)}' of yours; it may have ended already`);
      }
    },
    makeApiKey: ({ caller, body }) => keys.create(...wanted(caller, body)),
    makeToken: ({ caller, body }) => keys.issueToken(...wanted(caller, body)),
  });
}

function newest<T>(oldestFirst: readonly T[]): T[] {
  return oldestFirst.slice(-MAX_SHOWN).reverse();
}

function timeOf(atMs: number): string {
  return new Date(atMs).toISOString();
}
