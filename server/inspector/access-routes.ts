import express, { type Request, type Router } from 'express';
import type { Caller } from '../model/caller.ts';
import { PlatformError } from '../model/errors.ts';
import type { Uuid } from '../model/ids.ts';
import type { WorldView } from '../model/world-view.ts';

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

/**
 * Keys and tokens, never what proves them. The root user sees all, everybody else their own.
 *
 * - `GET /access`: `{keys, tokens, total: {keys, tokens}}`, the newest first.
 * - `DELETE /access/tokens/{id}`: 204; 404 for one that is unknown or somebody else's. A key is ended by the contract's
 *   `DELETE /security/apiKeys/{key}` (D-174), which takes no more than what is shown here; a token only by itself.
 *
 * @param callerOf throws 401
 */
export function accessRoutes(desk: () => AccessDesk, view: WorldView, callerOf: (req: Request) => Caller): Router {
  const isSeen = (caller: Caller, accountId: Uuid) => caller.isRoot || caller.userId === accountId;
  const userOf = (id: Uuid) => ({ id, name: view.find(id)?.name ?? id });

  const router = express.Router({ caseSensitive: true });
  router.get('/access', (req, res) => {
    const caller = callerOf(req);
    const own = desk().idOfToken(req.headers.authorization);
    const first = desk().firstKey();
    const keys = desk()
      .keys()
      .filter(({ accountId }) => isSeen(caller, accountId));
    const tokens = desk()
      .tokens()
      .filter(({ accountId }) => isSeen(caller, accountId));
    res.set('Cache-Control', 'no-store').json({
      keys: newest(keys).map(({ accountId, createdAtMs, lastUsedAtMs, ...key }) => ({
        ...key,
        user: userOf(accountId),
        ...times({ createdAtMs, lastUsedAtMs }),
        isFirst: key.id === first,
      })),
      tokens: newest(tokens).map(({ accountId, createdAtMs, lastUsedAtMs, expiresAtMs, id }) => ({
        id,
        user: userOf(accountId),
        ...times({ createdAtMs, lastUsedAtMs, expiresAtMs }),
        isOwn: id === own,
      })),
      total: { keys: keys.length, tokens: tokens.length },
    });
  });
  router.delete('/access/tokens/:id', async (req, res) => {
    const caller = callerOf(req);
    const { id } = req.params;
    const found = desk()
      .tokens()
      .find((token) => token.id === id);
    const isSeenHere = found && isSeen(caller, found.accountId);
    if (!isSeenHere || !(await desk().revokeToken(id))) {
      throw new PlatformError(404, `there is no token '${id.slice(0, 64)}' of yours; it may have ended already`);
    }
    res.status(204).end();
  });
  return router;
}

function newest<T>(oldestFirst: readonly T[]): T[] {
  return oldestFirst.slice(-MAX_SHOWN).reverse();
}

function times(atMs: { createdAtMs: number; lastUsedAtMs: number | undefined; expiresAtMs?: number }) {
  const iso = (ms: number) => new Date(ms).toISOString();
  return {
    created: iso(atMs.createdAtMs),
    ...(atMs.lastUsedAtMs !== undefined && { lastUsed: iso(atMs.lastUsedAtMs) }),
    ...(atMs.expiresAtMs !== undefined && { expires: iso(atMs.expiresAtMs) }),
  };
}
