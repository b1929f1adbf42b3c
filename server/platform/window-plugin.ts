import express, { type Request, type Router } from 'express';
import manifest from '../../package.json' with { type: 'json' };
import { lazyRoutes as lazyRouter } from '../api/server/mount-routes.ts';
import { gatewayPlugin } from '../gateway/plugin.ts';
import type { SettingsService } from '../inspector/devtools/settings-routes.ts';
import type { EventStream } from '../inspector/live/event-stream.ts';
import { windowFiles } from '../inspector/live/window-files.ts';
import { recorderPlugin } from '../inspector/recorder/plugin.ts';
import { plugin, type ServiceAddresses, slot } from '../plugin/plugin.ts';
import { containersPlugin } from '../runtimes/containers/plugin.ts';
import { lambdasPlugin } from '../runtimes/lambdas/plugin.ts';
import { platformStatuses } from '../services/resources/plugin.ts';
import { securityPlugin } from '../services/security/plugin.ts';
import { lazy } from '../system/lazy.ts';
import { packageFile } from '../system/package-file.ts';

export const eventStreams = slot<EventStream>('event stream');
export const stopRequests = slot<() => void>('stop');
export const settingsServices = slot<() => Promise<SettingsService>>('settings');

export const windowPlugin = plugin({
  declaration: {},
  needs: {
    gateway: gatewayPlugin,
    security: securityPlugin,
    lambdas: lambdasPlugin,
    containers: containersPlugin,
    recorded: recorderPlugin,
  },
  start(platform, { gateway, security, lambdas, containers, recorded }) {
    const { addresses, store, folder } = platform;
    const stream = platform.slot(eventStreams);
    const status = () => ({
      version: manifest.version,
      addresses: { ...addresses.all() },
      dataDir: folder ?? ':memory:',
      store: { seq: store.seq, resources: store.world.resources.size, ...store.health() },
      engines: containers.engines(),
      processes: lambdas.stats(),
      viewers: stream.subscribers,
      ...platform.slot(platformStatuses)(),
    });
    platform.mount('/ui', async () => windowFiles(packageFile('dist/renderer')));
    platform.mount('/', async () => documentation(platform.config.typePrefix, addresses.seenBy));
    platform.routes(async (guard) => {
      const [{ windowRouter }, { settingsRouter }, { endpointUses }, settings] = await Promise.all([
        import('../inspector/live/window-routes.ts'),
        import('../inspector/devtools/settings-routes.ts'),
        import('../inspector/recorder/endpoint-uses.ts'),
        platform.slot(settingsServices)(),
      ]);
      const parts = {
        stream,
        sessions: security.sessions,
        urlFor: (code: string) => addresses.windowWith(code),
        status,
        endpoints: () => endpointUses(recorded.recorder, guard.view.all('apiendpoints'), gateway.limitUses()),
        worldId: store.world.id,
        stop: platform.slot(stopRequests),
      };
      return [windowRouter(parts, guard), settingsRouter(settings, guard)];
    });
  },
});

/** Links for a browser that opens the base address; the API document and its page are loaded on request. */
function documentation(typePrefix: string, addresses: (req: Request) => ServiceAddresses): Router {
  const router = express.Router();
  const docs = lazy(async () => {
    const { docsRouter } = await import('../api/openapi/docs-routes.ts');
    const { openApiDocument } = await import('../api/openapi/document.ts');
    return docsRouter({
      document: (at, name) => openApiDocument({ version: manifest.version, typePrefix, ...at }, name),
      addresses,
      assetsDir: packageFile('dist/docs'),
    });
  });
  router.get('/', (req, res) => {
    if (req.accepts(['json', 'html']) === 'html') return res.redirect('docs');
    const { baseUrl, metaUrl, securityUrl, gatewayUrl } = addresses(req);
    res.json({ version: manifest.version, metaUrl, securityUrl, gatewayUrl, docs: `${baseUrl}/docs` });
  });
  router.get(/^\/(openapi(\.\w+)?\.json$|docs(\/|$))/, lazyRouter(docs));
  return router;
}
