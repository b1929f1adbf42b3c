import type { Router } from 'express';
import { cookieName, type Session, type WindowSessions } from '../access/window-sessions.ts';
import type { EndpointUse, PlatformPulse, PlatformStatus } from '../contract/window.ts';
import { windowRows } from '../contract/window.ts';
import { eyesOf } from '../http/eyes.ts';
import { isForeignWrite } from '../http/foreign-write.ts';
import { readJson } from '../http/read-body.ts';
import { type Gate, serve, targetOf } from '../http/serve.ts';
import type { Caller } from '../model/caller.ts';
import { PlatformError } from '../model/errors.ts';
import { parseWith } from '../model/validate.ts';
import type { LiveFeed } from './live-feed.ts';

/** What the window is told, and signs in with. */
export interface WindowParts {
  feed: LiveFeed;
  sessions: WindowSessions;
  /** Address of the window that signs in with a code. */
  urlFor(code: string): string;
  /** How the platform is: addresses, services, engines, store. */
  status(): PlatformStatus;
  /** What happens at each service, minute by minute. */
  pulse(): PlatformPulse;
  /** What has come to each public endpoint, and how much of its limit is used. */
  endpoints(): EndpointUse[];
}

/** How the window signs in, and what it is told. */
export function windowRoutes({ feed, sessions, urlFor, status, pulse, endpoints }: WindowParts, gate: Gate): Router {
  const told = ({ userId, name, isRoot }: Caller, session: Session | undefined) => {
    const eyes = session?.eyes && gate.view.find(session.eyes.userId);
    return {
      user: { id: userId, name, isRoot },
      ...(eyes && { eyes: { id: eyes.id, name: eyes.name, isRoot: false } }),
    };
  };
  return serve(windowRows, gate, {
    async beginSession({ req, res }) {
      // Whoever can make a browser sign in as somebody else sees what is done there.
      if (isForeignWrite(req)) throw new PlatformError(403, "sign in from the window's own pages");
      const { key, ...proof } = parseWith(windowRows.beginSession.body.schema, await readJson(req));
      const { id, session } = await sessions.begin(proof, req.socket.remoteAddress, key);
      res.cookie(cookieName(req), id, { httpOnly: true, sameSite: 'strict', path: '/' });
      return { user: { id: session.userId } };
    },
    readSession: ({ caller, req }) => told(caller, sessions.find(req)),
    lookAs: async ({ caller, body: { userId }, req }) => {
      const user = userId === null ? undefined : targetOf(gate, userId, ['users']);
      return told(caller, await sessions.lookAs(req, user?.id));
    },
    async endSession({ req, res }) {
      await sessions.end(req);
      res.clearCookie(cookieName(req), { path: '/' });
    },
    createSessionCode() {
      const code = sessions.createCode();
      return { code, url: urlFor(code) };
    },
    readStatus({ caller }) {
      const { seesAll, sees } = eyesOf(gate, caller);
      const { dataDir, engines, store, ...shown } = status();
      if (seesAll) return { ...shown, store, engines, ...(dataDir !== undefined && { dataDir }) };
      const { resources: _, ...health } = store;
      // Where an engine is, and what it says of that, is told to those who may look at the whole platform.
      return {
        ...shown,
        store: health,
        engines: engines.map(({ state, version, providers }) => ({
          address: '',
          state,
          ...(version !== undefined && { version }),
          providers: providers.filter(sees),
        })),
      };
    },
    readPulse({ caller }) {
      const shown = pulse();
      if (eyesOf(gate, caller).seesAll) return shown;
      const services = Object.entries(shown.services).map(([name, { lastFault: _, ...counts }]) => [name, counts]);
      return { ...shown, services: Object.fromEntries(services) };
    },
    readEndpointUse({ caller }) {
      const { sees } = eyesOf(gate, caller);
      return endpoints().filter(({ id }) => sees(id));
    },
    followEvents: ({ caller, req, res }) => feed.attend(req, res, eyesOf(gate, caller).seesAll),
  });
}
