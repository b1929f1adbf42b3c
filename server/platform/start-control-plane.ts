import type { Request } from 'express';
import manifest from '../../package.json' with { type: 'json' };
import { authenticate, basicRealmFor } from '../api/server/authenticate.ts';
import { GracefulShutdown, type LoopbackListening, listenAt, listenOnIpv6Loopback } from '../api/server/listening.ts';
import type { Authenticator, Authorizer } from '../model/caller.ts';
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

interface ControlPlaneParts
  extends Pick<Platform<object>, 'store' | 'allowedHosts' | 'faults' | 'fineMs' | 'warn' | 'onFault'> {
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
    faults: parts.faults,
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
  let loopback: LoopbackListening | undefined;
  cleanup.add(() => shutdown.end(controlPlane, loopback?.second, () => store.seal()));
  const { port } = await listenAt(controlPlane, { host: config.host, port: config.basePort });
  loopback = await listenOnIpv6Loopback(controlPlane);
  if (loopback.conflict) {
    parts.warn(
      `${loopback.conflict}, where browsers look for http://${WINDOW_HOST}:${port} first. The window uses its plain address, which shares its cookies with every port there. To avoid this, choose another --base-port.`,
    );
  }
  addresses.resolveBase(port, loopback.isOurs);
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
