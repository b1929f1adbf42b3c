import manifest from '../../../package.json' with { type: 'json' };
import { plugin, slot } from '../../plugin/plugin.ts';
import { freshWorlds, worldReset } from '../../plugin/tokens.ts';
import { lazy } from '../../system/lazy.ts';
import { resourcesPlugin } from '../resources/plugin.ts';
import { hashPassword } from '../security/passwords.ts';
import type { ArchivedLog } from './archive.ts';
import { history } from './declaration.ts';

/** Logs of other subjects that an archive contains. */
export const archivedLogs = slot<readonly ArchivedLog[]>('archived logs');

export const historyPlugin = plugin({
  declaration: history,
  needs: { resources: resourcesPlugin },
  start(platform, { resources }) {
    const { store, nowMs } = platform;
    const { constraints } = resources;
    const service = lazy(async () => {
      const { HistoryService } = await import('./history-service.ts');
      return new HistoryService(store, constraints);
    });
    platform.routes(async (guard) => {
      const [historyService, { historyRouter }, { resetRouter }, { snapshotRouter }, { NamedSnapshots }] =
        await Promise.all([
          service(),
          import('./history-routes.ts'),
          import('./reset-routes.ts'),
          import('./snapshot-routes.ts'),
          import('../../storage/world/named-snapshots.ts'),
        ]);
      const archive = {
        logs: platform.slot(archivedLogs),
        version: manifest.version,
        nowMs,
        constraints: { ...constraints, hashPassword },
      };
      return [
        historyRouter(historyService, nowMs, guard),
        resetRouter(historyService, platform.slot(freshWorlds), () => platform.emit(worldReset, undefined), guard),
        snapshotRouter(new NamedSnapshots(store.files), historyService, archive, guard),
      ];
    });
    return { service };
  },
});
