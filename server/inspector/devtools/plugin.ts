import { plugin } from '../../plugin/plugin.ts';
import { clockMoved, resourceChanged, worldReset } from '../../plugin/tokens.ts';
import { containersPlugin } from '../../runtimes/containers/plugin.ts';
import { lambdasPlugin } from '../../runtimes/lambdas/plugin.ts';
import { resourcesPlugin } from '../../services/resources/plugin.ts';
import { devtools } from './declaration.ts';
import { Terminals } from './terminals.ts';
import { createWorkbench } from './workbench.ts';

/**
 * Provides the developer's tools: linked files, test events and the debugger of lambdas, terminals of containers,
 * the tree of resources, fault rules and the platform's clock.
 */
export const devtoolsPlugin = plugin({
  declaration: devtools,
  needs: { resources: resourcesPlugin, lambdas: lambdasPlugin, containers: containersPlugin },
  start(platform, { resources: { service }, lambdas, containers }) {
    const { logs, nowMs } = platform;
    const workbench = createWorkbench({
      logs,
      service,
      lambdas,
      nowMs,
      onChange: () => platform.publish('workbench', {}),
    });
    const terminals = new Terminals(platform.onFault);
    platform.on(resourceChanged('lambdas'), (change) => workbench.changed(change));
    const { faults, clock } = platform;
    const moveClock = (byMs: number) => {
      if (byMs === 0) return;
      clock.move(byMs);
      platform.emit(clockMoved, { byMs });
      platform.publish('simulation', {});
    };
    platform.on(worldReset, () => {
      faults.clear();
      moveClock(-clock.aheadMs);
    });
    // Requests that a rule delays end first.
    platform.onStopping(() => void faults.clear());
    platform.onReady(() => {
      // Their connections are the control plane's, which waits for them.
      platform.onStop(() => terminals.stop());
      workbench.links.start();
    });
    platform.onStop(() => workbench.links.stop());
    platform.routes(async (guard) => {
      const [{ workbenchRouter }, { treeRouter }, { containerRouter }, { faultRouter, clockRouter }] =
        await Promise.all([
          import('./workbench-routes.ts'),
          import('./tree-routes.ts'),
          import('./container-routes.ts'),
          import('./simulation-routes.ts'),
        ]);
      return [
        workbenchRouter(workbench, guard),
        treeRouter(guard),
        containerRouter(containers, terminals, guard),
        faultRouter(faults, guard),
        clockRouter(clock, moveClock, guard),
      ];
    });
  },
});
