import { decodeSource } from '../../model/decode-text.ts';
import { PlatformError } from '../../model/errors.ts';
import { LAMBDA } from '../../model/types/lambda.ts';
import { plugin } from '../../plugin/plugin.ts';
import { clockMoved, resourceChanged, worldReset } from '../../plugin/tokens.ts';
import { containersPlugin } from '../../runtimes/containers/plugin.ts';
import { lambdasPlugin } from '../../runtimes/lambdas/plugin.ts';
import { systemActor } from '../../services/resources/actor.ts';
import { resourcesPlugin } from '../../services/resources/plugin.ts';
import { devtools } from './declaration.ts';
import { LinkedFiles } from './linked-files.ts';
import { Terminals } from './terminals.ts';

/**
 * Provides the developer's tools: linked files, test events and the debugger of lambdas, terminals of containers,
 * the tree of resources, fault rules and the platform's clock.
 */
export const devtoolsPlugin = plugin({
  declaration: devtools,
  needs: { resources: resourcesPlugin, lambdas: lambdasPlugin, containers: containersPlugin },
  start(platform, { resources: { service }, lambdas, containers }) {
    const { 'linked-files': linkLog, 'test-events': testEvents } = platform.logs;
    const { view } = service;
    const onChange = () => platform.publish('workbench', {});
    const links = new LinkedFiles({
      log: linkLog,
      sourceOf(lambdaId) {
        const lambda = view.find(lambdaId);
        if (lambda?.type !== LAMBDA) throw new PlatformError('not_found', `lambda ${lambdaId} not found`);
        const { code, code_type } = lambda.properties;
        return String(code_type).toLowerCase() === 'package' ? undefined : decodeSource(String(code ?? ''));
      },
      async save(lambdaId, source) {
        const value = Buffer.from(source).toString('base64');
        await service.patch(systemActor(view.root, 'file'), lambdaId, [{ op: 'add', path: '/properties/code', value }]);
      },
      onChange,
      nowMs: platform.nowMs,
    });
    platform.on(resourceChanged('lambdas'), async ({ before, after }) => {
      if (!before || after) return;
      await links.unlink(before.id);
      await testEvents.remove(before.id);
    });
    const terminals = new Terminals(platform.onFault);
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
      links.start();
    });
    platform.onStop(() => links.stop());
    platform.routes(async (guard) => {
      const [{ workbenchRouter }, { treeRouter }, { containerRouter }, { faultRouter, clockRouter }] =
        await Promise.all([
          import('./workbench-routes.ts'),
          import('./tree-routes.ts'),
          import('./container-routes.ts'),
          import('./simulation-routes.ts'),
        ]);
      return [
        workbenchRouter({ links, testEvents, lambdas, onChange }, guard),
        treeRouter(guard),
        containerRouter(containers, terminals, guard),
        faultRouter(faults, guard),
        clockRouter(clock, moveClock, guard),
      ];
    });
  },
});
