import type { Router } from 'express';
import type { EndpointUse, PlatformStatus } from '../../api/routes/window.ts';
import { windowRoutes } from '../../api/routes/window.ts';
import { isForeignWrite } from '../../api/server/host-guard.ts';
import { mountRoutes, type RouteGuard, targetOf } from '../../api/server/mount-routes.ts';
import { readJson } from '../../api/server/read-body.ts';
import { visibilityFor } from '../../api/server/visibility.ts';
import type { Caller } from '../../model/caller.ts';
import { PlatformError } from '../../model/errors.ts';
import { parseWith } from '../../model/rules/validate.ts';
import { SHELL_COMMAND } from '../../model/shell-command.ts';
import { isFromThisMachine } from '../../plugin/reachable-url.ts';
import { cookieName, type Session, type WindowSessions } from '../../services/security/window-sessions.ts';
import type { EventStream } from './event-stream.ts';

export interface WindowParts {
  stream: EventStream;
  sessions: WindowSessions;
  urlFor(code: string): string;
  status(): PlatformStatus;
  endpoints(): EndpointUse[];
  worldId: string;
  /** Ends the platform, as Ctrl+C would. */
  stop(): void;
}

export function windowRouter(
  { stream, sessions, urlFor, status, endpoints, worldId, stop }: WindowParts,
  guard: RouteGuard,
): Router {
  const reported = ({ userId, name, isRoot }: Caller, session: Session | undefined) => {
    const viewAs = session?.viewAs && guard.view.find(session.viewAs.userId);
    return {
      user: { id: userId, name, isRoot },
      ...(viewAs && { viewAs: { id: viewAs.id, name: viewAs.name, isRoot: false } }),
    };
  };
  return mountRoutes(windowRoutes, guard, {
    async beginSession({ req, res }) {
      // A site that signs a browser in as another user could see the user's actions.
      if (isForeignWrite(req)) throw new PlatformError('origin_not_allowed', "sign in from the window's own pages");
      const { key, ...proof } = parseWith(windowRoutes.beginSession.body.schema, await readJson(req));
      const { id, session } = await sessions.begin(proof, req.socket.remoteAddress, key);
      res.cookie(cookieName(req), id, { httpOnly: true, sameSite: 'strict', path: '/' });
      return { user: { id: session.userId } };
    },
    readSession: ({ caller, req }) => reported(caller, sessions.find(req)),
    lookAs: async ({ caller, body: { userId }, req }) => {
      const user = userId === null ? undefined : targetOf(guard, userId, ['users']);
      return reported(caller, await sessions.lookAs(req, user?.id));
    },
    async endSession({ req, res }) {
      await sessions.end(req);
      res.clearCookie(cookieName(req), { path: '/' });
    },
    stopPlatform({ body, req, res }) {
      if (!isFromThisMachine(req))
        throw new PlatformError(
          'address_not_allowed',
          `only a request from the machine of the platform, not through a proxy, can stop it. Run \`${SHELL_COMMAND} stop\` there.`,
        );
      if (body.worldId !== worldId)
        throw new PlatformError('invalid_state', `this is another platform, of world ${worldId}`);
      res.once('close', stop);
    },
    createSessionCode() {
      const code = sessions.createCode();
      return { code, url: urlFor(code) };
    },
    readStatus({ caller }) {
      const { seesAll, sees } = visibilityFor(guard, caller);
      const { dataDir, engines, store, ...statusView } = status();
      if (seesAll) return { ...statusView, store, engines, ...(dataDir !== undefined && { dataDir }) };
      const { resources: _, ...health } = store;
      // Only users who may view the whole platform see the address of an engine and its messages.
      return {
        ...statusView,
        store: health,
        engines: engines.map(({ state, version, providers }) => ({
          address: '',
          state,
          ...(version !== undefined && { version }),
          providers: providers.filter(sees),
        })),
      };
    },
    readEndpointUse({ caller }) {
      const { sees } = visibilityFor(guard, caller);
      return endpoints().filter(({ id }) => sees(id));
    },
    followEvents: ({ req, res }) => stream.attend(req, res, () => visibilityFor(guard, guard.callerOf(req)).seesAll),
  });
}
