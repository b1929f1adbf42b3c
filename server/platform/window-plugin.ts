import manifest from '../../package.json' with { type: 'json' };
import { gatewayPlugin } from '../gateway/plugin.ts';
import type { SettingsService } from '../inspector/devtools/settings-routes.ts';
import type { EventStream } from '../inspector/live/event-stream.ts';
import { windowFiles } from '../inspector/live/window-files.ts';
import { recorderPlugin } from '../inspector/recorder/plugin.ts';
import { plugin, slot } from '../plugin/plugin.ts';
import { containersPlugin } from '../runtimes/containers/plugin.ts';
import { lambdasPlugin } from '../runtimes/lambdas/plugin.ts';
import { platformStatuses } from '../services/resources/plugin.ts';
import { securityPlugin } from '../services/security/plugin.ts';
import { packageFile } from '../system/package-file.ts';
import { countedNames } from './declarations.ts';
import { documentation } from './documentation.ts';

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
      const [{ windowRouter }, { settingsRouter }, settings] = await Promise.all([
        import('../inspector/live/window-routes.ts'),
        import('../inspector/devtools/settings-routes.ts'),
        platform.slot(settingsServices)(),
      ]);
      const parts = {
        stream,
        sessions: security.sessions,
        urlFor: (code: string) => addresses.windowWith(code),
        status,
        pulse: () => recorded.meter.shown(countedNames),
        endpoints: () => recorded.endpoints.shown(gateway.limitUses()),
        worldId: store.world.id,
        stop: platform.slot(stopRequests),
      };
      return [windowRouter(parts, guard), settingsRouter(settings, guard)];
    });
  },
});
