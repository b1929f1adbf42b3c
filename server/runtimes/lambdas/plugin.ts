import { createHmac } from 'node:crypto';
import { crmPlugin } from '../../mocks/crm/plugin.ts';
import { connectionExecutions, lambdaSenders, portRoutes } from '../../mocks/lambda-calls.ts';
import { plugin, slot } from '../../plugin/plugin.ts';
import {
  clockMoved,
  committed,
  invocationEnded,
  invocationStarted,
  invokers,
  outboundRules,
  outboundRulesChanged,
} from '../../plugin/tokens.ts';
import { packageNamed, rootSecret } from '../../services/resources/plugin.ts';
import { unpackedFile } from '../../system/package-file.ts';
import { lambdas } from './declaration.ts';
import { LambdaService } from './lambda-service.ts';
import type { KeptLines } from './log-rings.ts';
import { RecentCalls } from './recent-calls.ts';

export const keptLines = slot<KeptLines>('kept lines');
/** Processes that wait for lambdas, at least; default as in `LambdaLimits`. */
export const spareProcesses = slot<number | undefined>('spare processes');

export const lambdasPlugin = plugin({
  declaration: lambdas,
  needs: { crm: crmPlugin },
  start(platform, { crm }) {
    const { config, addresses, notifier } = platform;
    const { limits } = config;
    const spares = platform.slot(spareProcesses);
    const recentCalls = new RecentCalls();
    platform.fill(lambdaSenders, (executionId) => recentCalls.find(executionId));
    platform.fill(connectionExecutions, (remotePort) => recentCalls.executionOf(remotePort));
    const debuggerId = (lambdaId: string) =>
      createHmac('sha256', platform.slot(rootSecret)()).update(`debugger of ${lambdaId}`).digest('hex').slice(0, 32);
    const onDebug = () => platform.publish('workbench', {});
    const service = new LambdaService({
      view: platform.store.view,
      recentCalls,
      addresses: addresses.all,
      nowMs: platform.fineMs,
      steadyMs: platform.steadyMs,
      childFile: unpackedFile('dist/server/lambda-child.cjs'),
      scratchDir: platform.scratchFolder,
      checkScratch: platform.checkFolder,
      periodic: config.lambdas.periodic,
      linkLocalHosts: config.linkLocalHosts,
      debuggers: { port: config.lambdas.debugPort, idOf: debuggerId },
      ...(config.lambdas.modules !== undefined && { modules: config.lambdas.modules }),
      limits: {
        concurrency: limits.lambdaProcesses,
        processes: limits.lambdaProcessesInAll,
        queue: limits.lambdaQueue,
        resultBytes: limits.lambdaResultBytes,
        timeoutMaxS: limits.maxLambdaTimeoutS,
        logLines: limits.logLines,
        ...(spares !== undefined && { spares }),
      },
      outbound: {
        crm: config.outbound.crm,
        crmHosts: config.outbound.crmHosts,
        default: config.outbound.default,
        crmAddress: crm.address,
        portRoutes: platform.slot(portRoutes),
        rules: () => platform.slot(outboundRules).list(),
      },
      onLog(lambdaId) {
        notifier.notify(lambdaId);
        if (platform.hasViewers()) platform.publish('logs', lambdaId);
      },
      keptLines: platform.slot(keptLines),
      onBegin: (invocation) => platform.emit(invocationStarted, invocation),
      onInvocation: (invocation, call) => platform.emit(invocationEnded, { invocation, call }),
      onDebug,
    });
    platform.fill(invokers, service);
    platform.on(committed, ({ changes }) => service.changed(changes));
    platform.on(outboundRulesChanged, () => service.applyRules());
    platform.on(clockMoved, ({ byMs }) => service.clockMoved(byMs));
    platform.on(packageNamed, (id) => service.refetch(id));
    platform.onReady(() => service.start());
    platform.onStop(() => service.stop());
    return service;
  },
});
