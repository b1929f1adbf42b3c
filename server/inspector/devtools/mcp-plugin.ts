import express, { type Router } from 'express';
import { authenticate } from '../../api/server/authenticate.ts';
import { isForeignWrite } from '../../api/server/host-guard.ts';
import { lazyRoutes } from '../../api/server/mount-routes.ts';
import { PlatformError } from '../../model/errors.ts';
import { plugin } from '../../plugin/plugin.ts';
import { isFromThisMachine } from '../../plugin/reachable-url.ts';
import { authenticators } from '../../plugin/tokens.ts';
import { lazy } from '../../system/lazy.ts';
import { mcp } from './declaration.ts';

/** Serves the tools for agents at `{base_url}/mcp`, to clients that this setting and their credentials admit. */
export const mcpPlugin = plugin({
  declaration: mcp,
  start(platform) {
    const { mcp: audience } = platform.config;
    if (audience === 'off') return;
    // Not part of the routes that are loaded soon after the start: most platforms never need the protocol's library.
    const handler = lazy(async () => {
      const { toolHandler } = await import('./tool-handler.ts');
      return toolHandler(() => platform.addresses.local('base'));
    });
    platform.mount('/mcp', async (): Promise<Router> => {
      const router = express.Router();
      router.use((req, _res, next) => {
        if (audience === 'loopback' && !isFromThisMachine(req))
          throw new PlatformError(
            'address_not_allowed',
            'only programs on the machine of the platform can use /mcp, and not through a proxy. To admit others, set mcp to all.',
          );
        if (isForeignWrite(req))
          throw new PlatformError('origin_not_allowed', 'pages of other origins cannot use /mcp');
        authenticate(platform.slot(authenticators).identify(req.headers.authorization), platform.addresses.seenBy(req));
        next();
      });
      return router.use(lazyRoutes(handler));
    });
  },
});
