import express, { type Request, type Router } from 'express';
import { z } from 'zod';
import { readJson } from '../http/read-body.ts';
import type { Caller } from '../model/caller.ts';
import { PlatformError } from '../model/errors.ts';
import { parseWith } from '../model/validate.ts';
import type { WorldGuard } from './history-routes.ts';
import { cookieName, type WindowSessions } from './window-sessions.ts';

const key = z.string().min(32).max(200).optional();
const proof = z.union([
  z.strictObject({ code: z.string().min(1).max(200), key }),
  z.strictObject({ username: z.string().min(1).max(255), password: z.string().min(1).max(1024), key }),
]);

/**
 * How the window signs in, below `/inspect`:
 *
 * - `POST /session` `{code, key?}` or `{username, password, key?}`: 200 `{user}` and a cookie; 401 says why not. With a key the cookie
 *   is good only beside the header `X-Terrarium-Session-Key` with that very key.
 * - `GET /session`: 200 `{user}`, or 401. `DELETE /session`: 204.
 * - `POST /session/codes`: 201 `{code, url}`, for one sign-in as root. Root only.
 */
export function sessionRoutes(
  sessions: WindowSessions,
  options: { guard: WorldGuard; callerOf(req: Request): Caller; windowUrl(code: string): string },
): Router {
  const router = express.Router({ caseSensitive: true });
  router.post('/session', async (req, res) => {
    // Whoever can make a browser sign in as somebody else sees what is done there.
    const { origin, host } = req.headers;
    if (origin !== undefined && (!URL.canParse(origin) || new URL(origin).host !== host)) {
      throw new PlatformError(403, "sign in from the window's own pages");
    }
    const { key, ...sent } = parseWith(proof, await readJson(req), '');
    const { id, session } = await sessions.begin(sent, req.socket.remoteAddress, key);
    res.cookie(cookieName(req), id, { httpOnly: true, sameSite: 'strict', path: '/' });
    res.set('Cache-Control', 'no-store').json({ user: { id: session.userId } });
  });
  router.get('/session', (req, res) => {
    const { userId, name, isRoot } = options.callerOf(req);
    res.set('Cache-Control', 'no-store').json({ user: { id: userId, name, isRoot } });
  });
  router.delete('/session', async (req, res) => {
    await sessions.end(req);
    res.clearCookie(cookieName(req), { path: '/' }).status(204).end();
  });
  router.post('/session/codes', (req, res) => {
    options.guard.root(req);
    const code = sessions.createCode();
    res
      .status(201)
      .set('Cache-Control', 'no-store')
      .json({ code, url: options.windowUrl(code) });
  });
  return router;
}
