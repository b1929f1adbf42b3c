import express, { type Request, type Router } from 'express';
import { z } from 'zod';
import { readJson } from '../http/read-body.ts';
import type { Caller, Judge } from '../model/caller.ts';
import { PlatformError } from '../model/errors.ts';
import type { Uuid } from '../model/ids.ts';
import { demandRight } from '../model/rights.ts';
import { USER } from '../model/type-names.ts';
import { parseWith } from '../model/validate.ts';
import type { WorldView } from '../model/world-view.ts';

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

export interface KeyRoutesOptions {
  view: WorldView;
  judge: Judge;
  keys: KeyMaker;
  /** Throws 401. */
  callerOf(req: Request): Caller;
}

const wish = z.strictObject({ userId: z.guid(), orgId: z.guid().optional() });

/**
 * What opens the platform, for programs. The contract's own routes take another key pair (D-173) or a password (D-170) as proof;
 * whoever is signed in at the window has neither at hand, but the same rights.
 *
 * - `POST /access/keys` `{userId, orgId?}`: a key pair for an account, 201, its secret for the only time.
 * - `POST /access/tokens` `{userId, orgId?}`: an access token for it, 201, for the only time.
 */
export function keyRoutes({ view, judge, keys, callerOf }: KeyRoutesOptions): Router {
  /** The account that is meant, and for which organization. Throws 403 when it is not the caller's to change. */
  const wishIn = async (req: Request) => {
    const caller = callerOf(req);
    const { userId, orgId } = parseWith(wish, await readJson(req));
    const user = view.find(userId.toLowerCase());
    if (user?.type !== USER) throw new PlatformError(404, `user ${userId} not found`);
    if (caller.userId !== user.id) demandRight(judge, { caller, action: 'user.update', resource: user });
    return [user.id, orgId?.toLowerCase()] as const;
  };

  const router = express.Router({ caseSensitive: true });
  router.post('/access/keys', async (req, res) => {
    const made = await keys.create(...(await wishIn(req)));
    res.set('Cache-Control', 'no-store').status(201).json(made);
  });
  router.post('/access/tokens', async (req, res) => {
    const made = await keys.issueToken(...(await wishIn(req)));
    res.set('Cache-Control', 'no-store').status(201).json(made);
  });
  return router;
}
