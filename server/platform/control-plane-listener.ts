import { once } from 'node:events';
import type { Server as HttpServer } from 'node:http';
import { type AddressInfo, createServer, type Server } from 'node:net';
import type { Request } from 'express';
import manifest from '../../package.json' with { type: 'json' };
import { authenticate, basicRealmFor } from '../api/server/authenticate.ts';
import { GracefulShutdown, listenAt } from '../api/server/listening.ts';
import type { Authenticator, Authorizer } from '../model/caller.ts';
import { codeOf } from '../model/errors.ts';
import { WINDOW_HOST } from '../model/host-names.ts';
import type { Platform } from '../plugin/plugin.ts';
import { exchangeEnded } from '../plugin/tokens.ts';
import type { WindowSessions } from '../services/security/window-sessions.ts';
import type { Addresses } from './addresses.ts';
import type { CleanupStack } from './cleanup-stack.ts';
import type { Config } from './config-schema.ts';
import { createControlPlane } from './control-plane.ts';
import type { Host } from './host.ts';

/** Delay from the end of the start: deferred work must not compete with the first requests. */
const LOAD_AFTER_MS = 1_000;

interface ControlPlaneParts extends Pick<Platform<object>, 'store' | 'allowedHosts' | 'fineMs' | 'warn' | 'onFault'> {
  config: Config;
  addresses: Addresses;
  host: Host;
  security: { authenticator: Authenticator; authorizer: Authorizer; sessions: WindowSessions };
}

/** Listens at `{base_url}` for what plugins answer; `cleanup` closes it. */
export async function startControlPlane(parts: ControlPlaneParts, cleanup: CleanupStack) {
  const { config, addresses, host, store, allowedHosts, onFault } = parts;
  const { authenticator, authorizer, sessions } = parts.security;
  const callerOf = (req: Request) => {
    const { securityUrl } = addresses.seenBy(req);
    const basicRealm = basicRealmFor(req, securityUrl);
    return authenticate(authenticator.identify(req.headers.authorization), { securityUrl, basicRealm });
  };
  const baseUrlFor = (req: Request) => addresses.seenBy(req).baseUrl;
  const guard = { view: store.view, authorizer, callerOf, baseUrlFor };
  const routers = host.routers(guard);
  const shutdown = new GracefulShutdown();
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  const controlPlane = createControlPlane({
    version: manifest.version,
    allowedHosts,
    corsOrigins: config.corsOrigins,
    limits: config.limits,
    onFault,
    shutdown,
    opened,
    admit: (request) => sessions.validate(request),
    recording: {
      nowMs: parts.fineMs,
      userIdOf: ({ headers }) => {
        const identification = authenticator.identify(headers.authorization);
        return identification.kind === 'caller' ? identification.caller.userId : undefined;
      },
      onExchange: (exchange) => host.emit(exchangeEnded, exchange),
    },
    routers: routers.handlers,
  });
  let byName: ListeningByName | undefined;
  cleanup.add(() => shutdown.end(controlPlane, byName?.second, () => store.seal()));
  const { port } = await listenAt(controlPlane, { host: config.host, port: config.basePort });
  byName = await listenByName(controlPlane);
  if (byName.hint) parts.warn(byName.hint);
  addresses.resolveBase(port, byName.isOurs);
  return {
    routes: () => host.routes(guard),
    /** Answers requests from now on; earlier ones have waited. */
    open,
    /** Loads the routes, because an update of the package could remove their files before the first use. */
    loadSoon() {
      const loading = setTimeout(routers.preload, LOAD_AFTER_MS).unref();
      cleanup.add(() => clearTimeout(loading));
    },
    /** Refuses changes from now on. */
    beginStop: () => shutdown.begin(),
  };
}

const IPV6_LOOPBACK = '::1';
/** Without IPv6, browsers do not try the IPv6 address. */
const NO_IPV6: readonly unknown[] = ['EADDRNOTAVAIL', 'EAFNOSUPPORT', 'EINVAL'];

/** The result of listening at the window's name. */
interface ListeningByName {
  /** True if the name leads to this platform and to no other program. */
  isOurs: boolean;
  /** The reason why the name does not lead here, if a user might wonder. */
  hint?: string;
  /** The additional listener; its connections are those of the HTTP server. */
  second?: Server;
}

/**
 * Also listens on the other loopback address. Browsers resolve the window's name to `::1` first, and use `127.0.0.1` if nothing listens
 * there. Otherwise, a process of another user that listens on our port at `::1` would get the codes and the cookie of the window (D-214).
 * @param server the server that already listens on TCP
 */
async function listenByName(server: HttpServer): Promise<ListeningByName> {
  const { address, port } = server.address() as AddressInfo; // a server on a TCP port always has one
  if (address === '::' || address === IPV6_LOOPBACK) return { isOurs: true };
  if (address !== '127.0.0.1' && address !== '0.0.0.0') return { isOurs: false };
  // As node:http makes its own.
  const second = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => server.emit('connection', socket));
  second.listen({ host: IPV6_LOOPBACK, port, ipv6Only: true });
  try {
    await once(second, 'listening');
  } catch (failure) {
    const code = codeOf(failure);
    if (NO_IPV6.includes(code)) return { isOurs: true };
    const hint =
      `port ${port} at [${IPV6_LOOPBACK}] is not available (${code}), where browsers look for http://${WINDOW_HOST}:${port} first. ` +
      'The window uses its plain address, which shares its cookies with every port there. To avoid this, choose another --base-port.';
    return { isOurs: false, hint };
  }
  second.on('error', () => {}); // one connection that could not be accepted
  return { isOurs: true, second };
}
