import express, { type Request, type Router } from 'express';
import { z } from 'zod';
import { readJson } from '../http/read-body.ts';
import type { Caller, Judge } from '../model/caller.ts';
import { forbidden, PlatformError } from '../model/errors.ts';
import type { Uuid } from '../model/ids.ts';
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

/** Who makes key pairs. */
export interface KeyMaker {
  /**
   * @param orgId the organization it is for; that of the account unless given
   * @throws PlatformError 400 for an organization where the account does not exist
   */
  create(accountId: Uuid, orgId: Uuid | undefined): Promise<NewKey>;
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
 * `POST /access/keys` `{userId, orgId?}`: a key pair for an account, 201, its secret for the only time. The contract's own route
 * takes another key pair as proof (D-173); whoever is signed in at the window has none, but the same rights.
 */
export function keyRoutes({ view, judge, keys, callerOf }: KeyRoutesOptions): Router {
  const router = express.Router({ caseSensitive: true });
  router.post('/access/keys', async (req, res) => {
    const caller = callerOf(req);
    const { userId, orgId } = parseWith(wish, await readJson(req));
    const user = view.find(userId.toLowerCase());
    if (user?.type !== USER) throw new PlatformError(404, `user ${userId} not found`);
    if (caller.userId !== user.id && !judge.may(caller, 'user.update', user.id)) throw forbidden('user.update');
    res
      .set('Cache-Control', 'no-store')
      .status(201)
      .json(await keys.create(user.id, orgId?.toLowerCase()));
  });
  return router;
}
