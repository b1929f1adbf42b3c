import { plugin, slot } from '../../plugin/plugin.ts';
import { publish } from './declaration.ts';
import type { Calls } from './routes.ts';

export const recordedCalls = slot<Calls>('recorded calls');

export const publishPlugin = plugin({
  declaration: publish,
  start(platform) {
    const { addresses, logs } = platform;
    platform.routes(async (guard) => {
      const { publishingRouter } = await import('./routes.ts');
      const ownAddresses = () => ({
        metaUrl: `${addresses.local('base')}/meta`,
        hosts: Object.values(addresses.all()).map((url) => new URL(url).host),
      });
      const { linkLocalHosts } = platform.config;
      const calls = platform.slot(recordedCalls);
      return [publishingRouter({ syncBaseline: logs.meetings, calls, ownAddresses, linkLocalHosts }, guard)];
    });
  },
});
